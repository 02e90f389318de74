"""CommonMark with what most platforms make of it, and the parts in which they differ from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from trainrx.model.pattern import late
from trainrx.sanitizer import media
from trainrx.sanitizer.controls import clean

Unit = Literal["characters", "UTF-16 units", "bytes"]
_LIVE = late(r"(?<=@)(?=\w)|(?<=<)(?=[!@#])|(?<=://)|(?<=\bwww)(?=\.)|(?<=#)(?=\d)")
_MARKS = late(r"([\\`*\[\]<|~]|(?<!-)>|(?<![^\W_])_|_(?![^\W_])|&(?=[#A-Za-z]))")
_LEADING = late(r"^(\d{0,9})([#=+.)-])(?=[#=+-]*(?:\s|$))")


class CodeBlock(NamedTuple):
    """Lines that are shown as they stand: a command, a part of a log."""

    lines: tuple[str, ...]
    language: str = ""


class CommonMark:
    """How a platform writes; `limit` is what a message may have at most, None: no limit.

    In a `chat` there is no command line. Where `tight`, a line that is left empty is one that is
    shown; `inner` begins the entry of a list in another, where lists are only lines.

    Texts of nodes go through `prose`, which makes them stand for themselves; what `prose`, `code`
    and the others give is written and goes through none of them again.
    """

    limit: int | None = None
    unit: Unit = "characters"
    bullet = inner = "- "
    tables = chat = True
    tight = False

    def size(self, text: str) -> int:
        """Count a text in the unit of the platform."""
        if self.unit == "bytes":
            return len(text.encode("utf-8", "replace"))
        return (
            len(text.encode("utf-16-le", "replace")) // 2
            if self.unit != "characters"
            else len(text)
        )

    def bold(self, written: str) -> str:
        """Set apart by weight."""
        return f"**{written}**"

    def aside(self, text: str) -> str:
        """Set apart as less important."""
        return f"_{text}_"

    def heading(self, written: str) -> str:
        """Begin a part."""
        return f"### {written}"

    def link(self, url: str) -> str:
        """Name an address that may be followed: it is of the knowledge, never of an input."""
        return f"<{url}>"

    def prose(self, text: str) -> str:
        """Make text stand for itself: marks escaped, `code` kept, mentions and links split."""
        parts = clean(text).split("`")
        if len(parts) % 2 == 0:
            return self.begun(self.escaped("`".join(parts)))
        shown = (
            self.escaped(part) if index % 2 == 0 else self.code(guard(part))
            for index, part in enumerate(parts)
            if part
        )
        return self.begun("".join(shown))

    def escaped(self, text: str) -> str:
        """Take their meaning from the marks of a text."""
        return unlinked(_MARKS.sub(r"\\\1", text))

    def begun(self, written: str) -> str:
        """Take their meaning from the marks that have one only where a line begins."""
        return _LEADING.sub(r"\1\\\2", written)

    def code(self, text: str) -> str:
        """Quote text as inline code, whatever backticks it holds."""
        ticks = "`" * (_longest_run(text) + 1)
        room = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{ticks}{room}{text}{room}{ticks}"

    def block(self, block: CodeBlock) -> Iterator[str]:
        """Quote lines as a block, whatever backticks they hold."""
        ticks = "`" * max([3, *(_longest_run(line) + 1 for line in block.lines)])
        yield f"{ticks}{block.language}"
        yield from block.lines
        yield ticks


def guard(text: str) -> str:
    """Neutralise mentions, links and issue numbers of quoted text; it looks the same."""
    return unlinked(clean(text))


def unlinked(text: str) -> str:
    """Split what a platform would make a mention, a link or the number of an issue."""
    return _LIVE.sub(media.BREAKER, text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
