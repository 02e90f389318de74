"""What reading may cost: all budgets of inputs and of folders of knowledge stand here."""

from __future__ import annotations

import msgspec


class ReadingLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Budgets of one request; what goes beyond one is left out and told under `unread`.

    They are counts but for `seconds`, the last resort: on a slow machine the same inputs give the
    same answer.

    Attributes:
        read: bytes of one file.
        text: bytes of a script, configuration or list, which is held as text.
        unpacked: bytes that one packed input gives, members that are passed over included.
        ratio: bytes that a packed byte may give; no log is packed more tightly.
        unmeasured: bytes that a packed input may give whatever its ratio.
        member: bytes of one member of an archive.
        held: bytes of members that are held in memory, of all archives together.
        members: members that are looked at, of all archives together.
        header: bytes of what an archive says of one member.
        directory: bytes of what a zip says of all of them.
        files: files that are read, of a folder or an archive.
        entries: entries of a folder that are looked at.
        folders: folders within folders that are entered.
        nested: archives and mails within each other that are opened.
        seconds: of the processor, for reading all inputs.
    """

    read: int = 64 << 30
    text: int = 1 << 24
    unpacked: int = 8 << 30
    ratio: int = 100
    unmeasured: int = 4 << 20
    member: int = 1 << 26
    held: int = 1 << 27
    members: int = 10_000
    header: int = 1 << 14
    directory: int = 4 << 20
    files: int = 2000
    entries: int = 100_000
    folders: int = 8
    nested: int = 4
    seconds: float = 60.0

    def unpacked_of(self, size: int) -> int:
        """Give the bytes that a packed input of this size may give."""
        return min(self.unpacked, max(self.unmeasured, self.ratio * size))


LIMITS = ReadingLimits()
"""Those that hold where nobody asks for others."""
DEEPEST = 64
"""Mappings and lists within each other in an entry of knowledge; nobody writes half as many."""
LARGEST_ENTRY = 1 << 22
"""Bytes of an entry of knowledge."""
