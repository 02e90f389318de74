r"""A log as clean blocks of whole lines: no colours, no NULs, counted by the lines an editor shows.

`\r` ends a line of text (progress bars) but not a numbered one. One endless line is handed on in
overlapping pieces, so that neither memory nor time depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from trainrx.inputs.encoding import to_utf8

ANSI = re.compile(
    rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n\r]{0,2048}(?:\x07|\x1b\\)"
    rb"|[()][0-9A-Z]|[=>78])"
)
LONGEST = 1 << 20
"""Bytes of one line that are held at once."""
OVERLAP = 1 << 14
"""Bytes of an endless line that both pieces around a cut hold: longer than any match."""
FIRST = 1 << 16
"""Bytes the first block has at least (where there are as many): labels are judged on it."""


class LogBlock(msgspec.Struct, frozen=True, kw_only=True):
    r"""Some lines of a log. `data` still holds `\r`; `line` numbers its first line from 1.

    `resumes`: its first line began in the block before; `breaks`: its last line goes on.
    """

    data: bytes
    line: int
    ends: int
    size: int
    resumes: bool = False
    breaks: bool = False


def clean_blocks(chunks: Iterable[bytes], *, longest: int = LONGEST) -> Iterator[LogBlock]:
    """Cut a stream of bytes into clean blocks."""
    pending = b""
    line = 1
    again = 0
    first = True
    overlap = min(OVERLAP, longest // 2)
    for chunk in to_utf8(chunks):
        pending = pending + chunk if pending else chunk
        if first and len(pending) < FIRST:
            continue
        cut = max(pending.rfind(b"\n"), pending.rfind(b"\r", 0, len(pending) - 1)) + 1
        breaks = cut == 0
        if breaks and len(pending) < longest:
            continue
        cut = cut or len(pending)
        first = False
        block = _block(pending[:cut], line, again, breaks=breaks)
        yield block
        line += block.ends
        again = overlap if breaks else 0
        pending = pending[cut - again :]
    if len(pending) > again:
        yield _block(pending, line, again, breaks=False)


def _block(raw: bytes, line: int, again: int, *, breaks: bool) -> LogBlock:
    data = raw.replace(b"\0", b"") if b"\0" in raw else raw
    if b"\x1b" in data:
        data = ANSI.sub(b"", data)
    ends = data.count(b"\n")
    size = len(raw) - again
    return LogBlock(data=data, line=line, ends=ends, size=size, resumes=again > 0, breaks=breaks)
