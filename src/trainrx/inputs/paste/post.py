"""`split_post`: the inputs a pasted text holds, each at the lines where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from trainrx.inputs.paste.margin import unwrapped
from trainrx.inputs.paste.marks import unmarked
from trainrx.inputs.paste.markup import lines_of
from trainrx.inputs.paste.prompts import unprompted
from trainrx.inputs.paste.repair import CODE, mended, plain_text
from trainrx.inputs.paste.segment import PostLine, PostPart, kinds_of
from trainrx.inputs.paste.signs import Kind
from trainrx.inputs.paste.whole import is_post
from trainrx.inputs.recognise import is_manifest
from trainrx.inputs.wrappers.unwrap import unwrapped_text
from trainrx.model.findings import NO_IMAGE, Unread
from trainrx.model.job import NOTE, Input, InputKind, LineRepair

INPUT_KIND: dict[Kind, InputKind] = {
    "prose": "note",
    "script": "script",
    "config": "config",
    "python": "script",
    "env": "env",
    "versions": "versions",
    "log": "log",
}

ONLY_IMAGES = "what was printed is only shown as an image, which cannot be read: paste it as text"
LARGEST = 1 << 17
MOST_LINES = 6000
"""Characters and lines up to which all of a post is looked at; issue trackers take less."""
KEPT, KEPT_LINES = 1 << 15, 2000
"""Characters and lines at either end of a longer one that are."""


class LeftOut(NamedTuple):
    """The midst of a long text, a log unseen; `line`: the one before it, `lines`: their number."""

    line: int = 0
    lines: int = 0
    text: str = ""


class PastedPost(NamedTuple):
    """A post taken apart.

    Attributes:
        text: what was, without the wrapping of logs in it and without what is left out.
        parts: what it holds; lines are numbered without what is left out.
        repairs: what copying had done.
        unread: what of it cannot be used.
        left_out: the midst, where the text is long.
    """

    text: str
    parts: tuple[PostPart, ...]
    repairs: tuple[LineRepair, ...]
    unread: tuple[Unread, ...]
    left_out: LeftOut = LeftOut()

    def number(self, line: int) -> int:
        """Give the number of a line in what was pasted."""
        return line if line <= self.left_out.line else line + self.left_out.lines


def split_post(text: str, name: str) -> PastedPost:
    """Take a pasted text apart by structure and content.

    Args:
        text: what was pasted, decoded.
        name: what it is cited by.
    """
    unread: list[Unread] = []
    plain, left_out = _shortened(unwrapped_text(text.replace("\r\n", "\n")))
    numbered = [PostLine(at, line) for at, line in enumerate(plain.split("\n"), start=1)]
    bare, diffs = unmarked(numbered)
    read = lines_of("\n".join(line.text for line in bare), name, unread)
    clean, repairs = plain_text(read)
    lines: list[PostLine] = []
    for _, own in groupby(unprompted(clean), lambda one: one.block):
        whole, joined = unwrapped(list(own))
        lines += whole
        repairs += [LineRepair(line=number, what="margin") for number in joined]
    repairs += [LineRepair(line=number, what="diff") for number in diffs]
    parts: list[PostPart] = []
    for part in _parts(lines, kinds_of(lines)):
        own_lines, done = mended(part.kind, part.lines)
        parts.append(PostPart(part.kind, tuple(own_lines)))
        repairs += done
    mends = tuple(_of_code(repairs, parts))
    return PastedPost(plain, tuple(parts), mends, tuple(unread), left_out)


def _shortened(text: str) -> tuple[str, LeftOut]:
    """Leave out the midst of a long text: people speak before and behind what was printed."""
    if len(text) <= LARGEST and text.count("\n") <= MOST_LINES:
        return text, LeftOut()
    start = len("\n".join(text[:KEPT].split("\n")[:KEPT_LINES]))
    stop = max(start, len(text) - len("\n".join(text[-KEPT:].split("\n")[-KEPT_LINES:])))
    start, stop = text.find("\n", start) + 1, text.rfind("\n", 0, stop) + 1
    if not 0 < start < stop:  # a line that long is none of a person
        return text[:LARGEST], LeftOut()
    midst = text[start:stop]
    return text[:start] + text[stop:], LeftOut(text.count("\n", 0, start), midst.count("\n"), midst)


def _of_code(repairs: Iterable[LineRepair], parts: Iterable[PostPart]) -> Iterator[LineRepair]:
    """Give the repairs of lines of code in order: of what is read as words nobody asks."""
    code = {line.number for part in parts if part.kind in CODE for line in part.lines}
    wanted = {
        (one.line, one.what): one for one in repairs if one.line in code or one.what == "diff"
    }
    return (wanted[key] for key in sorted(wanted))


def _parts(lines: Sequence[PostLine], kinds: Sequence[Kind]) -> Iterator[PostPart]:
    marked = zip(lines, kinds, strict=True)
    for (_, kind), run in groupby(marked, lambda pair: (pair[0].block, pair[1])):
        own = tuple(line for line, _ in run)
        if any(line.text.strip() for line in own):
            yield PostPart(kind, own)


def post_inputs(
    text: str, name: str, *, forced: bool = False
) -> tuple[list[Input], list[Unread]] | None:
    """Give what a pasted post holds; None where a text is of one kind as a whole.

    Args:
        text: what was given, decoded.
        name: what it is cited by.
        forced: whether it is a post, whatever it looks like.
    """
    post = split_post(text, name)
    if not (forced or is_post(post.text, post.parts)):
        return None
    unread = [
        msgspec.structs.replace(item, line=item.line and post.number(item.line))
        for item in (*_only_shown(post, name), *post.unread)
    ]
    return list(inputs_of(post, name)), unread


def _only_shown(post: PastedPost, name: str) -> Iterator[Unread]:
    """Name a failure that is only shown as an image."""
    kinds = {part.kind for part in post.parts}
    if "log" not in kinds and any(item.reason == NO_IMAGE for item in post.unread):
        yield Unread(source=name, reason=ONLY_IMAGES)


def inputs_of(post: PastedPost, name: str) -> Iterator[Input]:
    """Give the parts as inputs whose lines keep their numbers: the rest of each is blank.

    Commands and settings of the shell are one script, Python is one program, prose is one note;
    each configuration and each list of variables is an input of its own.
    """
    kinds: tuple[Kind, ...] = ("script", "python", "prose", "log", "versions")
    for kind in kinds:
        joined = [part for part in post.parts if part.kind == kind]
        if joined or (kind == "log" and post.left_out.text):
            yield _input(kind, joined, post, name)
    for part in post.parts:
        if part.kind in ("config", "env"):
            made = _input(part.kind, [part], post, name)
            # a manifest reads like a configuration, and starts a job
            starts = part.kind == "config" and is_manifest(made.text or "")
            yield msgspec.structs.replace(made, kind="script") if starts else made


def _input(kind: Kind, parts: Sequence[PostPart], post: PastedPost, name: str) -> Input:
    numbers = {line.number for part in parts for line in part.lines}
    spans = [_span(part, post) for part in parts]
    left_out = post.left_out
    printed = kind == "log"
    if printed and left_out.lines:
        spans = sorted((*spans, (left_out.line + 1, left_out.line + left_out.lines)))
    return Input(
        kind=INPUT_KIND[kind],
        name=NOTE if kind == "prose" else name,
        text=_text(parts, post, printed=printed),
        spans=tuple(spans),
        repairs=tuple(
            LineRepair(line=post.number(one.line), what=one.what)
            for one in post.repairs
            if one.line in numbers
        ),
        format="python" if kind == "python" else "",
    )


def _text(parts: Iterable[PostPart], post: PastedPost, *, printed: bool) -> str:
    """Give the text of some parts, each line where it stands in what was pasted."""
    rows = [""] * (post.text.count("\n") + 1)
    for part in parts:
        for line in part.lines:
            rows[line.number - 1] = line.text
    left_out = post.left_out
    before = "".join(f"{row}\n" for row in rows[: left_out.line])
    behind = "\n".join(rows[left_out.line :]).rstrip("\n")
    midst = left_out.text if printed else "\n" * left_out.lines if behind else ""
    return (before + midst + behind).rstrip("\n") + "\n"


def _span(part: PostPart, post: PastedPost) -> tuple[int, int]:
    filled = [line.number for line in part.lines if line.text.strip()]
    return post.number(filled[0]), post.number(filled[-1])
