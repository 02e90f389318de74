"""Characters that do something, or nothing, instead of being seen."""

from __future__ import annotations

import re

from trainrx.model.pattern import late

# control sequences (CSI), strings (OSC 8, OSC 52, DCS ...) with their end, other escapes
_ANSI = late(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,65536}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b(?:[\[\]PX^_]|[ -/]{0,4}[0-~])?"
)
HIDDEN = (
    # C0 and C1, separators of lines, marks of direction and of interlinear text
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb"
    # without width or ink: soft hyphen, joiners, fillers, invisible operators, musical marks, tags
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u3164\ufeff\uffa0"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""A class of `re`, without its brackets; tabs and line ends are not in it."""
_UNSEEN = late(f"[{HIDDEN}]")
_HIDDEN = late(f"[\t\n\r{HIDDEN}]")
_SELECTOR = late("[\ufe00-\ufe0f]")
_LONE = late("[\ud800-\udfff]")
_SGR = re.compile(r"\x1b\[[0-9;]{1,16}m")
# what runners of GitHub (and Azure, TeamCity) obey wherever it stands in a log: a command of
# `::error::` form begins its line, the older `##[error]` stands anywhere
_COMMAND = late(r"(?m)^([^\S\n]{0,1000}):(?=:[A-Za-z])|(##(?:vso|teamcity)?)(?=\[[A-Za-z])")


def clean(text: str) -> str:
    """Make text safe to show on one line: no escape sequences, no hidden characters."""
    if text.isascii() and text.isprintable():
        return text
    text = _SELECTOR.sub("", _HIDDEN.sub(" ", _ANSI.sub("", text)))
    return _LONE.sub("\ufffd", text)


def tame(text: str) -> str:
    """Make a line of a file safe to show, character for character; tabs stay."""
    return _LONE.sub("\ufffd", "\t".join(_HIDDEN.sub(" ", part) for part in text.split("\t")))


def visible(text: str) -> str:
    """Leave out what is not seen, so that nothing is read apart by it."""
    return _UNSEEN.sub("", _ANSI.sub("", text)) if _UNSEEN.search(text) else text


def unobeyed(text: str) -> str:
    """Break up what a runner of workflows would take for a command."""
    return _COMMAND.sub(lambda m: f"{m[1]}: " if m[2] is None else f"{m[2]} ", text)


def lines(text: str, *, colour: bool = False, keep: str = "") -> str:
    """Make a page safe, line by line.

    Args:
        text: lines that end with a newline.
        colour: whether colours (SGR) may stand in it.
        keep: characters that stay although they are hidden.
    """
    return "\n".join(_line(part, colour=colour, keep=keep) for part in text.split("\n"))


def _line(text: str, *, colour: bool, keep: str) -> str:
    if text.isascii() and text.isprintable():
        return unobeyed(text) if "::" in text or "##" in text else text
    if colour:
        pieces = _SGR.split(text)
        marks = [*_SGR.findall(text), ""]
        return "".join(
            _line(piece, colour=False, keep=keep) + mark
            for piece, mark in zip(pieces, marks, strict=True)
        )
    text = _ANSI.sub("", text)
    kept = {*keep, "\t"}
    text = _HIDDEN.sub(lambda m: m[0] if m[0] in kept else " ", text)
    return unobeyed(_LONE.sub("\ufffd", text))
