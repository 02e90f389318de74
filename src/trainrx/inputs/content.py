"""What one file, one member of an archive or a pipe holds, read no further than is asked."""

from __future__ import annotations

import io
from functools import cached_property
from pathlib import Path

from trainrx.inputs.encoding import decode_text
from trainrx.inputs.recognise import SAMPLE
from trainrx.inputs.stream import CHUNK, file_chunks
from trainrx.model.findings import Unread
from trainrx.model.job import Input

LARGEST_TEXT = 1 << 24
"""Bytes of a script, configuration or list that is taken as text; nobody writes more."""

Found = tuple[list[Input], list[Unread]]
"""The inputs something holds, and what of it could not be used."""


class Content:
    """Bytes that are to be recognised, from a file (unpacked on the way) or from memory.

    Attributes:
        name: what they are cited by.
        path: the file; None for a member of an archive, a pipe, a part of something else.
        pasted: whether somebody may have typed or copied them in.
        unread: what stopped the reading so far.
    """

    def __init__(
        self, name: str, *, path: Path | None = None, data: bytes = b"", pasted: bool = False
    ) -> None:
        self.name = name
        self.path = path
        self.pasted = pasted
        self.unread: list[Unread] = []
        self._data = data

    @cached_property
    def sample(self) -> bytes:
        """Give the first bytes."""
        if self.path is None:
            return self._data[:SAMPLE]
        return next(file_chunks(self.path, self.name, self.unread.append, size=SAMPLE), b"")

    @cached_property
    def head(self) -> str:
        """Give the beginning as text."""
        return decode_text(self.sample)

    @cached_property
    def data(self) -> bytes:
        """Give all bytes of what is in memory; of a file at most what a text may hold."""
        if self.path is None:
            return self._data
        buffer = io.BytesIO()
        for chunk in file_chunks(self.path, self.name, self.unread.append, size=CHUNK):
            buffer.write(chunk)
            if buffer.tell() > LARGEST_TEXT:
                reason = f"is larger than {LARGEST_TEXT} bytes: only its beginning was read"
                self.unread.append(Unread(source=self.name, reason=reason))
                break
        return buffer.getvalue()[:LARGEST_TEXT]

    @cached_property
    def text(self) -> str:
        """Give all of it as text."""
        return decode_text(self.data)
