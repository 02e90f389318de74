"""Whether the words before a place deny what stands there, in English and Chinese."""

from __future__ import annotations

import re

from trainrx.model.pattern import late

_NEGATION = late(
    r"(?:\b(?:no|not|never|without|cannot|nor|avoid\w{0,3}|prevent\w{0,3}|rather than|instead of)"
    r"|n['’]t)\b(?: +[\w'/-]{1,20}){0,3} *\Z"
    r"|[不没无未](?:有|会|再|曾|出现|发生|报|是)?[^，。；,.;]{0,2}\Z",
    re.IGNORECASE,
)


_WITHIN = late(
    r"\b(?:no|not|never|without|cannot|nor)\b|n['’]t\b|没有?|未|不(?:再|会|曾|是)", re.IGNORECASE
)


def is_negated(text: str, start: int, end: int) -> bool:
    """Tell whether the few words before a place, or words within it, deny what it says.

    Args:
        text: a sentence or a line.
        start: where what is said begins.
        end: where it ends.
    """
    before = _NEGATION.search(text, max(0, start - 60), start)
    return before is not None or _WITHIN.search(text, start, end) is not None
