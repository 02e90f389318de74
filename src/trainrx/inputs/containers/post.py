"""A pasted post: an issue, a chat, a scroll-back."""

from __future__ import annotations

from trainrx.inputs.content import Content, Found

CERTAIN = False
FENCES = ("```", "~~~")
"""What sets blocks of an issue or a chat apart."""


def contained(content: Content) -> Found | None:
    """Take a pasted post apart; None where a text is of one kind as a whole."""
    if not content.pasted and not any(fence in content.head for fence in FENCES):
        return None
    # most starts read no post
    from trainrx.inputs.paste.post import post_inputs

    return post_inputs(content.text, content.name)
