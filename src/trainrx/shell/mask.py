"""A script with everything hidden that its grammar need not see; positions stay.

The grammar counts bytes, takes some letters for blanks, and loses its way in here-documents. So a
here-document becomes a plain redirection from a file, its body blanks, a placeholder such as
`<path to model>` a word, and every character beyond ASCII one that is part of any word.
"""

from __future__ import annotations

import re

import msgspec

from trainrx.model.pattern import late
from trainrx.shell.quotes import HereDocument, here_documents
from trainrx.shell.syntax import Raw

_NOT_ASCII = late(r"[^\x00-\x7f]")
_PLACEHOLDER = late(r"(?<!<)<[^\W\d_][\w./-]*(?: [\w./-]+)*>(?=[\s\"']|$)")
_ESCAPED = late(r"\\(?:[ \t]|.)", re.DOTALL)
_BACKQUOTED = late(r"`[^`'\"\\\n]*`")
_LONE_EQUALS = late(r"(?<=[ \t])==(?=[ \t]*\\?(?:\n|\Z|[;|&]))")
_HERE_STRING = late(r"<<<(?!<)")
_HERE_SIGN = late(r"<<-?")
_LEADING_TABS = late(r"^\t+", re.MULTILINE)


class Masked(msgspec.Struct, frozen=True):
    """A text for the grammar; `heres`: where a `<` in it stands for a here-string or -document."""

    text: str
    heres: dict[int, Raw | None]


def mask(text: str) -> Masked:
    """Hide from the grammar what it need not see."""
    heres: dict[int, Raw | None] = {}
    shown = text
    if "<" in text:
        shown = _PLACEHOLDER.sub(lambda match: "." * len(match[0]), shown)
        if "<<" in text:
            shown = _without_documents(text, shown, heres)
            for match in _HERE_STRING.finditer(shown):
                heres[match.end() - 1] = None
            shown = _HERE_STRING.sub("  <", shown)
    if "\\ " in shown or "\\\t" in shown:
        # To the grammar an escaped blank is a blank; to bash it is a letter.
        shown = _ESCAPED.sub(lambda match: ".." if match[0][1] in " \t" else match[0], shown)
    if shown.count("`") > 3:
        # Of two in a row, the grammar makes one with the other in it.
        shown = _BACKQUOTED.sub(lambda match: "." * len(match[0]), shown)
    if "==" in shown:
        # Where the right side is missing, the grammar gives up.
        shown = _LONE_EQUALS.sub(_equals, shown)
    if not shown.isascii():
        shown = _NOT_ASCII.sub(".", shown)
    return Masked(shown, heres)


def _equals(match: re.Match[str]) -> str:
    """Hide `==` as the last word of a line, but for a test that goes on."""
    start = match.string.rfind("\n", 0, match.start()) + 1
    return "==" if "[" in match.string[max(start, match.start() - 4096) : match.start()] else ".."


def _without_documents(text: str, shown: str, heres: dict[int, Raw | None]) -> str:
    edits: list[tuple[int, int, str]] = []
    for item in here_documents(text):
        sign = _HERE_SIGN.match(shown, item.at)
        if sign is not None:
            edits.append((item.at, sign.end(), " " * (len(sign[0]) - 1) + "<"))
            heres[sign.end() - 1] = _body(text, item)
        hidden = re.sub(r"[^\n]", " ", shown[item.start : item.end])
        edits.append((item.start, item.end, hidden))
    parts: list[str] = []
    position = 0
    for start, end, new in sorted(edits):
        parts += [shown[position:start], new]
        position = end
    return "".join([*parts, shown[position:]])


def _body(text: str, item: HereDocument) -> Raw:
    """Give the text of a here-document, quoted as it is to be expanded."""
    body = text[item.start : item.stop]
    if text.startswith("<<-", item.at):
        body = _LEADING_TABS.sub("", body)
    quoted = "'" + body.replace("'", "'\\''") + "'"
    if item.expands:
        quoted = '"' + body.replace('"', '\\"') + '"'
    return Raw(quoted, item.start)
