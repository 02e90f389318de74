"""Lines that mails, terminals and editors broke at a margin, made whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from trainrx.inputs.paste.lines import HAN, continues
from trainrx.inputs.paste.segment import PostLine
from trainrx.inputs.paste.signs import PIN, PRINTED, SETTING, STAMPED, SYSTEM
from trainrx.model.pattern import late

NARROWEST, WIDEST = 60, 160
"""Columns at which programs break lines when they are copied or sent."""
USUAL = range(70, 81)
"""Where mails and terminals break lines: one that is broken amid a sentence is enough."""
CUT = 3
"""Lines broken at the very same column that are no chance: a terminal cut them, be it in a word."""
ENDS = (".", "!", "?", ":", ";", "。", "！", "？", "：", "；")
BROKEN = 0.5
"""Share of the full lines that must go on in the next one."""
ALIKE = 10
"""Characters at the beginning of two lines that make them rows of one list."""
LABEL = 40
"""Characters of a line that introduces what stands below it."""
_OWN = late(
    r"[-*+] |#|\"[\w.@/-]+\"\s*:|export |[A-Z][A-Z0-9_]{2,}=|--?[A-Za-z]|import \w|>>>|\$ |```|~~~"
    r"|from [\w.]+ import |[\[{]|\(\w+\) ?\w+@|Package +Version|\|"
)
"""How a line of its own begins."""


class Margin(NamedTuple):
    """Where lines were broken; `hard`: at the column itself, be it within a word."""

    width: int
    hard: bool


def unwrapped(lines: Sequence[PostLine]) -> tuple[list[PostLine], list[int]]:
    """Join lines that were broken at a margin, where a whole block was.

    Returns:
        The lines, what stood in a further one blank there, and the numbers of those made whole.
    """
    margin = _margin([line.text for line in lines])
    if margin is None:
        return list(lines), []
    out: list[PostLine] = []
    whole: set[int] = set()
    first, before = 0, ""
    for at, line in enumerate(lines):
        if at and _goes_on(before, line.text, margin.width):
            joint = _joint(before, line.text, margin)
            out[first] = out[first]._replace(
                text=f"{out[first].text.rstrip()}{joint}{line.text.strip()}"
            )
            out.append(line._replace(text=""))
            whole.add(out[first].number)
        else:
            first = at
            out.append(line)
        before = line.text
    return out, sorted(whole)


def _margin(texts: Sequence[str]) -> Margin | None:
    """Give the margin at which lines were broken; None where they were not."""
    filled = [text for text in texts if text.strip()]
    width = max(map(len, filled), default=0)
    if width not in USUAL:  # a word may be longer than the margin
        width = max((len(text) for text in filled if " " in text.strip()), default=0)
    if not NARROWEST <= width <= WIDEST:
        return None
    full = [(one, two) for one, two in pairwise(filled) if _is_full(one, two, width)]
    broken = [one for one, two in full if _goes_on(one, two, width)]
    amid = sum(not one.rstrip().endswith(ENDS) for one in broken)
    if amid < (1 if width in USUAL else 2) or len(broken) < BROKEN * len(full):
        return None
    hard = len(broken) >= CUT and all(len(one) >= width for one in broken)
    return Margin(width, hard=hard)


def _is_full(before: str, text: str, width: int) -> bool:
    """Tell whether the first word of a line had no room in the line above."""
    return len(before.rstrip()) + 1 + len(text.split(None, 1)[0]) > width


def _goes_on(before: str, text: str, width: int) -> bool:
    """Tell whether a line goes on in the next, which begins nothing of its own."""
    if not before.strip() or not text.strip() or len(before) > width or continues(before):
        return False
    if text[:1].isspace():
        # cut right before a space
        return len(before) == width and text[:1] == " " and text[1:2] != " "
    if text[:ALIKE] == before[:ALIKE] or (HAN.match(text) and not HAN.search(before)):
        return False
    return _is_full(before, text, width) and not _begins(text)


def _begins(text: str) -> bool:
    bare = text.rstrip()
    if len(bare) <= LABEL and bare.endswith((":", "：")):
        return True
    return any(sign.match(text) for sign in (_OWN, PRINTED, STAMPED, SETTING, SYSTEM, PIN))


def _joint(before: str, text: str, margin: Margin) -> str:
    """Give what stood where a line was broken: nothing within a word, else a space."""
    if len(before) < margin.width or before[-1:].isspace() or text[:1].isspace():
        return " "
    if margin.hard:
        return ""
    word = len(before.rsplit(maxsplit=1)[-1]) + len(text.split(None, 1)[0])
    return "" if word > margin.width and not before.endswith(",") else " "
