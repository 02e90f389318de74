"""The arguments programs print into their logs: the strongest witness of what took effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trainrx.evidence.blocks import LogBlock, beginnings
from trainrx.evidence.matcher import decode
from trainrx.frameworks import frameworks
from trainrx.frameworks.common.dumps import (
    DumpForm,
    Kind,
    read_accelerate,
    read_deepspeed_lines,
    read_dict,
    read_object,
)
from trainrx.model.facts import Origin
from trainrx.model.job import Input, RawArg

REACH = 1 << 18
"""Bytes one dump may have; longer ones are read as far as this."""
MOST = 256
"""Dumps of one log, and places looked at for each kind of them."""
QUOTE = 200


class Dump(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments as a program printed them, in the order of the log: of one name the last counts.

    `framework` is "" where only the launch can tell. `kind` says what they are of (see
    `trainrx.frameworks.common.dumps.Kind`). Values are texts as configuration files have them (None
    is "null", nested ones have dotted names); `values` None: printed, but not to be told.
    """

    framework: str
    command: str
    kind: Kind
    values: tuple[RawArg, ...]
    origin: Origin


_NAME = re.compile(rb"[A-Za-z]\w{0,80}$")
_FORMS = (
    DumpForm(b"Arguments(", read_object, _NAME),
    DumpForm(b"Namespace(", read_object),
    DumpForm(b"Config(", read_object, _NAME),
    DumpForm(b"DeepSpeedEngine configuration:", lambda text, _: read_deepspeed_lines(text)),
    DumpForm(
        b"Using deepspeed: {", lambda text, _: read_dict(text[17:], "deepspeed", "", "deepspeed")
    ),
    DumpForm(
        b"values were not passed to `accelerate launch`", lambda text, _: read_accelerate(text)
    ),
)
"""Those of objects any program may print, and of launchers and engines."""
_PROCESS = re.compile(
    r"^(?:\x1b\[\d+m)?(?:\([\w. ]{1,60} pid=\d+(?:, ip=[\w.:]+)?\)|\[(?:rank|default)\d+\]:?"
    r"|\[\d+,\d+\]<std\w+>:|[\w-]{1,40}:) "
)


def logged_arguments(logs: Sequence[Input]) -> tuple[Dump, ...]:
    """Give what the programs of a job print of their arguments, log by log, in order.

    Read are the beginnings of the logs, and there only what stands behind a few literal
    beginnings; time is linear in them. What cannot be understood is left out, nothing is raised.
    """
    found: list[Dump] = []
    for item, blocks in beginnings(logs):
        dumps = sorted(_dumps(item.name, blocks), key=lambda dump: dump.origin.line or 0)
        found += dict.fromkeys(dumps)
    return tuple(found)


def _dumps(source: str, blocks: Iterable[LogBlock]) -> Iterator[Dump]:
    forms = (*_FORMS, *(form for one in frameworks() for form in one.dumps()))
    left = dict.fromkeys(forms, MOST)
    for window, start, end in _windows(blocks):
        for form in forms:
            until = end + len(form.needle) - 1
            at = window.find(form.needle, 0, until)
            while at >= 0 and left[form]:
                dump = _dump(source, window, at, start, form)
                left[form] -= 1
                if dump is not None:
                    yield dump
                at = window.find(form.needle, at + len(form.needle), until)


def _windows(blocks: Iterable[LogBlock]) -> Iterator[tuple[bytes, int, int]]:
    """Give pieces of a log, the number of their first line, and up to where a dump may begin.

    Pieces overlap by `REACH`, so that every dump is whole in the one it begins in.
    """
    front: list[LogBlock] = []
    back: list[LogBlock] = []
    behind = 0
    for block in blocks:
        back.append(block)
        behind += len(block.data)
        if behind >= REACH:
            if front:
                data = _joined(front)
                yield data + _joined(back), front[0].line, len(data)
            front, back, behind = back, [], 0
    data = _joined((*front, *back))
    yield data, front[0].line if front else 1, len(data)


def _joined(blocks: Iterable[LogBlock]) -> bytes:
    return b"".join(block.data for block in blocks)


def _dump(source: str, window: bytes, at: int, first: int, form: DumpForm) -> Dump | None:
    begin = max(window.rfind(b"\n", 0, at), window.rfind(b"\r", 0, at)) + 1
    begin = max(begin, at - 4 * QUOTE)
    if form.back is not None:
        name = form.back.search(window[begin:at])
        if name is None:
            return None
        at = begin + name.start()
    before = decode(window[begin:at])
    read = form.read(_own_lines(decode(window[at : at + REACH]), before), before)
    if read is None:
        return None
    line = first + window.count(b"\n", 0, at)
    lines = decode(window[begin : at + REACH]).split("\n")
    values = tuple(
        RawArg(
            name=name,
            values=texts,
            origin=Origin(source=source, line=line + below, text=_quoted(lines, below, name)),
            via="config",
        )
        for name, texts, below in read.values
    )
    origin = Origin(source=source, line=line, text=lines[0][:QUOTE].strip())
    return Dump(
        framework=read.framework,
        command=read.command,
        kind=read.kind,
        values=values,
        origin=origin,
    )


def _own_lines(text: str, before: str) -> str:
    """Take off what Ray or a launcher puts in front of every line of one process.

    Lines of other processes become empty, so that lines still count.
    """
    process = _PROCESS.match(before)
    if process is None or "\n" not in text:
        return text
    first, *rest = text.split("\n")
    tag = process[0]
    return "\n".join([first, *(line[len(tag) :] if line.startswith(tag) else "" for line in rest)])


def _quoted(lines: Sequence[str], below: int, name: str) -> str:
    """Give the line a value stands on; of a long one the part that is about it."""
    text = lines[below].strip() if below < len(lines) else ""
    if len(text) <= QUOTE:
        return text
    key = name.rpartition(".")[2]
    starts = (text.find(f"{key}{sign}") for sign in ("=", "':", '":', ":"))
    start = next((at for at in starts if at >= 0), 0)
    end = text.find(", ", start + len(key), start + QUOTE)
    return text[start : end if end > 0 else start + QUOTE].strip()
