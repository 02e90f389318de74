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
LARGEST = 1 << 20
"""Characters of a post; a longer text is a log. Issue trackers and chats take far less."""


class PastedPost(NamedTuple):
    """A post taken apart; `text`: what was, without the wrapping of logs in it."""

    text: str
    parts: tuple[PostPart, ...]
    repairs: tuple[LineRepair, ...]
    unread: tuple[Unread, ...]


def split_post(text: str, name: str) -> PastedPost:
    """Take a pasted text apart by structure and content.

    Args:
        text: what was pasted, decoded.
        name: what it is cited by.
    """
    unread: list[Unread] = []
    plain = unwrapped_text(text.replace("\r\n", "\n"))
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
    return PastedPost(plain, tuple(parts), tuple(_of_code(repairs, parts)), tuple(unread))


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
    if len(text) > LARGEST:
        return None
    post = split_post(text, name)
    if not (forced or is_post(post.text, post.parts)):
        return None
    inputs = list(inputs_of(post, name))
    return inputs, [*_only_shown(post, name), *post.unread]


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
        if joined:
            yield _input(kind, joined, post, name)
    for part in post.parts:
        if part.kind in ("config", "env"):
            made = _input(part.kind, [part], post, name)
            # a manifest reads like a configuration, and starts a job
            starts = part.kind == "config" and is_manifest(made.text or "")
            yield msgspec.structs.replace(made, kind="script") if starts else made


def _input(kind: Kind, parts: Sequence[PostPart], post: PastedPost, name: str) -> Input:
    rows = [""] * (post.text.count("\n") + 1)
    for part in parts:
        for line in part.lines:
            rows[line.number - 1] = line.text
    numbers = {line.number for part in parts for line in part.lines}
    return Input(
        kind=INPUT_KIND[kind],
        name=NOTE if kind == "prose" else name,
        text="\n".join(rows).rstrip("\n") + "\n",
        spans=tuple(map(_span, parts)),
        repairs=tuple(one for one in post.repairs if one.line in numbers),
        format="python" if kind == "python" else "",
    )


def _span(part: PostPart) -> tuple[int, int]:
    filled = [line.number for line in part.lines if line.text.strip()]
    return filled[0], filled[-1]
