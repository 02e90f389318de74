"""`split_post`: the inputs a pasted text holds, each at the lines where it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

import msgspec

from trainrx.inputs.paste.lines import continues
from trainrx.inputs.paste.margin import unwrapped
from trainrx.inputs.paste.markup import FENCE, lines_of
from trainrx.inputs.paste.repair import (
    CODE,
    continued,
    typewritten,
    unprompted,
    unquoted,
)
from trainrx.inputs.paste.segment import PostLine, kinds_of
from trainrx.inputs.paste.signs import PERSONAL, Kind
from trainrx.inputs.wrappers.unwrap import unwrapped_text
from trainrx.model.findings import Unread
from trainrx.model.job import NOTE, Input, InputKind
from trainrx.model.pattern import late

INPUT_KIND: dict[Kind, InputKind] = {
    "prose": "note",
    "script": "script",
    "config": "config",
    "python": "script",
    "env": "env",
    "versions": "versions",
    "log": "log",
}


RepairKind = Literal["signs", "continuation"]
REPAIRED: dict[RepairKind, str] = {
    "signs": "typographic signs were read as the plain ones a shell knows",
    "continuation": "the sign that the command goes on was lost: it was read as if it stood here",
}
LARGEST = 1 << 20
"""Characters of a post; a longer text is a log. Issue trackers and chats take far less."""
MAIN = 0.8
"""Share of the lines of one kind from which on the others only look like something else."""
SENTENCE = late(r"^(?=\S*[A-Za-z]{2})(?:[\w,;:'()/.+=-]+ ){7,}[^ ]*[.!]?$")


class PostPart(NamedTuple):
    """A stretch of lines of one kind."""

    kind: Kind
    lines: tuple[PostLine, ...]

    @property
    def text(self) -> str:
        """Give the text of the part alone."""
        return "\n".join(line.text for line in self.lines).strip("\n")


class LineRepair(msgspec.Struct, frozen=True, kw_only=True):
    """Something copying had done to a line, undone."""

    line: int
    what: RepairKind


class PastedPost(NamedTuple):
    """A post taken apart."""

    parts: tuple[PostPart, ...]
    repairs: tuple[LineRepair, ...]
    unread: tuple[Unread, ...]
    length: int


def split_post(text: str, name: str) -> PastedPost:
    """Take a pasted text apart by structure and content.

    Args:
        text: what was pasted, decoded.
        name: what it is cited by.
    """
    unread: list[Unread] = []
    plain = unwrapped_text(text.replace("\r\n", "\n"))
    lines = unprompted(_quotes_off(plain, name, unread))
    lines = [
        line for _, own in groupby(lines, lambda one: one.block) for line in unwrapped(list(own))
    ]
    parts: list[PostPart] = []
    repairs: list[LineRepair] = []
    for part in _parts(lines, kinds_of(lines)):
        mended, done = _mended(part)
        parts.append(mended)
        repairs += done
    return PastedPost(tuple(parts), tuple(repairs), tuple(unread), plain.count("\n") + 1)


def _quotes_off(text: str, name: str, unread: list[Unread]) -> list[PostLine]:
    """Give the lines of a post, quoted mails and issues as they were before."""
    bare = unquoted([PostLine(at, line) for at, line in enumerate(text.split("\n"), start=1)])
    return lines_of("\n".join(line.text for line in bare), name, unread)


def _parts(lines: Sequence[PostLine], kinds: Sequence[Kind]) -> Iterator[PostPart]:
    marked = zip(lines, kinds, strict=True)
    for (_, kind), run in groupby(marked, lambda pair: (pair[0].block, pair[1])):
        own = tuple(line for line, _ in run)
        if any(line.text.strip() for line in own):
            yield PostPart(kind, own)


def _mended(part: PostPart) -> tuple[PostPart, list[LineRepair]]:
    if part.kind not in CODE:
        return part, []
    lines = [line._replace(text=typewritten(line.text)) for line in part.lines]
    repairs = [
        LineRepair(line=new.number, what="signs")
        for old, new in zip(part.lines, lines, strict=True)
        if old.text != new.text
    ]
    if part.kind == "script":
        lines, lost = continued(lines)
        repairs += [LineRepair(line=number, what="continuation") for number in lost]
        last = max((at for at, line in enumerate(lines) if line.text.strip()), default=0)
        if continues(lines[last].text):
            lines[last] = lines[last]._replace(text=lines[last].text.rstrip()[:-1])
    return PostPart(part.kind, tuple(lines)), repairs


def post_inputs(text: str, name: str) -> tuple[list[Input], list[Unread]] | None:
    """Give what a pasted post holds; None where a text is of one kind as a whole.

    Args:
        text: what was given, decoded.
        name: what it is cited by.
    """
    if len(text) > LARGEST:
        return None
    post = split_post(text, name)
    if FENCE.search(text) is None and not _is_post(post):
        return None
    repaired = [
        Unread(source=name, line=repair.line, reason=REPAIRED[repair.what])
        for repair in post.repairs
    ]
    return list(inputs_of(post, name)), [*post.unread, *repaired]


def _is_post(post: PastedPost) -> bool:
    """Tell a post from a log or a script in which single lines look like something else."""
    size = Counter[Kind]()
    for part in post.parts:
        size[part.kind] += sum(1 for line in part.lines if line.text.strip())
    if not size:
        return False
    # a log has sentences in its midst; a person speaks before or after it
    outer = (post.parts[0], post.parts[-1]) if size["log"] else post.parts
    spoken = [line.text for part in outer if part.kind == "prose" for line in part.lines]
    said = any(PERSONAL.search(text) or SENTENCE.search(text) for text in spoken)
    written = {kind for kind in size if kind != "prose"}
    if len(written) < 2 or written <= {"script", "log"}:
        # a command among the lines of a log is found there
        return said or not written
    _, most = size.most_common(1)[0]
    return said or most < MAIN * size.total()


def inputs_of(post: PastedPost, name: str) -> Iterator[Input]:
    """Give the parts as inputs whose lines keep their numbers: the rest of each is blank.

    Commands and settings of the shell are one script, prose is one note; every other part is an
    input of its own.
    """
    for kind in ("script", "prose", "log", "versions"):
        joined = [part for part in post.parts if part.kind == kind]
        if joined:
            yield _input(INPUT_KIND[kind], joined, name, post.length)
    for part in post.parts:
        if part.kind in ("config", "python", "env"):
            yield _input(INPUT_KIND[part.kind], [part], name, post.length)


def _input(kind: InputKind, parts: Iterable[PostPart], name: str, length: int) -> Input:
    rows = [""] * length
    spans: list[tuple[int, int]] = []
    for part in parts:
        for line in part.lines:
            rows[line.number - 1] = line.text
        filled = [line.number for line in part.lines if line.text.strip()]
        spans.append((filled[0], filled[-1]))
    return Input(
        kind=kind,
        name=NOTE if kind == "note" else name,
        text="\n".join(rows).rstrip("\n") + "\n",
        spans=tuple(spans),
    )
