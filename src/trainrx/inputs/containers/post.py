"""A pasted post: an issue, a chat, a scroll-back."""

from __future__ import annotations

from trainrx.inputs.content import Content, Found
from trainrx.inputs.paste.whole import may_be_post

CERTAIN = False


def contained(content: Content) -> Found | None:
    """Take a pasted post apart; None where a text is of one kind as a whole."""
    if not content.pasted and not may_be_post(content.head, content.end):
        return None
    # most starts read no post
    from trainrx.inputs.paste.post import post_inputs

    return post_inputs(content.text, content.name, forced=content.pasted)
