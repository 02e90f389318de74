"""Which parts of a script are code, and where a quote was left open."""

from __future__ import annotations

import re

import msgspec

from trainrx.model.pattern import late

_CODE = late(
    r"\\.|(?P<comment>(?<![^\s;&|()])#[^\n]*)|(?P<single>'[^']*'?)|(?P<ansi>\$'(?:[^'\\]|\\.)*'?)"
    r"|\"|(?P<here><<-?[ \t]*(?P<q>['\"\\]?)(?P<word>[A-Za-z_]\w*)(?P=q)?(?=[\s;|&>]|$))"
    r"|<<<|(?P<newline>\n)",
    re.DOTALL,
)
_INNER = late(r"\\.|'[^']*'?|\"|\$?\(|\)", re.DOTALL)
"""Inside `"$( ... )"`, where brackets count."""
_DOUBLE = late(r"\\.|\$\(|\"", re.DOTALL)
_SUSPICIOUS = late(r"\\\n|\n[ \t]*(?:--?[A-Za-z]|export\s|[A-Za-z_]\w*=|done\b|fi\b)")
_BARE = late(r"\\.|'[^']*'|\$'(?:[^'\\]|\\.)*'|\$\{|\$\(|[\"`()}]", re.DOTALL)
_IN_QUOTES = late(r"\\.|\$\{|\$\(|[\"`]", re.DOTALL)
_CLOSER = {"${": "}", "$(": ")", "(": ")", '"': '"', "`": "`"}
_MAX_TRIES = 12
_MAX_WORK = 200_000  # characters looked at again while a culprit is sought


class QuotedSpan(msgspec.Struct, frozen=True):
    """A part of the script that is not code: a quoted text, a comment, a here-document."""

    start: int
    end: int
    quote: str
    closed: bool


def spans(text: str) -> list[QuotedSpan]:
    """Give the parts that are not code, in order; one pass over the text."""
    scanner = _Scanner(text)
    while scanner.step():
        pass
    return scanner.found


class HereDocument(msgspec.Struct, frozen=True):
    """A here-document: its sign is at `at`, its body ends at `stop`, its delimiter at `end`."""

    at: int
    start: int
    stop: int
    end: int
    expands: bool


def here_documents(text: str) -> list[HereDocument]:
    """Give the here-documents, in order."""
    scanner = _Scanner(text)
    while scanner.step():
        pass
    return scanner.documents


class _Scanner:
    """Walks from sign to sign; `stack` holds what is open around the position."""

    def __init__(self, text: str) -> None:
        self.found: list[QuotedSpan] = []
        self._text = text
        self._position = 0
        self._stack: list[str] = []
        self._opened = -1  # where the outermost double quote began
        self.documents: list[HereDocument] = []
        self._waiting: list[re.Match[str]] = []

    def step(self) -> bool:
        quoted = self._stack[-1:] == ['"']
        match = (_DOUBLE if quoted else _INNER if self._stack else _CODE).search(
            self._text, self._position
        )
        if match is None:
            if self._opened >= 0:
                self.found.append(QuotedSpan(self._opened, len(self._text), '"', closed=False))
            return False
        self._position = match.end()
        if match[0] == '"':
            self._double_quote(match.start(), closes=quoted)
        elif match[0] in ("$(", "("):
            self._stack.append(")")
        elif match[0] == ")":
            del self._stack[-1:]
        elif not self._stack:
            self._plain(match)
        return True

    def _double_quote(self, at: int, *, closes: bool) -> None:
        if not closes:
            if self._opened < 0:
                self._opened = at
            self._stack.append('"')
            return
        self._stack.pop()
        if not self._stack:
            self.found.append(QuotedSpan(self._opened, self._position, '"', closed=True))
            self._opened = -1

    def _plain(self, match: re.Match[str]) -> None:
        text = match[0]
        if match["comment"]:
            self.found.append(QuotedSpan(*match.span(), "#", closed=True))
        elif match["single"] or match["ansi"]:
            closed = len(text) > (2 if match["ansi"] else 1) and text.endswith("'")
            self.found.append(QuotedSpan(*match.span(), "'", closed=closed))
        elif match["here"]:
            self._waiting.append(match)
        elif match["newline"] and self._waiting:
            start = self._position
            for opened in self._waiting:
                document = _document(self._text, self._position, opened)
                self.documents.append(document)
                self._position = document.end
            self.found.append(QuotedSpan(start, self._position, "", closed=True))
            self._waiting = []


def _document(text: str, start: int, opened: re.Match[str]) -> HereDocument:
    tabs = "\t*" if opened[0].startswith("<<-") else ""
    match = re.compile(rf"^{tabs}{opened['word']}$", re.MULTILINE).search(text, start)
    stop = end = len(text)
    if match is not None:
        stop, end = match.start(), min(match.end() + 1, len(text))
    return HereDocument(opened.start(), start, stop, end, not opened["q"])


def code_only(text: str, found: list[QuotedSpan]) -> str:
    """Blank out what is not code; positions and lines stay."""
    parts: list[str] = []
    position = 0
    for span in found:
        parts += [text[position : span.start], re.sub(r"[^\n]", " ", text[span.start : span.end])]
        position = span.end
    return "".join([*parts, text[position:]])


def guilty(found: list[QuotedSpan], text: str) -> QuotedSpan | None:
    """Give the quote that was left open, or None when every quote is closed.

    The quote that is still open at the end of the file is often not the one at fault: a missing
    quote swaps inside and outside for everything after it. Of the quoted texts that swallow a line
    end followed by a flag or an assignment, the one at fault leaves the fewest lines inside quotes
    when it is closed on its own line.
    """
    if not found or found[-1].closed:
        return None
    tries = max(1, min(_MAX_TRIES, _MAX_WORK // (len(text) + 1)))
    suspects = [
        span
        for span in found[:-1]
        if span.quote in ("'", '"') and _SUSPICIOUS.search(text, span.start, span.end)
    ]
    if not suspects or tries == 1:
        return suspects[0] if suspects else found[-1]
    chosen = [*suspects[: tries - 1], found[-1]]
    return min(chosen, key=lambda span: (_quoted_lines(close_quote(text, span)), -span.start))


def _quoted_lines(text: str) -> int:
    found = spans(text)
    swallowed = sum(
        text.count("\n", item.start, item.end) for item in found if item.quote in ("'", '"')
    )
    return swallowed + (0 if not found or found[-1].closed else len(text))


def close_quote(text: str, span: QuotedSpan) -> str:
    """Close a quote at the end of the line it was opened on, before a continuation."""
    end = text.find("\n", span.start)
    line = text[span.start : end if end >= 0 else len(text)]
    body = line.rstrip()
    body = body[:-1].rstrip() if body.endswith("\\") else body
    at = span.start + len(body)
    return text[:at] + span.quote + text[at:]


def closing(text: str, start: int, opener: str, limit: int) -> int:
    r"""Find where what `opener` began is closed, quotes and nested brackets counted.

    Args:
        text: The script or word.
        start: Position just after the opener.
        opener: One of `"`, `` ` ``, `$(`, `${`, `(`.
        limit: Position to give up at.

    Returns:
        The position just after the closing sign, or -1 when there is none.
    """
    stack = [_CLOSER[opener]]
    position = start
    while position < limit:
        rule = _IN_QUOTES if stack[-1] == '"' else _BARE
        match = rule.search(text, position, limit)
        if match is None:
            return -1
        found, position = match[0], match.end()
        if found == stack[-1]:
            stack.pop()
            if not stack:
                return position
        elif found in _CLOSER:
            stack.append(_CLOSER[found])
    return -1
