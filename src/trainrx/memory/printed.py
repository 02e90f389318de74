"""What a printed "Tried to allocate" figure says of the bytes that were asked for.

PyTorch prints neither the tensor's size nor that rounded to 512 bytes but the segment it would
have taken from the driver (c10/cuda/CUDACachingAllocator.cpp: get_allocation_size): 2 MiB for up
to 1 MiB, 20 MiB for up to 10 MiB, beyond that the next multiple of 2 MiB, and that with two
decimals (format_size). torch_npu does the same. So a figure below 1 GiB leaves 2 MiB open, one
above leaves 10 to 12 MiB.
"""

from __future__ import annotations

import math
import re

import msgspec

KIB, MIB, GIB = 2**10, 2**20, 2**30
SMALL = MIB
MIDDLE = 10 * MIB
SMALL_SEGMENT = 2 * MIB
MIDDLE_SEGMENT = 20 * MIB
STEP = 2 * MIB
MOST = 2.0**60
"""Nobody asks for an exbibyte: what says so is not a figure of an allocator."""

UNITS = {"bytes": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": 2**40}
FIGURE = re.compile(r"Tried to allocate (\d{1,12}(?:\.(\d{1,6}))?) ?(bytes|[KMGT]iB)")


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def nats(self) -> float:
        """Width on a logarithmic scale: what share of all sizes it is."""
        return math.log(self.high / self.low)


def segment(size: int) -> int:
    """Give the bytes the allocator takes from the driver for a tensor of `size` bytes."""
    if size <= SMALL:
        return SMALL_SEGMENT
    if size < MIDDLE:
        return MIDDLE_SEGMENT
    return -(-size // STEP) * STEP


def printed(size: int) -> str:
    """Spell bytes as PyTorch does in its messages."""
    if size <= KIB:
        return f"{size} bytes"
    for unit, limit in (("KiB", MIB), ("MiB", GIB)):
        if size <= limit:
            return f"{size / UNITS[unit]:.2f} {unit}"
    return f"{size / GIB:.2f} GiB"


def asked_in(text: str) -> Interval | None:
    """Read what was asked for out of a line that says "Tried to allocate"; None without one."""
    found = FIGURE.search(text)
    if found is None:
        return None
    half = 0.5 * 10.0 ** -len(found[2] or "")
    return _asked(float(found[1]), half, UNITS[found[3]])


def asked_of(gib: float) -> Interval | None:
    """Take an amount in GiB for a printed figure with two decimals in the unit PyTorch picks."""
    if not math.isfinite(gib) or gib <= 0:
        return None
    unit = MIB if gib < 1 else GIB
    return _asked(gib * GIB / unit, 0.005, unit)


def _asked(value: float, half: float, unit: int) -> Interval | None:
    """Give the tensors whose segment is printed so; a figure no segment has is taken as it is."""
    if value * unit > MOST:
        return None
    # the last digit of a binary fraction may be off where the line was read as a number
    least, most = (value - half) * unit - 1, (value + half) * unit + 1
    first, last = math.ceil(least / STEP), math.floor(most / STEP)
    if most < STEP or last < 1:
        return None
    if first <= last and last * STEP <= SMALL_SEGMENT:
        return None
    if first * STEP <= MIDDLE_SEGMENT <= last * STEP:
        return Interval(low=SMALL + 1, high=last * STEP)
    if first <= last:
        return Interval(low=(first - 1) * STEP + 1, high=last * STEP)
    # another allocator: it prints what was asked for
    return Interval(low=max(math.ceil(least), 1), high=math.floor(most))
