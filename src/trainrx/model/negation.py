"""Whether the words before a place deny what stands there, in English and Chinese."""

from __future__ import annotations

import re

from trainrx.model.pattern import late

_NEGATION = late(
    r"(?:\b(?:no|not|never|without|cannot|nor|(?:avoid|prevent)\w{0,3}(?! th(?:is|ese)\b)"
    r"|rather than|instead of)"
    r"|n['’]t)\b(?: +(?!(?:and|but|then|yet|until|when|while|after|because|since|so|unless|only"
    r"|why|how|what|where|whether)\b)[\w'/-]{1,20}){0,3} *\Z"
    r"|(?:[没无未]|(?<![对起跑装放塞找连接载训动传存读认打进出收降])不)"
    r"(?:(?:有|会|再|曾|报|是|过|(?P<met>出现|发生|遇到|碰到|看到|发现)) ?){0,3}"
    r"(?:[^，。；,.;]{0,2}|(?(met)[^，。；,.;]{0,12}))\Z"
    r"|(?:避免|防止|以防|以免|免得|杜绝)了?(?!这)[^，。；,.;]{0,4}\Z",
    re.IGNORECASE,
)


_WITHIN = late(
    r"\b(?:no|not|never|without|cannot|nor)\b|n['’]t\b|没有?|未|不(?:再|会|曾|是|慢|卡)",
    re.IGNORECASE,
)
BEFORE = 60
"""Characters before a place in which its denial is looked for."""


def is_denied(text: str, start: int) -> bool:
    """Tell whether the few words before a place deny what begins there.

    Args:
        text: a sentence or a line.
        start: where what is said begins.
    """
    return _NEGATION.search(text, max(0, start - BEFORE), start) is not None


def is_negated(text: str, start: int, end: int) -> bool:
    """Tell whether the few words before a place, or words within it, deny what it says.

    Args:
        text: a sentence or a line.
        start: where what is said begins.
        end: where it ends.
    """
    return is_denied(text, start) or _WITHIN.search(text, start, end) is not None
