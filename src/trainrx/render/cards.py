"""A diagnosis as one message of a chat or a forge: short, within its limit, safe to send."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import msgspec

from trainrx.model.result import Diagnosis
from trainrx.render import document as doc
from trainrx.render import document_of
from trainrx.render.document import Document, View
from trainrx.render.formats.markdown import write
from trainrx.render.layout import cut
from trainrx.render.markup import load
from trainrx.render.markup._commonmark import CommonMark
from trainrx.render.redact import masked
from trainrx.sanitizer import media

LENGTHS = (400, 200, 120, 80, 40)
"""Characters of a text, one after the other, where a message would be too long."""


def card(answer: Diagnosis, platform: str, view: View) -> str:
    """Write the short answer as a message of a platform, masked as the view says.

    It keeps within what the platform takes, in the platform's own unit: texts are cut, then what
    stands at the end is left out. The verdict and what to change stand first.

    Args:
        answer: what is said.
        platform: one of `markup.names()`.
        view: the language, what is masked, and whether it is read in a `chat`: where the platform
            is one, it is.
    """
    markup = load(platform)
    view = view._replace(post=True, everything=False, chat=view.chat or markup.chat)
    document = document_of(masked(answer, view.redaction), view)
    shorter = (write(one, view, markup) for one in _shorter(document, markup))
    return next(text for text in map(media.markdown, shorter) if _fits(text, markup))


def _fits(text: str, markup: CommonMark) -> bool:
    return markup.limit is None or markup.size(text) <= markup.limit


def _shorter(document: Document, markup: CommonMark) -> Iterator[Document]:
    """Give a document, then ever shorter ones down to its first line."""
    yield document
    if document.room is not None and markup.limit is not None:
        for size in (markup.limit, markup.limit * 2 // 3):
            yield document._replace(room=doc.Room(document.room.lines, size))
    for most in LENGTHS:
        yield _with_texts(document, most)
    shortest = _with_texts(document, LENGTHS[-1])
    for kept in range(len(shortest.children) - 1, 0, -1):
        yield shortest._replace(children=shortest.children[:kept], tool="")


def _with_texts(document: Document, most: int) -> Document:
    """Give all that can be said at less length at its least, its texts cut."""
    nodes = cast("tuple[doc.Node, ...]", _cut(document.children, most))
    return document._replace(children=nodes, room=doc.Room(0, 0))


def _cut(part: object, most: int) -> object:
    """Cut all texts of a node to so many characters, whatever holds them."""
    if isinstance(part, str):
        return cut(part, most)
    if isinstance(part, msgspec.Struct):
        held = {name: _cut(getattr(part, name), most) for name in part.__struct_fields__}
        return msgspec.structs.replace(part, **held)
    if isinstance(part, tuple):
        items = (_cut(item, most) for item in part)
        return type(part)._make(items) if hasattr(part, "_make") else tuple(items)
    return part
