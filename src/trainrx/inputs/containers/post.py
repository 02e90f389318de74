"""A pasted post: an issue, a chat, a scroll-back."""

from __future__ import annotations

from trainrx.inputs.content import Content, Found
from trainrx.inputs.paste.whole import may_be_post
from trainrx.model.job import Input

CERTAIN = False


def contained(content: Content) -> Found | None:
    """Take a pasted post apart; None where a text is of one kind as a whole."""
    if not content.pasted and not may_be_post(content.head, content.end):
        return None
    # most starts read no post
    from trainrx.inputs.paste.post import post_inputs

    if not content.is_streamed:
        return post_inputs(content.text, content.name, forced=content.pasted)
    found = post_inputs(content.head, content.name, forced=content.pasted)
    return None if found is None else (_streamed(found[0], content), found[1])


def _streamed(inputs: list[Input], content: Content) -> list[Input]:
    """Give what stands before a log of any length, and the log as it comes from the file."""
    log = Input(kind="log", name=content.name, path=content.path)
    return [*(item for item in inputs if item.kind != "log"), log]
