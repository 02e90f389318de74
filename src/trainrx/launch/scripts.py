"""The launches of scripts, also of those a person pasted together with the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from trainrx.inputs.encoding import decode_text
from trainrx.inputs.recognise import LOG, SAMPLE, is_manifest
from trainrx.inputs.stream import chunks
from trainrx.launch.find import find_launches, looks_like_launch
from trainrx.launch.places import script_file
from trainrx.launch.programs import training_programs
from trainrx.launch.python_source import is_program, read_program
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawLaunch, Script
from trainrx.model.pattern import late
from trainrx.shell import read_script

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
    text = decode_text(next(chunks(log, lambda _: None), b"")).replace("\r\n", "\n")
    lines = text.split("\n")
    kept = dict(_commands(lines))
    if not any(is_command for _, is_command in kept.values()):
        return None
    script = "\n".join(kept[number][0] if number in kept else "" for number in range(len(lines)))
    return Input(kind="script", name=log.name, path=log.path, text=script)


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


def script_launches(
    script: Input,
    inherited: Mapping[str, str],
    beside: Path | None = None,
) -> tuple[list[RawLaunch], list[Unread]]:
    """Find the launches a script holds, each with the files the script writes.

    Scripts it sources or starts are read where they lie in its own folder (`beside`) or below.
    A Kubernetes manifest or compose file is read as the scripts of its containers: their
    variables, resources and number of pods belong to the launches. Of a Python program the keyword
    arguments of its training classes count, and a command that runs one that is at hand is a
    training command whatever the program is called.
    """
    text = script.text or ""
    if is_program(text):
        return list(read_program(text, script.name)), []
    files = None if beside is None else partial(script_file, beside=beside)
    if is_manifest(text):
        # needs PyYAML, whose import takes longer than a script takes to be read
        from trainrx.launch.manifests.launches import manifest_launches

        found = manifest_launches(script, inherited, files)
        if found is not None:
            return found
    parsed = read_script(text, script.name, inherited, files)
    trains = training_programs(parsed, beside=beside)
    launches = find_launches(parsed, trains=trains)
    return [_with_files(one, parsed) for one in launches], list(parsed.unread)


def _with_files(launch: RawLaunch, script: Script) -> RawLaunch:
    return msgspec.structs.replace(launch, written=script.written)
