"""Lines into parts: the most plausible chain of kinds (Viterbi), where changing the kind costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trainrx.inputs.paste.lines import KINDS, Kind, form

SWITCH = 2.5
"""Cost of another kind than that of the line before, nats."""
SWITCH_AFTER_BLANK = 1.0
SPLIT_COMMAND = 20.0
"""Cost of anything but the command behind a line that is continued."""


class PostLine(NamedTuple):
    """A line of a post.

    Attributes:
        number: of the line in the post, from 1.
        text: what stands there, marks of quotation and prompts taken off.
        block: which fence or stretch of free text it belongs to; a kind ends where a block does.
        hints: what the fence, its language or the heading above says of the kind, nats.
    """

    number: int
    text: str
    block: int = 0
    hints: Mapping[Kind, float] = {}


def kinds_of(lines: Sequence[PostLine]) -> list[Kind]:
    """Tell the kind of each line; blank lines are of the kind around them."""
    best: dict[Kind, float] = {}
    back: list[dict[Kind, Kind]] = []
    before = ""
    blank = continued = False
    block: int | None = None
    for line in lines:
        same = line.block == block
        found = form(line.text, before if same else "")
        switch = 0.0 if not same else SWITCH_AFTER_BLANK if blank else SWITCH
        best, came = _step(best, found.scores, line.hints, switch, held=same and continued)
        back.append(came)
        blank = not line.text.strip()
        continued = found.continued
        before, block = line.text, line.block
    return _path(best, back)


def _step(
    best: Mapping[Kind, float],
    scores: Mapping[Kind, float],
    hints: Mapping[Kind, float],
    switch: float,
    *,
    held: bool,
) -> tuple[dict[Kind, float], dict[Kind, Kind]]:
    """Go one line on; `held`: the line before is a command that is continued."""
    own = {kind: scores[kind] + hints.get(kind, 0.0) for kind in KINDS}
    if not best:
        return own, {}
    top = max(KINDS, key=lambda kind: best[kind])
    now: dict[Kind, float] = {}
    came: dict[Kind, Kind] = {}
    for kind in KINDS:
        leave = SPLIT_COMMAND if held and top == "script" and kind != "script" else switch
        stays = best[kind] >= best[top] - leave
        came[kind] = kind if stays else top
        now[kind] = own[kind] + (best[kind] if stays else best[top] - leave)
    return now, came


def _path(best: Mapping[Kind, float], back: Sequence[Mapping[Kind, Kind]]) -> list[Kind]:
    if not best:
        return []
    kind = max(KINDS, key=lambda one: best[one])
    path = [kind]
    for came in reversed(back[1:]):
        kind = came[kind]
        path.append(kind)
    return path[::-1]
