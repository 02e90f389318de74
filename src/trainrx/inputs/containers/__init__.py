"""What one content gives: itself, as an input of one kind, or the several inputs it contains.

Each module here reads one form of container (a pasted post, a notebook ...) and is found by its
place. It has

    CERTAIN: whether the form leaves no doubt, so that it counts whatever the user says it is,
        binary or not; else it is tried on text alone, where the user said nothing
    contained(content) -> Found | None: the inputs in it, None where it is no such container

and imports what it needs to read one only then: each is asked about everything that is given. What
cannot be used of a container goes to its `unread` with the line; it raises nothing. An input that
stands in a part of its source says so in `Input.spans`.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from typing import Protocol, cast

from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.content import PACKED, Content, Found
from trainrx.inputs.encoding import looks_binary
from trainrx.inputs.recognise import recognise
from trainrx.model.errors import NoInputError, UnknownContentError, UsageError
from trainrx.model.findings import Unread
from trainrx.model.job import Input, InputKind

NO_INPUT = "is Python source or a data set, expected a log, a launch script or a configuration"
STREAMED: tuple[InputKind, ...] = ("log", "metrics")


class Container(Protocol):
    """A module that reads one form of container."""

    CERTAIN: bool

    def contained(self, content: Content) -> Found | None:
        """Give the inputs of a container; None where it is none."""


EMPTY = "is empty or blank. Check that it is the right file and was written to"


def read_member(member: tuple[str, bytes], budget: ReadingBudget, *, pasted: bool = False) -> Found:
    """Read a part of something else by name and bytes; what is wrong is noted, not raised.

    Args:
        member: its name and bytes.
        budget: that of what it is a part of.
        pasted: whether the user said that it is a post.
    """
    name, data = member
    inner = budget.inside()
    if inner.depth > inner.limits.nested:
        reason = f"lies in more than {inner.limits.nested} archives and mails: not read"
        return [], [Unread(source=name, reason=reason)]
    content = Content(name, data=data, pasted=pasted, budget=inner)
    try:
        return read_content(content) if data.strip() else ([], [])
    except UnknownContentError as error:
        lost = [Unread(source=name, reason=PACKED)] if content.why_unreadable == PACKED else []
        return list(error.others), lost
    except UsageError as error:
        return [], reasons(error, name)


def reasons(error: UsageError, name: str) -> list[Unread]:
    """Say why something that was come upon is of no use.

    Empty files (most of what torchrun leaves per rank) are no loss.
    """
    reason = str(error).removeprefix(f"{name}: ").removesuffix(".")
    return [] if reason == EMPTY else [Unread(source=name, reason=reason)]


def read_content(content: Content, kind: InputKind | None = None) -> Found:
    """Recognise a content and give its inputs.

    Args:
        content: what is to be read.
        kind: what the user said it is.

    Raises:
        UnknownContentError: it is none of the inputs that are read.
    """
    for container in _containers(certain=True):
        if (found := container.contained(content)) is not None:
            return found[0], [*content.unread, *found[1]]
    if looks_binary(content.sample):
        why = content.why_unreadable
        raise UnknownContentError(f"{content.name}: {why}.", [_as_other(content, why)])
    for container in _containers(certain=False) if kind is None else ():
        if (found := container.contained(content)) is not None:
            return found[0], [*content.unread, *found[1]]
    return [_whole(content, kind)], content.unread


@lru_cache(maxsize=2)
def _containers(*, certain: bool) -> tuple[Container, ...]:
    """Give the readers of forms that leave no doubt, or of the others."""
    with os.scandir(__path__[0]) as entries:
        names = sorted(entry.name.partition(".")[0] for entry in entries)
    modules = [name for name in names if not name.startswith("__")]
    found = [cast("Container", import_module(f"{__name__}.{name}")) for name in modules]
    return tuple(container for container in found if container.CERTAIN is certain)


def _whole(content: Content, kind: InputKind | None) -> Input:
    """Take a content as one input."""
    said = _kind(content, kind)
    if said is None:
        other = _as_other(content, NO_INPUT)
        raise NoInputError(f"{content.name}: {NO_INPUT}.", [other])
    if said == "log" and kind is None and content.is_plain:
        content.budget.left.plain -= len(content.sample)
    if said in STREAMED and content.path is not None:
        sharing = content.budget.sharing
        return Input(kind=said, name=content.name, path=content.path, sharing=sharing)
    if said in STREAMED and content.is_large:
        return Input(kind=said, name=content.name, data=content.data)
    text = _lines(content.text, said)
    return Input(kind=said, name=content.name, path=content.path, text=text)


def _as_other(content: Content, why: str) -> Input:
    data = None if content.path is not None else content.data
    return Input(kind="other", name=content.name, path=content.path, data=data, why=why)


def _kind(content: Content, said: InputKind | None) -> InputKind | None:
    """Take the user's word for what an input is, but for metrics: they are not read as a log."""
    if said not in (None, "log"):
        return said
    # what is in memory is recognised as a whole: an object that its head cuts is one all the same
    from_head = content.path is not None or content.is_large
    seen = recognise(content.head if from_head else content.text)
    return seen if said is None or seen == "metrics" else said


def _lines(text: str, kind: InputKind) -> str:
    r"""Make `\r\n` a plain line end, but not in a script: there it is a defect to be told."""
    return text if kind == "script" else text.replace("\r\n", "\n")
