"""Markdown that says exactly what it is given: every mark of a text stands for itself."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence

from trainrx.sanitizer.controls import clean

_MARK = re.compile(r"[^\w\s,/=@%;]|_", re.ASCII)
_PLAIN = re.compile(r"(?<=[A-Za-z0-9])[.\-'](?=[A-Za-z0-9])")


def text(words: str) -> str:
    """Write words so that neither Markdown nor HTML finds anything in them."""
    words = clean(words).strip()
    kept = {match.start() for match in _PLAIN.finditer(words)}
    return "".join(
        char if at in kept or not (char.isascii() and _MARK.match(char)) else f"&#{ord(char)};"
        for at, char in enumerate(words)
    )


def code(words: str, inner: str = "") -> str:
    """Write words as inline code; `inner` are the same words with links in them."""
    return f"<code>{inner or text(words)}</code>"


def prose(words: str) -> str:
    """Write a sentence of an entry: what stands between backticks is code."""
    parts = clean(words).split("`")
    if len(parts) % 2 == 0:
        return text(words)
    shown = ((code(part) if at % 2 else _spaced(part)) for at, part in enumerate(parts) if part)
    return "".join(shown).strip()


def _spaced(part: str) -> str:
    """Keep the spaces between words and code."""
    left = " " if part[:1].isspace() else ""
    right = " " if part[-1:].isspace() and part.strip() else ""
    return f"{left}{text(part)}{right}"


def block(lines: Iterable[str]) -> list[str]:
    """Quote lines as they are; a raw block, which Markdown leaves alone."""
    quoted = "\n".join(html.escape(clean(line)) for line in lines)
    return ["", f'<div class="highlight"><pre><code>{quoted}</code></pre></div>', ""]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Write a table of cells that are Markdown already; nothing without rows."""
    lines = [f"| {' | '.join(cell or ' ' for cell in row)} |" for row in rows]
    if not lines:
        return []
    return ["", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *lines, ""]


def bullets(items: Iterable[str]) -> list[str]:
    """Write a list; nothing without items."""
    lines = [f"- {item}" for item in items]
    return ["", *lines, ""] if lines else []


def linked(words: str, link: Callable[[str], str | None]) -> str:
    """Write words as code in which each known name is a link; `link` gives the address."""
    out: list[str] = []
    for part in re.split(r"([A-Za-z0-9][A-Za-z0-9_.\-]*)", clean(words)):
        address = link(part) if part else None
        out.append(_keep(part) if address is None else f"[{text(part)}]({address})")
    return code(words, "".join(out))


def _keep(part: str) -> str:
    escaped = text(part)
    left = " " * (len(part) - len(part.lstrip()))
    right = " " * (len(part) - len(part.rstrip())) if part.strip() else ""
    return f"{left}{escaped}{right}"
