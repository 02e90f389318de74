"""What one file, one member of an archive or a pipe holds, read no further than is asked."""

from __future__ import annotations

import io
from functools import cached_property
from pathlib import Path

from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.encoding import decode_text
from trainrx.inputs.ends import leading_nuls
from trainrx.inputs.recognise import LOG, SAMPLE, recognise
from trainrx.inputs.stream import CHUNK, file_chunks, tail
from trainrx.inputs.unpack import GZIP, ZSTD
from trainrx.model.findings import Unread
from trainrx.model.job import Input

LARGEST_FILE = 1 << 20
"""Bytes of a file, packed or not, up to which a post is held as text."""

NO_TEXT = "is binary, expected a log, a script or a configuration as text"
PICKLED = (
    "is a pickle, which runs code where it is loaded and is never read: give the launch command, "
    "trainer_state.json or the log instead"
)
_OF_WANDB = (
    "is the record of a W&B run in its own format: give files/output.log of this run, or the "
    "folder as `wandb sync` and a download bring it (config.yaml, wandb-metadata.json)"
)
_OF_SWANLAB = (
    "is the record of a SwanLab run in its own format: give the folder of the run "
    "(files/config.yaml, files/swanlab-metadata.json, console/)"
)
PACKED = (
    "is packed inside of something that is packed, and not opened: unpack it and give what it holds"
)
PACKS = (GZIP, ZSTD, b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
"""How packed data begins."""
BINARIES = ((b":W&B", _OF_WANDB), (b":SWL", _OF_SWANLAB), (b"\x80\x02", PICKLED))
"""How binary files begin that people find in the folder of a run, and what they are."""

Found = tuple[list[Input], list[Unread]]
"""The inputs something holds, and what of it could not be used."""

PICTURE = (
    "is a picture, which cannot be read: paste its text instead (screens and phones can copy the "
    "text of a picture), or give the log itself"
)


def is_torch_archive(head: bytes) -> bool:
    """Tell what `torch.save` wrote, such as training_args.bin: a zip around a pickle."""
    return head.startswith(b"PK\x03\x04") and b"/data.pkl" in head[:256]


class Content:
    """Bytes that are to be recognised, from a file (unpacked on the way) or from memory.

    Attributes:
        name: what they are cited by.
        path: the file; None for a member of an archive, a pipe, a part of something else.
        pasted: whether the user said that it is a post, whatever it looks like.
        budget: what reading it may take.
        unread: what stopped the reading so far.
    """

    def __init__(
        self,
        name: str,
        *,
        path: Path | None = None,
        data: bytes = b"",
        pasted: bool = False,
        budget: ReadingBudget | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.pasted = pasted
        self.budget = budget or ReadingBudget()
        self.unread: list[Unread] = []
        self._data = data[leading_nuls(data) :]  # a log that was truncated while it was written

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

    @property
    def is_plain(self) -> bool:
        """Tell whether the first lines show no kind of text: any may be a log."""
        brief = decode_text(self.sample[: self.budget.limits.brief])
        return recognise(brief) == "log" and LOG.search(brief) is None

    @property
    def why_unreadable(self) -> str:
        """Say what binary data is, and what to give instead."""
        named = (reason for mark, reason in BINARIES if self.sample.startswith(mark))
        if is_torch_archive(self.sample):
            return PICKLED
        if self.is_packed:
            return PACKED
        return next(named, NO_TEXT)

    @cached_property
    def end(self) -> str:
        """Give the end as text; of a packed file, which nobody writes by hand, none."""
        if len(self.sample) < SAMPLE:
            return self.head
        if self.path is None:
            return decode_text(self._data[-SAMPLE:])
        own = Input(kind="log", name=self.name, path=self.path)
        return decode_text(tail(own, SAMPLE, again=0).data)

    @property
    def is_packed(self) -> bool:
        """Tell whether what is in memory is packed."""
        return self.path is None and self._data.startswith(PACKS)

    @property
    def is_streamed(self) -> bool:
        """Tell whether a file is too long for a post to be held as text."""
        return self.path is not None and self.path.stat().st_size > LARGEST_FILE

    @property
    def is_large(self) -> bool:
        """Tell whether what is in memory is more than is held as text besides."""
        return len(self._data) > self.budget.limits.text

    @cached_property
    def data(self) -> bytes:
        """Give all bytes of what is in memory; of a file at most what a text may hold."""
        if self.path is None:
            return self._data
        most = self.budget.limits.text
        buffer = io.BytesIO()
        for chunk in file_chunks(self.path, self.name, self.unread.append, size=CHUNK):
            buffer.write(chunk)
            if buffer.tell() > most:
                reason = f"is larger than {most} bytes: only its beginning was read"
                self.unread.append(Unread(source=self.name, reason=reason))
                break
        return buffer.getvalue()[:most]

    @cached_property
    def text(self) -> str:
        """Give all of it as text."""
        return decode_text(self.data)
