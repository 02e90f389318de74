"""What is known of a card that is named, or that a scheduler or a manifest is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trainrx.inputs.hardware import GpuReading, read_gpu, usable_gib
from trainrx.launchers.cluster import card_asked_for
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.hardware import Gpu
from trainrx.model.job import RawLaunch

NO_BF16_BELOW = 8.0


def card_facts(reading: GpuReading, origin: Origin) -> list[Fact]:
    """Say what is known of a card: its name, memory, capability and number formats."""
    out: list[Fact] = []
    gpu = reading.gpu
    gib = reading.gib
    if gib is None and gpu is not None and reading.unread is None:
        gib = usable_gib(gpu)
    if gib is not None:
        out.append(fact("hardware.gpu_gib", float(gib), origin, how="given"))
    if reading.count is not None:
        out.append(fact("hardware.gpus", reading.count, origin, how="given"))
    if gpu is None:
        return out
    out.append(fact("hardware.gpu", gpu.id, origin, how="given"))
    capability = _number(gpu.compute_capability)
    if capability is not None:
        out.append(fact("hardware.compute_capability", capability, origin, how="derived"))
    bf16 = gpu.bf16 if gpu.bf16 is not None else _has_bf16(capability)
    if bf16 is not None:
        out.append(fact("hardware.bf16", bf16, origin, how="derived"))
    return out


def cards_asked_for(raw: RawLaunch, gpus: Sequence[Gpu]) -> tuple[Fact, ...]:
    """Say what is known of the card a launch asks for by name; nothing where it names none."""
    asked = card_asked_for(raw) if raw.container or raw.launcher else None
    if asked is None:
        return ()
    name, origin = asked
    reading = read_gpu(name, gpus, source=origin.source)
    if reading.gpu is None:
        return ()
    return tuple(card_facts(msgspec.structs.replace(reading, count=None), origin))


def _has_bf16(capability: float | None) -> bool | None:
    return None if capability is None else capability >= NO_BF16_BELOW


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
