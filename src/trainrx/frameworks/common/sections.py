"""Files of NVIDIA NeMo: which of their sections are in force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.job import RawArg

_PACKED = ("packed_sequence.packed_sequence_size", "packed_sequence.pack_size")
"""The length of a packed row, which takes the place of a sample's; 0 packs none."""
_EITHER_WAY = ("colocated.enabled",)
"""Switches beside which the rest says how it is done without."""
_OFF = frozenset({"false", "no", "off", "0"})


def in_force(args: Sequence[RawArg], decided_by: Sequence[RawArg]) -> tuple[RawArg, ...]:
    """Leave out what stands in a section that `enabled: false` turns off, but for the switch.

    The programs look at a section (`lora_cfg`, `megatron_cfg`, `sequence_packing`, `compile`)
    only where its `enabled` is true. Of the lengths of samples and of packed rows the decisive one
    is kept.
    """
    off = tuple(_switched_off(decided_by))
    if not off:
        return tuple(args)
    return tuple(
        arg for arg in args if not arg.name.startswith(off) or arg.name.endswith(".enabled")
    )


def _switched_off(args: Sequence[RawArg]) -> Iterator[str]:
    last = {arg.name: arg.values[0].lower() for arg in args if arg.values}
    for name, value in last.items():
        if name in _PACKED and value not in ("", "0", "null", "none"):
            yield "dataset.seq_length"
        elif name in _PACKED:
            yield name
        elif name.endswith(".enabled") and value in _OFF and not name.endswith(_EITHER_WAY):
            yield name.removesuffix("enabled")


def last_value(name: str, *groups: Sequence[RawArg]) -> str:
    """Give the decisive value of a key, "" for none: the groups go from file to command line."""
    found = [arg for group in groups for arg in group if arg.name == name and arg.values]
    return found[-1].values[0] if found and found[-1].values else ""
