"""Whether the words before a place deny what stands there, in English and Chinese."""

from __future__ import annotations

import re

from trainrx.model.pattern import late

_NEGATION = late(
    r"(?:\b(?:no|not|never|without|cannot|nor|avoid\w{0,3}|prevent\w{0,3}|rather than|instead of)"
    r"|n['’]t)\b(?: +(?!(?:and|but|then|yet|until|when|while|after)\b)[\w'/-]{1,20}){0,3} *\Z"
    r"|[不没无未](?:有|会|再|曾|出现|发生|遇到|碰到|看到|发现|报|是)?[^，。；,.;]{0,2}\Z"
    r"|(?:避免|防止|以防|以免|免得|杜绝|解决)了?[^，。；,.;]{0,4}\Z",
    re.IGNORECASE,
)


_WITHIN = late(
    r"\b(?:no|not|never|without|cannot|nor)\b|n['’]t\b|没有?|未|不(?:再|会|曾|是)", re.IGNORECASE
)


_ONCE = late(
    r"(?:\b(?:used to|previously|formerly)\b|之前|以前|原来|原先|曾经)[^，。；,.;!?！？]{0,60}\Z",
    re.IGNORECASE,
)
_OVER = late(
    r"\b(?:(?:is|are|was|were|been|got|now|already) (?:solved|fixed|resolved|gone)"
    r"|works? (?:fine )?now|(?:solved|fixed|resolved|cured) (?:it|this|that))\b"
    r"|(?:已经?|现在)(?:都|就)?(?:解决|好了|正常|没事|恢复|不再)|解决了|恢复正常",
    re.IGNORECASE,
)
_GONE = late(
    r"[^.;,，。；]{0,24}\b(?:is|are|was|were|been) (?:now |already )?"
    r"(?:gone|over|solved|fixed|resolved)\b"
    r"|[^，。；没未不]{0,6}(?:解决了?|消失了?|没了|不见了)(?:$|[，。；])",
    re.IGNORECASE,
)
REACH = 160
"""Characters behind what is said in which its end may be told."""


def is_negated(text: str, start: int, end: int) -> bool:
    """Tell whether the few words before a place, or words within it, deny what it says.

    So do words right behind it that end it ("the slowdown is gone"), and so does a past that words
    further behind end ("it used to hang, X fixed it", "之前会卡住，已经好了").

    Args:
        text: a sentence or a line.
        start: where what is said begins.
        end: where it ends.
    """
    before = _NEGATION.search(text, max(0, start - 60), start)
    if before is not None or _WITHIN.search(text, start, end) is not None:
        return True
    if _GONE.match(text, end) is not None:
        return True
    once = _ONCE.search(text, max(0, start - 60), end)
    return once is not None and _OVER.search(text, end, end + REACH) is not None
