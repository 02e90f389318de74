"""The card that a scheduler or a manifest is asked for, as facts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trainrx.inputs.hardware import read_gpu
from trainrx.launch.given import card_facts
from trainrx.launchers.cluster import card_asked_for
from trainrx.model.facts import Fact
from trainrx.model.hardware import Gpu
from trainrx.model.job import RawLaunch


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
