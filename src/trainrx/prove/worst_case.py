"""The point a plan is made for: not what is typical, but what the job must survive.

An image may be as large as the limit lets it be, and a job that ran out of memory met samples at
the long end of its data.
"""

from __future__ import annotations

import msgspec

from trainrx.model.facts import Facts
from trainrx.model.memory import Workload

GIB = 2.0**30
MOST_SCALE = 3.0
"""A job that fails although the model gives it this many times the room fails of something else."""


def at_worst(work: Workload, *, failed: bool = False) -> Workload:
    """Give the workload at the long end: the largest image that passes, the longest sample.

    Without a failure only images count whose limit lies above what is typical: one of them is
    enough, and nothing says how large they are.
    """
    images, length = work.images, work.length
    largest = images.pixels_max if images is not None else None
    uncapped = largest is not None and images is not None and largest > (images.pixels or largest)
    if images is not None and uncapped:
        images = msgspec.structs.replace(images, pixels=largest)
    if uncapped or failed:
        length = msgspec.structs.replace(length, typical=max(length.typical, length.high))
    return msgspec.structs.replace(work, images=images, length=length)


def tower_attention(work: Workload) -> float:
    """Give the GiB of one layer's attention scores in the vision tower; 0 with flash attention.

    SDPA with a mask falls back to a kernel that lays out patches x patches for each head: 23.41 GiB
    were asked for at once in https://github.com/modelscope/ms-swift/issues/3456. Towers with a
    fixed image size never have many patches.
    """
    images, tower = work.images, work.shape.tower
    if images is None or tower is None or tower.image_size is not None or not images.pixels:
        return 0.0
    if work.attention == "flash":
        return 0.0
    patches = images.pixels / float(tower.patch) ** 2
    return float(tower.heads) * patches * patches * 2.0 / GIB


def seen_scale(facts: Facts, need_gib: float) -> float:
    """Give by how much a failed job took more than predicted; 1.0 where nothing says so.

    `need_gib` is the prediction at its worst. What was allocated and what was asked for are a
    lower bound of the need; one request larger than the card is a matter of its own.
    """
    asked, held = facts.number("oom.asked_gib"), facts.number("oom.allocated_gib")
    card = facts.number("oom.card_gib") or facts.number("hardware.gpu_gib")
    if asked is None or held is None or not need_gib or (card and asked > card):
        return 1.0
    other = facts.number("oom.other_process_gib") or 0.0
    scale = (asked + held + other) / need_gib
    return scale if 1.0 < scale <= MOST_SCALE else 1.0
