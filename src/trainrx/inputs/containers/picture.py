"""A picture (a screenshot, a photo of a screen): it cannot be read, its text can."""

from __future__ import annotations

from trainrx.inputs.content import PICTURE, Content, Found
from trainrx.model.findings import Unread

CERTAIN = True
MARKS = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*")


def contained(content: Content) -> Found | None:
    """Name a picture as unread; None where a content is none."""
    head = content.sample[:32]
    packed = head[:4] == b"RIFF" and head[8:12] == b"WEBP"
    known = head.startswith(MARKS) and not head.isascii()
    if not (known or packed or head[:6] in (b"GIF87a", b"GIF89a") or head[4:12] == b"ftypheic"):
        return None
    return [], [Unread(source=content.name, reason=PICTURE)]
