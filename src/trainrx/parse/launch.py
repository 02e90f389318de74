"""Find the training commands of a script."""

from __future__ import annotations

import re

from trainrx.model.job import Defect, RawArg, RawLaunch, Script, ShellCommand, Word
from trainrx.model.result import Unread
from trainrx.parse import llamafactory, ms_swift, other_frameworks
from trainrx.parse.launch_args import read_arguments
from trainrx.parse.launchers import Cite, Entry, entries
from trainrx.parse.other_frameworks import Named

_OVERRIDES = frozenset({"verl", "llamafactory"})
_MAX_LAUNCHES = 64
_LOOKS = re.compile(
    r"^[ \t]*(?:\$[ \t]+)?"
    r"(?:(?:nohup|time|sudo|env|srun)[ \t]+(?:-\S+[ \t]+)*|[A-Za-z_]\w*=\S*[ \t]+)*"
    r"(?:(?:swift|megatron)[ \t]+(?:sft|pt|rlhf|infer|deploy|rollout|export|eval|app|sample|dpo"
    r"|web-ui)\b"
    r"|llamafactory-cli[ \t]+\w|lmf[ \t]+train|trl[ \t]+\w|axolotl[ \t]+\w|vllm[ \t]+serve"
    r"|torchrun[ \t]|accelerate[ \t]+launch|deepspeed[ \t]+\S|ray[ \t]+job[ \t]+submit"
    r"|python[\d.]*[ \t]+(?:-u[ \t]+)?(?:-m[ \t]+[\w.]+|\S+\.py)(?:[ \t]|$))",
    re.MULTILINE,
)


def looks_like_launch(text: str) -> bool:
    """Tell whether a text has a line that starts a training program, as scripts and posts do."""
    return _LOOKS.search(text[: 256 * 1024]) is not None


def find_launches(script: Script) -> tuple[RawLaunch, ...]:
    """Give the training, rollout and inference commands of a script, in the order they run.

    Wrappers (nohup, srun, env) and launchers (torchrun, accelerate, deepspeed) are taken off; what
    a launcher was told is kept in `launcher` under the names torchrun uses where it has one.
    """
    cite = Cite(script.source, script.text.split("\n"))
    found: list[RawLaunch] = []
    for command in script.commands:
        for entry in entries(command, cite):
            named = _name(entry)
            if named is not None and len(found) < _MAX_LAUNCHES:
                found.append(_launch(script, command, entry, named, cite))
    return tuple(
        _with_defects(launch, script.defects, number, found) for number, launch in enumerate(found)
    )


def _name(entry: Entry) -> Named | None:
    if entry.path.unknown:
        return None
    for framework, module in (("ms-swift", ms_swift), ("llamafactory", llamafactory)):
        match = module.recognise(entry)
        if match is not None:
            return Named(framework, *match)
    return other_frameworks.recognise(entry)


def _launch(
    script: Script, command: ShellCommand, entry: Entry, named: Named, cite: Cite
) -> RawLaunch:
    arguments = read_arguments(named.args, cite, overrides=named.framework in _OVERRIDES)
    args, configs = list(arguments.args), list(arguments.configs)
    if named.framework == "vllm" and arguments.positional:
        model = arguments.positional[0]
        values = None if model.unknown else (model.text,)
        args.insert(0, RawArg(name="model", values=values, origin=cite(model)))
    if named.framework == "verl":
        configs += [item.values[0] for item in args if item.name == "config" and item.values]
    hidden = {item.name for item in entry.env}
    return RawLaunch(
        framework=named.framework,
        command=named.command,
        args=tuple(args),
        env=(*(item for item in command.env if item.name not in hidden), *entry.env),
        origin=cite(entry.path),
        launcher=entry.launcher,
        configs=tuple(dict.fromkeys(configs)),
        args_complete=arguments.complete,
        env_complete=script.env_complete,
        unread=_unread(script, command.words),
    )


def _unread(script: Script, words: tuple[Word, ...]) -> tuple[Unread, ...]:
    """Choose what of the script's unread parts concerns these words."""
    names = {name for word in words for name in word.unknown}
    return tuple(
        item
        for item in script.unread
        if any(item.reason.startswith((f"${name} ", f"{name} ")) for name in names)
    )


def _with_defects(
    launch: RawLaunch, defects: tuple[Defect, ...], number: int, found: list[RawLaunch]
) -> RawLaunch:
    """Give a launch the defects of its own lines, and those that change its environment."""
    start = 0 if number == 0 else launch.origin.line or 0
    later = [other.origin.line or 0 for other in found[number + 1 :]]
    end = min((line for line in later if line > (launch.origin.line or 0)), default=None)
    chosen = tuple(
        item
        for item in defects
        if item.id in ("crlf-line-ends", "variable-not-exported")
        or (item.line >= start and (end is None or item.line < end))
    )
    return RawLaunch(
        **{name: getattr(launch, name) for name in launch.__struct_fields__ if name != "defects"},
        defects=chosen,
    )
