"""How text leaves: one function for each medium, the last thing that is done to it."""

from __future__ import annotations

import re

from trainrx.model.pattern import late
from trainrx.sanitizer import controls

BREAKER = "\u200b"
"""A zero-width space, put into Markdown on purpose: it splits mentions."""
_IN_STRINGS = late(f"[{controls.HIDDEN}\ufe00-\ufe0f\ud800-\udfff]")
_OUTSIDE = frozenset("\n\t\r")
_OBEYED = late(r"(?m)(^[^\S\n]{0,1000}|##(?:vso|teamcity)?)((?<=#)\[|:(?=:[A-Za-z])|(?<=[oy])\[)")
_NO_XML = late("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


def terminal(text: str, *, colour: bool = False) -> str:
    """Give a page for a terminal or a log: nothing in it but what is seen is obeyed."""
    return controls.lines(text, colour=colour)


def markdown(text: str) -> str:
    """Give Markdown for a post or a log."""
    return controls.lines(text, keep=BREAKER)


def json(text: str) -> str:
    r"""Give JSON that means the same and can be shown.

    What is hidden, and what a runner of workflows would obey, is escaped (`\u202e`).
    """
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        text = _IN_STRINGS.sub(_escaped, text)
    return text.replace("##[", r"##\u005b") if "##[" in text else text


def xml(text: str) -> str:
    """Give XML that means the same and can be shown, without the characters it has no place for."""
    text = _IN_STRINGS.sub(_referred, _NO_XML.sub("", text))
    return _OBEYED.sub(lambda match: f"{match[1]}&#{ord(match[2])};", text)


def annotation(text: str) -> str:
    """Give the message of a workflow command, of several lines if need be."""
    page = "\n".join(controls.clean(line) for line in text.splitlines())
    return controls.unobeyed(page).replace("%", "%25").replace("\n", "%0A")


def annotation_property(text: str) -> str:
    """Give the value of a property of a workflow command: a file name, a title."""
    return annotation(text).replace(":", "%3A").replace(",", "%2C")


def editor(text: str) -> str:
    """Give a message of an editor's list, in one line."""
    return controls.clean(text)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if char in _OUTSIDE:
        return char
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(rf"\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _referred(match: re.Match[str]) -> str:
    return match[0] if match[0] in _OUTSIDE else f"&#x{ord(match[0]):x};"
