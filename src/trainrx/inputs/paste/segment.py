"""Lines into parts: the most plausible chain of kinds (Viterbi), where changing the kind costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainrx.inputs.paste.lines import KINDS, NOTHING, LineForm, form
from trainrx.inputs.paste.signs import FRAME, MACHINE_NAME, PERSONAL, PRINTED, Kind
from trainrx.model.pattern import late

SWITCH = 2.5
"""Cost of another kind than that of the line before, nats."""
SWITCH_AFTER_BLANK = 1.0
SPLIT_COMMAND = 20.0
"""Cost of anything but the command behind a line that is continued."""
CONTINUATION = 5.0
"""What a line that goes on says of the next one for a command."""
CODE_OF_FRAME = 8.0
"""What a frame of a traceback says of the indented line below it for a log."""
SHELL_VARIABLE = 3.0
"""What it says of an assignment for the shell that its variable is referred to."""
IN_LITERAL = 5.0
"""What the beginning of a dictionary (`config = {`) or a call says of its lines for Python."""
LIKE_OUTPUT: tuple[Kind, ...] = ("prose", "config", "python")
"""What a program may print behind a line of its log; a list of versions says what it is."""
STAYS = [True] * len(KINDS)
_REFERENCE = late(r"\$\{?([A-Za-z_]\w{0,60})")
_ASSIGNED = late(r"\s*([A-Za-z_]\w{0,60})=")
_LITERAL = late(r"(\s*)(?:[\w.]+ ?= ?\{[^}]*|(?:[\w.]+ ?= ?)?[A-Za-z_][\w.]*\()$")
_LITERAL_END = late(r"(\s*)[})]")
_PROSE, _SCRIPT, _LOG = KINDS.index("prose"), KINDS.index("script"), KINDS.index("log")
_PYTHON = KINDS.index("python")


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


class PostPart(NamedTuple):
    """A stretch of lines of one kind."""

    kind: Kind
    lines: tuple[PostLine, ...]

    @property
    def text(self) -> str:
        """Give the text of the part alone."""
        return "\n".join(line.text for line in self.lines).strip("\n")


def kinds_of(lines: Sequence[PostLine]) -> list[Kind]:
    """Tell the kind of each line; blank lines are of the kind around them."""
    return _printed_whole(lines, [KINDS[at] for at in _path(*_chain(lines))])


def _chain(lines: Sequence[PostLine]) -> tuple[list[float], list[tuple[int, list[bool]]]]:
    """Give the weight of the best chain that ends in each kind, and how each line was come to."""
    best = [0.0] * len(KINDS)
    back: list[tuple[int, list[bool]]] = []
    before = NOTHING
    block: int | None = None
    blank = False
    for line, found, alone in _weighed(lines):
        top = best.index(max(best))
        if found is NOTHING:
            blank, before = True, NOTHING
            back.append((top, STAYS))
            continue
        same = line.block == block
        own = _behind(before, line.text, alone) if same else alone
        floor = best[top] - (0.0 if not same else SWITCH_AFTER_BLANK if blank else SWITCH)
        if same and before.continued and top == _SCRIPT:
            floor = best[top] - SPLIT_COMMAND
        stays = [one >= floor for one in best]
        best = [(max(one, floor)) + more for one, more in zip(best, own, strict=True)]
        back.append((top, stays))
        blank = False
        before, block = found, line.block
    return best, back


def _weighed(lines: Sequence[PostLine]) -> Iterator[tuple[PostLine, LineForm, list[float]]]:
    """Give each line with its form and its weights; a line that comes again is weighed once."""
    shell = {name for line in lines if "$" in line.text for name in _REFERENCE.findall(line.text)}
    literal = frozenset(_in_literals(lines))
    known: dict[str, tuple[LineForm, list[float]]] = {}
    for line in lines:
        if line.text not in known:
            found = form(line.text)
            own = [found.scores[kind] for kind in KINDS]
            assigned = _ASSIGNED.match(line.text) if shell else None
            if assigned is not None and assigned[1] in shell:
                own[_SCRIPT] += SHELL_VARIABLE
            known[line.text] = found, own
        found, own = known[line.text]
        if line.hints and found is not NOTHING:
            own = _hinted(line, own)
        if line.number in literal:
            own = [*own]
            own[_PYTHON] += IN_LITERAL
        yield line, found, own


def _in_literals(lines: Sequence[PostLine]) -> Iterator[int]:
    """Give the numbers of lines that stand in a dictionary or a call of a program."""
    depth, block = -1, -1
    framed = False
    for line in lines:
        text = line.text
        if line.block != block or PRINTED.match(text):
            depth = -1
        block = line.block
        opened = _LITERAL.match(text) if depth < 0 and not framed else None
        depth = len(opened[1]) if opened is not None else depth
        if depth >= 0:
            yield line.number
        ends = _LITERAL_END.match(text) if depth >= 0 and opened is None else None
        depth = -1 if ends is not None and len(ends[1]) <= depth else depth
        framed = FRAME.match(text) is not None


def _hinted(line: PostLine, own: Sequence[float]) -> list[float]:
    """Add what fence and heading say; sentences that stand in a fence were printed."""
    out = [one + line.hints.get(kind, 0.0) for one, kind in zip(own, KINDS, strict=True)]
    if line.hints.get("prose", 0.0) < 0.0 and not PERSONAL.search(line.text):
        out[_LOG] += max(0.0, own[_PROSE]) / 2
    return out


def _behind(before: LineForm, text: str, own: list[float]) -> list[float]:
    """Weigh a line with what the one above it says of it."""
    if not (before.continued or before.frame):
        return own
    out = list(own)
    out[_SCRIPT] += CONTINUATION if before.continued else 0.0
    out[_LOG] += CODE_OF_FRAME if before.frame and text[:1].isspace() else 0.0
    return out


def _path(best: Sequence[float], back: Sequence[tuple[int, Sequence[bool]]]) -> list[int]:
    if not back:
        return []
    kind = max(range(len(KINDS)), key=lambda at: best[at])
    path = [kind]
    for top, stays in reversed(back[1:]):
        kind = kind if stays[kind] else top
        path.append(kind)
    return path[::-1]


def _printed_whole(lines: Sequence[PostLine], kinds: Sequence[Kind]) -> list[Kind]:
    """Take what stands between lines of a log, or right behind one, for the log's own.

    Programs print configurations, tables and sentences; a person says what comes next.
    """
    out = list(kinds)
    last: int | None = None
    for at, (line, kind) in enumerate(zip(lines, kinds, strict=True)):
        if last is not None and line.block != lines[last].block:
            last = None
        if not line.text.strip():
            continue
        if kind == "log":
            if last is not None and not _is_said(lines[last + 1 : at], kinds[last + 1 : at]):
                out[last + 1 : at] = ["log"] * (at - last - 1)
            elif last != at - 1:
                _printed_above(lines, out, at)
            last = at
        elif last == at - 1 and kind in LIKE_OUTPUT and not _introduces(line):
            out[at] = "log"
            last = at
    return out


def _printed_above(lines: Sequence[PostLine], kinds: list[Kind], at: int) -> None:
    """Take the line right above a log for its first where it speaks like a program."""
    above = lines[at - 1]
    if at and above.block == lines[at].block and kinds[at - 1] == "prose":
        printed = MACHINE_NAME.search(above.text) and not _introduces(above)
        kinds[at - 1] = "log" if printed else "prose"


def _is_said(lines: Sequence[PostLine], kinds: Sequence[Kind]) -> bool:
    """Tell whether somebody says or does something in some lines."""
    pairs = zip(lines, kinds, strict=True)
    return any(kind == "script" or (kind == "prose" and _introduces(line)) for line, kind in pairs)


def _introduces(line: PostLine) -> bool:
    return PERSONAL.search(line.text) is not None or line.text.rstrip().endswith((":", "："))
