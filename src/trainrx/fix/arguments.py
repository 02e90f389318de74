"""What to write instead of arguments that were refused, or to leave out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Literal, NamedTuple

from trainrx.catalog.catalog import KnownArgument, plain
from trainrx.catalog.names import meant_by
from trainrx.catalog.respell import Respelled, respelled
from trainrx.catalog.spell import spell_argument
from trainrx.catalog.tables import Taker
from trainrx.fix.changes import Target, release_change, rewritten
from trainrx.fix.own_calls import in_own_call
from trainrx.fix.spelling_fixes import (
    choices_of,
    chosen,
    fits_ill,
    named_anew,
    old_types,
    positional,
    refuses,
    value_under,
)
from trainrx.frameworks import framework_of
from trainrx.model.facts import Origin
from trainrx.model.job import RawLaunch
from trainrx.model.refusal import Fate, RefusedArgument
from trainrx.model.result import Change
from trainrx.versions.ranges import in_range

REFUSING = "refusing"
"""Stands for the package that refused an argument."""
_MOST_CHOICES = 6


class _WrittenArgument(NamedTuple):
    """An argument as its program wants it written."""

    param: str
    value: str
    text: str


def translations(job: Target) -> Iterator[Change]:
    """Give a change for each argument that this release does not take as it is written.

    What has another name is renamed, with its value in the words of that name; what nothing stands
    for is left out.
    """
    done: set[str] = set()
    for item in job.refused:
        done.add(plain(item.arg.name))
        change = _change(item, job)
        if change is not None:
            yield change
    if job.launch is None:
        return
    if not any(item.witness == "log" for item in job.refused):
        for found in respelled(job.launch, job.version, job.knowledge.params, job.style):
            if plain(found.arg.name) not in done:
                done.add(plain(found.arg.name))
                yield _translated(found, found.arg.origin, "--" if found.arg.via == "arg" else "")
        for kind in ("launch.misspelt_argument", "launch.renamed_argument"):
            yield from (one for one in named_anew(kind, job) if plain(one.from_ or "") not in done)
    yield from (one for one in chosen(job) if plain(one.param) not in done)
    yield from (one for one in positional(job) if plain(one.param) not in done)
    yield from (one for one in old_types(job) if plain(one.param) not in done)


def release_changes(job: Target) -> Iterator[Change]:
    """Give the release of the refusing package that takes what it refused.

    Of several refused arguments the first is asked for: it is the one the message names.
    """
    fates = (item.fate for item in job.refused if item.fate is not None and item.fate.install)
    fate = next(fates, None)
    if fate is None:
        return
    present = job.versions.get(fate.package)
    # what takes all names of the launch goes before what takes one of them
    whole = job.facts.text("launch.written_for") if fate.package == job.framework else None
    spec = whole or fate.install
    yield release_change(fate.package, present, spec, upgrade=fate.upgrade)


def _change(item: RefusedArgument, job: Target) -> Change | None:
    if item.bare:
        return next(positional(job), None)
    if item.choices or item.instead:
        return _choice(item, job)
    fate = item.fate
    assigned = _assigned(item, job)
    if assigned is not None:
        return assigned
    if fate is None:
        return None
    return _called(item, fate, job) if item.call else _written_otherwise(item, fate, job)


def _assigned(item: RefusedArgument, job: Target) -> Change | None:
    """Write an option behind a file as `name=value`, where the program takes only that there."""
    launch, own = job.launch, framework_of(job.framework)
    merges = own.overrides_since and in_range(job.version or "", own.overrides_since)
    if not merges or not item.dashed or not item.set_here or launch is None or not launch.configs:
        return None
    name, values = plain(item.arg.name), item.arg.values or ()
    if len(values) != 1 or Taker(launch, job.version).lacks(name):
        return None
    text = f"{name}={shlex.quote(values[0])}"
    return rewritten("arg", name, values[0], text, before=_shown(item), at=_at(item))


def _written_otherwise(item: RefusedArgument, fate: Fate, job: Target) -> Change:
    """Give the change of an argument into what stands for it; nothing: it is left out."""
    if fate.now:
        known = _respelled(item, fate, job)
        if known is None and fits_ill(item.arg, fate.now[0][0], fate):
            return _left_out(item)
        return _renamed(item, fate.now[0][0], job) if known is None else known
    if fate.variable:
        return _set_outside(item, fate.variable)
    near = fate.near or fate.maybe
    # `torch_dtype float32` is no `bf16`, however alike
    if near and not fits_ill(item.arg, near, fate):
        return _renamed(item, near, job)
    return _left_out(item)


def _respelled(item: RefusedArgument, fate: Fate, job: Target) -> Change | None:
    """Translate name and value where a parameter is known to stand for both."""
    launch = RawLaunch(
        framework=fate.package,
        command=fate.command,
        args=(item.arg,),
        env=(),
        origin=item.arg.origin,
    )
    # where the releases in question differ, those that have the first name
    version = fate.now[0][1] or job.versions.get(fate.package) or fate.asked or None
    found = next(iter(respelled(launch, version, job.knowledge.params, job.style)), None)
    if found is None or plain(found.now.param) != plain(fate.now[0][0]):
        return None
    if refuses(found.now.param, found.now.value, fate):
        return None
    return _translated(found, _at(item), _dashes(item))


def _translated(found: Respelled, at: Origin | None, dashes: str) -> Change:
    before = " ".join((dashes + plain(found.arg.name), *(found.arg.values or ())))
    now, canonical = found.now, found.canonical
    return rewritten(
        now.kind, now.param, now.value, now.text, before=before, at=at, canonical=canonical
    )


def _renamed(item: RefusedArgument, now: str, job: Target) -> Change:
    """Call an argument otherwise; a value that the new name does not take is left open."""
    fate = item.fate
    values = item.arg.values
    value = None if values is None else " ".join(values)
    if fate is not None:
        value = value_under(item.arg, now, value, fate)
        choices = choices_of(now, fate)
        if choices and value not in (None, "", *choices):
            return _open(item, now, choices, job)
    # a key of a file, and one of which only the name is told, keeps the value it has
    kept = value is None or (not item.dashed and values is not None and value == " ".join(values))
    word = _WrittenArgument(now, now, now) if kept else _written(now, value or "", item, job)
    return _switched(item, word.param, word.value, word.text)


def _open(item: RefusedArgument, now: str, choices: tuple[str, ...], job: Target) -> Change:
    shown = "|".join(choices[:_MOST_CHOICES]) + ("|..." if len(choices) > _MOST_CHOICES else "")
    word = _written(now, shown, item, job)
    return _switched(item, word.param, None, word.text.replace("'", ""))


def _switched(item: RefusedArgument, param: str, to: str | None, spelled: str) -> Change:
    """Put something else in an argument's place; without a value it is left open."""
    return rewritten(_kind(item), param, to, spelled, before=_shown(item), at=_at(item))


def _choice(item: RefusedArgument, job: Target) -> Change:
    """Give the value that is meant: the one next to it, the same in today's words, or a choice."""
    wrong = " ".join(item.arg.values or ())
    if item.instead:
        return _value(item, wrong, item.instead, job)
    known = KnownArgument(
        name=plain(item.arg.name),
        package=job.framework,
        releases=0,
        type="",
        default=None,
        settled=False,
        choices=item.choices,
        aliases=(),
    )
    near = meant_by(wrong, known, job.framework, job.knowledge.params)
    if not near:
        return _open(item, item.arg.name, item.choices, job)
    return _value(item, wrong, near, job)


def _value(item: RefusedArgument, wrong: str, value: str, job: Target) -> Change:
    word = _written(item.arg.name, value, item, job)
    kind, at = _kind(item), _at(item)
    return rewritten(
        kind, word.param, value, word.text, before=wrong, at=at, canonical=item.canonical
    )


def _called(item: RefusedArgument, fate: Fate, job: Target) -> Change:
    """Give what the code that makes a call must say."""
    now = fate.now[0][0] if fate.now else fate.near
    change = Change(
        kind="code",
        param=item.arg.name,
        canonical="",
        action="switch" if now else "remove",
        now="unknown",
        to=now or None,
        spelled=f"{item.arg.name}: {now}" if now else item.arg.name,
    )
    return in_own_call(change, job)


def _set_outside(item: RefusedArgument, variable: str) -> Change:
    value = " ".join(item.arg.values or ())
    text = f"{variable}={shlex.quote(value) if value else ''}"
    return rewritten("env", variable, value or None, text, before=_shown(item), at=_at(item))


def _left_out(item: RefusedArgument) -> Change:
    return Change(
        kind=_kind(item),
        param=plain(item.arg.name),
        canonical="",
        action="remove",
        from_=" ".join(item.arg.values or ()) or None,
        now="set",
        to=None,
        spelled=_shown(item),
        at=_at(item),
    )


def _at(item: RefusedArgument) -> Origin | None:
    return item.arg.origin if item.set_here else None


def _dashes(item: RefusedArgument) -> str:
    return "--" if item.dashed else ""


def _kind(item: RefusedArgument) -> Literal["arg", "config_file"]:
    return "arg" if item.dashed or item.arg.sign or "." in item.arg.name else "config_file"


def _shown(item: RefusedArgument) -> str:
    arg = item.arg
    return " ".join(
        (_dashes(item) + arg.name.lstrip("-"), *(shlex.quote(v) for v in arg.values or ()))
    )


def _written(name: str, value: str, item: RefusedArgument, job: Target) -> _WrittenArgument:
    framework = item.fate.package if item.fate is not None else job.framework
    assigns = framework_of(framework).only_assigns
    via: Literal["arg", "config"] = "arg" if item.dashed or assigns else "config"
    made = spell_argument(plain(name), value, framework, via=via)
    return _WrittenArgument(made.param, made.value, made.text)
