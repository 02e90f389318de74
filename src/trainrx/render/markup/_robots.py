"""What the Markdown of group robots has in common: no headings, no escapes."""

from __future__ import annotations

import re

from trainrx.render.markup._commonmark import CommonMark, unlinked
from trainrx.sanitizer.media import BREAKER


class RobotMarkdown(CommonMark):
    """Markdown in which nothing escapes a mark; `marks` finds those that would have a meaning."""

    unit = "bytes"
    tables = False
    marks: re.Pattern[str]

    def heading(self, written: str) -> str:
        """Begin a part by its weight."""
        return self.bold(written)

    def aside(self, text: str) -> str:
        """Say it as anything else."""
        return self.escaped(text)

    def link(self, url: str) -> str:
        """Name an address by itself."""
        return f"[{url}]({url})"

    def escaped(self, text: str) -> str:
        """Split marks from what they would mark."""
        return unlinked(self.marks.sub(lambda found: f"{BREAKER}{found[0]}{BREAKER}", text))

    def begun(self, written: str) -> str:
        """Leave it: what begins a line was split as well."""
        return written
