"""What reading may cost: all budgets of inputs and of folders of knowledge stand here."""

from __future__ import annotations

import msgspec


class Unpacking(msgspec.Struct, frozen=True, kw_only=True):
    """How much of something packed is read, in bytes of what it holds.

    Attributes:
        spare: whatever its packed bytes are.
        last: of its end.
        passed: that are passed over to come to the end.
        all: that are unpacked.
    """

    spare: int
    last: int
    passed: int
    all: int


class ReadingLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Budgets of one request; what goes beyond one is left out and told under `unread`.

    They are counts but for `seconds`, the last resort: on a slow machine the same inputs give the
    same answer.

    Attributes:
        read: bytes of one file.
        text: bytes of a script, configuration or list, which is held as text.
        unpacked: bytes that all archives give, members that are passed over included.
        ratio: bytes that are read for a packed byte: logs hold 8 to 30.
        spare: bytes that are read of packed inputs whatever their ratio, of all together.
        passed: bytes that are unpacked for a packed byte, to come to its end.
        passed_over: bytes that are unpacked for that of one input.
        passed_by_all: bytes that are unpacked for that of several inputs together.
        last: bytes of the ends of packed inputs, which are held in memory meanwhile.
        least: bytes of the end of each, however many there are.
        member: bytes of one member of an archive.
        held: bytes of members that are held in memory, of all archives together.
        members: members that are looked at, of all archives together.
        header: bytes of what an archive says of one member.
        directory: bytes of what a zip says of all of them.
        plain: bytes of beginnings that show no kind of text, of all files together: then only
            files that show theirs are read.
        brief: bytes of a beginning that are to show it then.
        files: files that are read, of a folder or an archive.
        entries: entries of a folder that are looked at.
        folders: folders within folders that are entered.
        nested: archives and mails within each other that are opened.
        seconds: of the processor, for reading all inputs.
    """

    read: int = 64 << 30
    text: int = 1 << 24
    unpacked: int = 8 << 30
    ratio: int = 24
    spare: int = 16 << 20
    passed: int = 75
    passed_over: int = 3 << 29
    passed_by_all: int = 1 << 29
    last: int = 16 << 20
    least: int = 1 << 16
    member: int = 1 << 26
    held: int = 1 << 27
    members: int = 10_000
    header: int = 1 << 14
    directory: int = 4 << 20
    plain: int = 1 << 21
    brief: int = 1 << 10
    files: int = 2000
    entries: int = 100_000
    folders: int = 8
    nested: int = 4
    seconds: float = 60.0

    def unpacking_of(self, size: int, sharing: int = 1) -> Unpacking:
        """Give what is read of a packed input.

        Args:
            size: its bytes as they are.
            sharing: how many inputs there may be that are packed.
        """
        spare = self.spare // sharing
        share = self.passed_over if sharing == 1 else self.passed_by_all // sharing
        passed = min(self.passed * size, share)
        last = max(self.last // sharing, self.least)
        return Unpacking(
            spare=spare, last=last, passed=passed, all=self.ratio * size + spare + passed
        )


LIMITS = ReadingLimits()
"""Those that hold where nobody asks for others."""
DEEPEST = 64
"""Mappings and lists within each other in an entry of knowledge; nobody writes half as many."""
LARGEST_ENTRY = 1 << 22
"""Bytes of an entry of knowledge."""
