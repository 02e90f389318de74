"""Arguments that do not count: unknown ones, those behind a config file, those given twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.signature import Signature
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange, replaced
from trainrx.model.findings import Edit
from trainrx.model.job import RawArg
from trainrx.model.pattern import late
from trainrx.versions.ranges import in_range

_MOST = 40
"""Beyond so many unknown names the launch is of another program."""
_LETS_PASS = ("ALLOW_EXTRA_ARGS", "ignore_args_error")
_ONE_DASH = late(r"(?<![^\s'\"(=])-[A-Za-z]\w{3}")
_MOST_COMMANDS = 3


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give each name that is taken by no release the job may run, or does not count."""
    yield from _with_one_dash(job)
    yield from _behind_config(job)
    yield from _given_twice(job)
    yield from _strangers(job)


def _strangers(job: LintedJob) -> Iterator[RuleHit]:
    own = set(job.configs)
    listed = job.resolved.unknown_flags
    strangers = [arg for arg in listed if arg.via != "config" or arg in own]
    if not strangers or len(strangers) > _MOST or _lets_pass(job) or not job.judged():
        return
    if job.framework.composed and any(_is_choice(arg) for arg in job.launch.args):
        return
    taken = job.taken()
    for arg in strangers:
        found = _judge(arg, job, taken)
        open_ = job.framework.composed and found.rule != "misspelt-argument"
        yield msgspec.structs.replace(found, severity="warning") if open_ else found


def _with_one_dash(job: LintedJob) -> Iterator[RuleHit]:
    """Give each name behind a single dash: HfArgumentParser knows only names behind two."""
    if not job.framework.two_dashes or job.launch.command.startswith("megatron"):
        return
    if not job.judged():
        return
    for arg in job.launch.args:
        origin = arg.origin
        if arg.via != "arg" or not _ONE_DASH.search(job.texts.line(origin.source, origin.line)):
            continue
        at = job.texts.flag(arg)
        if at.column is None or at.end is None:
            continue
        line = job.texts.line(at.file, at.line)
        shown = line[at.column - 1 : at.end - 1]
        if re.fullmatch(r"-[A-Za-z]\w{3,}", shown) and job.taken().get(arg.name):
            values = {"name": shown, "command": _command(job), "version": job.version or ""}
            told = values | {"instead": f"-{shown}"}
            yield RuleHit("misspelt-argument", at, told, _edited(at, f"-{shown}"), "safe")


def _is_choice(arg: RawArg) -> bool:
    """Tell whether an argument of hydra picks a file of a group, which brings keys of its own."""
    name = arg.name.lstrip("+~")
    return name == "model_engine" or "@" in name or "/" in name or "." not in name.strip("-")


def _lets_pass(job: LintedJob) -> bool:
    names = {item.name for item in job.launch.env} | {plain(arg.name) for arg in job.args}
    return any(name in names for name in _LETS_PASS)


def _judge(arg: RawArg, job: LintedJob, taken: Signature) -> RuleHit:
    # only an unknown name pays for this import
    from trainrx.catalog.refusals import fate_of

    at = job.texts.flag(arg)
    values = {"name": _shown(arg), "command": _command(job), "version": job.version or ""}
    fate = fate_of(arg.name, job.launch, taken, job.params, job.versions)
    lives = f"{fate.package} {fate.lives}".strip()
    now = fate.now[0][0] if fate.now else ""
    if fate.kind in ("renamed", "removed", "coming"):
        if not job.certain:
            also = f" ({_as_written(now, arg)})" if now else ""
            told = values | {"lives": lives, "others": job.version or "", "instead": also}
            return RuleHit("argument-of-other-releases", at, told)
        if not now:
            return RuleHit("removed-argument", at, values | {"lives": lives})
        edits = _renamed(arg, now, job, at)
        told = values | {"lives": lives, "instead": _as_written(now, arg)}
        return RuleHit("renamed-argument", at, told, edits, "safe" if edits else None)
    if fate.near:
        instead = _as_written(fate.near, arg)
        edits = _edited(at, instead) if _is_exact(at, arg, job) else ()
        return RuleHit("misspelt-argument", at, values | {"instead": instead}, edits, "safe")
    maybe = _as_written(fate.maybe, arg) if fate.maybe else fate.variable
    takers = ", ".join(f"{fate.package} {name}" for name in fate.commands[:_MOST_COMMANDS])
    return RuleHit("unknown-argument", at, values | {"maybe": maybe, "takers": takers})


def _command(job: LintedJob) -> str:
    version = f" {job.version}" if job.certain and job.version else ""
    return f"{job.launch.framework}{version} {job.launch.command}".strip()


def _shown(arg: RawArg) -> str:
    return arg.name if arg.via == "config" or arg.sign or "." in arg.name else f"--{arg.name}"


def _as_written(name: str, arg: RawArg) -> str:
    """Write another name the way this one is written."""
    return name if _shown(arg) == arg.name else f"--{name}"


def _is_exact(at: LineRange, arg: RawArg, job: LintedJob) -> bool:
    """Tell whether a stretch holds the name and nothing else."""
    if at.column is None or at.end is None:
        return False
    text = job.texts.line(at.file, at.line)[at.column - 1 : at.end - 1]
    return plain(text) == plain(arg.name)


def _renamed(arg: RawArg, now: str, job: LintedJob, at: LineRange) -> tuple[Edit, ...]:
    """Give the edit that renames an argument, where its value means the same under both names."""
    if not _is_exact(at, arg, job):
        return ()
    from trainrx.catalog.respell import respelled

    for item in respelled(job.launch, job.version, job.params):
        if item.arg is arg:
            same = item.now.value.strip() == " ".join(arg.values or ()).strip()
            return _edited(at, _as_written(item.now.param, arg)) if same else ()
    return _edited(at, _as_written(now, arg)) if _keeps_values(arg, now, job) else ()


def _edited(at: LineRange, text: str) -> tuple[Edit, ...]:
    return replaced(at, text)


def _keeps_values(arg: RawArg, now: str, job: LintedJob) -> bool:
    """Tell whether a rename is listed as one that leaves values alone."""
    from trainrx.knowledge.catalogs import read_renames

    names = {plain(arg.name), plain(now)}
    listed = [
        item
        for item in read_renames()
        if item.package == job.launch.framework and {plain(item.old), plain(item.new)} == names
    ]
    return bool(listed) and not any(item.inverted or item.values for item in listed)


_FILES = (".yaml", ".yml", ".json")
_UNCHECKED = "ALLOW_EXTRA_ARGS"


def _behind_config(job: LintedJob) -> Iterator[RuleHit]:
    """Give each option behind the file that no release the job may run takes there."""
    launch = job.launch
    if not job.framework.overrides_since or not launch.program or not job.judged():
        return
    first = launch.configs[0] if launch.configs else ""
    if not first.endswith(_FILES) or any(item.name == _UNCHECKED for item in launch.env):
        return
    merges = in_range(job.version or "", job.framework.overrides_since)
    for arg in launch.args:
        if arg.via != "arg" or arg.name == "config" or (arg.sign == "=" and merges is not False):
            continue
        value = " ".join(arg.values or ())
        shown = arg.name if arg.sign else f"--{arg.name}"
        instead = f"{arg.name}={value}" if merges and value and " " not in value else ""
        values = {"name": shown, "file": first.rpartition("/")[2], "instead": instead}
        at = job.texts.flag(arg)
        edits = _assigned(at, job.texts.line(at.file, at.line), instead) if not arg.sign else ()
        yield RuleHit("option-behind-config", at, values, edits=edits)


def _assigned(at: LineRange, line: str, instead: str) -> tuple[Edit, ...]:
    """Write `--name value` as `name=value`, where both stand on one line."""
    if not instead or at.column is None or at.end is None:
        return ()
    marked, value = line[at.column - 1 : at.end - 1], instead.partition("=")[2]
    if marked.split()[1:] == [value]:
        return replaced(at, instead)
    rest = re.match(rf"[ \t]+{re.escape(value)}(?!\S)", line[at.end - 1 :])
    if rest is None:
        return ()
    return replaced(msgspec.structs.replace(at, end=at.end + rest.end()), instead)


_GATHERING = ("append", "extend")


def _given_twice(job: LintedJob) -> Iterator[RuleHit]:
    """Give each argument that is written again, at the place that does not count."""
    if not job.launch.framework:
        return
    last: dict[str, RawArg] = {}
    for arg in reversed(job.launch.args):
        name = plain(arg.name)
        later = last.setdefault(name, arg)
        if later is arg or arg.sign not in ("", "=") or not arg.origin.line:
            continue
        if arg.values is None or later.values is None or _gathers(name, job):
            continue
        same = arg.values == later.values
        at = job.texts.flag(arg)
        values = {
            "name": _flag(arg),
            "value": " ".join(arg.values)[:60],
            "kept": " ".join(later.values)[:60],
            "line": str(later.origin.line or ""),
        }
        rule = "argument-repeated" if same else "argument-given-twice"
        yield RuleHit(rule, at, values)


def _gathers(name: str, job: LintedJob) -> bool:
    """Tell whether an argument may count each time: a name no catalog lists may do anything."""
    known = job.taken().get(name)
    if known is None:
        return job.framework.library or job.framework.parser != "hydra"
    return known.type.startswith(_GATHERING)


def _flag(arg: RawArg) -> str:
    return arg.name if arg.via == "config" or "." in arg.name else f"--{arg.name}"
