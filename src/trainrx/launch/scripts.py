"""The launches of scripts, also of those a person pasted together with the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.inputs.encoding import decode_text
from trainrx.inputs.recognise import LOG, SAMPLE, is_manifest
from trainrx.inputs.stream import CHUNK, chunks
from trainrx.launch.files import script_file
from trainrx.launch.find import find_launches, looks_like_launch
from trainrx.launch.python_source import is_program, read_program
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawArg, RawLaunch, Script
from trainrx.model.pattern import late
from trainrx.shell import read_script

if TYPE_CHECKING:
    from trainrx.launch.manifest import Part


PROMPT = late(
    r"[ \t]*(?:(?:[\w.@:~/()\[\] -]{1,80}#|[\w.@:~/()\[\] -]{0,80}[$>]|\+{1,3}|[^\n：]{0,30}：)"
    r"[ \t]*)?`{0,3}[ \t]*"
)
"""What stands in front of a command: a prompt, the trace of `bash -x`, "命令："."""
ASSIGNMENT = late(r"[ \t]*(?:export[ \t]+)?[A-Za-z_]\w*=\S*[ \t]*")
SETTING = late(r"\s--?[A-Za-z]|\.(?:ya?ml|json)\b|\s[\w.]+=")
"""A command sets something; a sentence that begins like one does not."""


def holds_log(text: str) -> bool:
    """Tell whether a text has lines only programs print."""
    return LOG.search(text[:SAMPLE]) is not None


def pasted_script(log: Input) -> Input | None:
    """Give the commands among the lines of a log, each on its own line, or None.

    Only the beginning of a long log is looked at: that is where a person puts the command.
    """
    text = log.text[:CHUNK] if log.text is not None else _beginning(log)
    lines = text.split("\n")
    kept = dict(_commands(lines))
    if not any(is_command for _, is_command in kept.values()):
        return None
    script = "\n".join(kept[number][0] if number in kept else "" for number in range(len(lines)))
    return Input(kind="script", name=log.name, path=log.path, text=script)


def _beginning(log: Input) -> str:
    return decode_text(next(chunks(log, lambda _: None), b"")).replace("\r\n", "\n")


def _commands(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, bool]]]:
    """Give number, text and kind of the lines that belong to a command or set a variable."""
    start = 0
    while start < len(lines):
        end = start
        while end + 1 < len(lines) and lines[end].rstrip().endswith("\\"):
            end += 1
        block = _command(lines[start : end + 1])
        if block:
            yield from ((start + i, (line, True)) for i, line in enumerate(block))
        else:
            yield from (
                (number, (lines[number], False))
                for number in range(start, end + 1)
                if ASSIGNMENT.fullmatch(lines[number])
            )
        start = end + 1


def _command(block: Sequence[str]) -> list[str]:
    """Give the lines of one command without the prompt, none when it is no training command."""
    prompt = PROMPT.match(block[0])
    first = block[0][prompt.end() :] if prompt is not None else block[0]
    lines = [first, *block[1:]]
    lines[-1] = lines[-1].rstrip().rstrip("`")
    text = "\n".join(lines)
    return lines if looks_like_launch(text) and SETTING.search(text) else []


_NODES = frozenset({"nnodes", "num_machines"})


def script_launches(
    script: Input, inherited: Mapping[str, str], beside: Path | None = None
) -> tuple[list[RawLaunch], list[Unread]]:
    """Find the launches a script holds, each with the files the script writes.

    Scripts it sources or starts are read where they lie in its own folder (`beside`) or below.
    A Kubernetes manifest or compose file is read as the scripts of its containers: their
    variables, resources and number of pods belong to the launches. Of a Python program the keyword
    arguments of its training classes count.
    """
    text = script.text or ""
    if is_program(text):
        return list(read_program(text, script.name)), []
    files = None if beside is None else partial(script_file, beside=beside)
    parts = _parts(text, script.name)
    if not parts:
        parsed = read_script(text, script.name, inherited, files)
        return [_with_files(one, parsed) for one in find_launches(parsed)], list(parsed.unread)
    launches: list[RawLaunch] = []
    unread: list[Unread] = []
    for part in parts:
        own = {item.name: item.value for item in part.env if item.value is not None}
        around = {**inherited, **part.around, **own}
        parsed = read_script(part.text, script.name, around, files)
        unread += parsed.unread
        launches += [_in_part(_with_files(one, parsed), part) for one in find_launches(parsed)]
    return launches, unread


def _parts(text: str, source: str) -> tuple[Part, ...]:
    if not is_manifest(text):
        return ()
    # needs PyYAML, whose import takes longer than a script takes to be read
    from trainrx.launch.manifest import read_manifest

    return read_manifest(text, source)


def _with_files(launch: RawLaunch, script: Script) -> RawLaunch:
    return msgspec.structs.replace(launch, written=script.written)


def _in_part(launch: RawLaunch, part: Part) -> RawLaunch:
    """Give a launch what its container gives it; the command's own words go before."""
    given = {item.name for item in launch.env}
    env = (*(item for item in part.env if item.name not in given), *launch.env)
    counted = {arg.name for arg in launch.launcher} & _NODES or "NNODES" in {i.name for i in env}
    nodes = (
        (RawArg(name="nnodes", values=(str(part.nodes),), origin=launch.origin),)
        if part.nodes > 1 and not counted
        else ()
    )
    return msgspec.structs.replace(
        launch,
        env=env,
        launcher=(*nodes, *launch.launcher),
        container=(*part.container, *launch.container),
    )
