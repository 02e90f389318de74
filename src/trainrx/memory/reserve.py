"""What torch's allocator keeps beyond the allocated peak: blocks that do not fit what comes next.

The caching allocator gives a request the smallest free block that holds it, cuts off what is left,
and never joins blocks of two segments (c10/cuda/CUDACachingAllocator.cpp). What an update leaves
there for good lies in blocks the first batch has let go, and the second batch makes those anew.
`held` of measured rows (what the allocator holds after each step) shows it: from the first step to
the second it grows by whole fp32 copies of the logits.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from trainrx.memory.phases import GIB, Use, early_gradients
from trainrx.model.constants import Constants
from trainrx.model.memory import Workload

SMALL_STATES = 0.05
"""States below this share of the gradients are vectors in the allocator's pool of small blocks."""


class Reserve(NamedTuple):
    """Bytes the allocator keeps beyond the allocated peak, and those of them in blocks in use.

    Before torch gives up it returns segments that are free from end to end, and only these.
    """

    kept: float
    stuck: float


def reserved_beyond(use: Use, work: Workload, allocated: float, k: Constants) -> Reserve:
    """Give what the allocator keeps beyond the allocated peak.

    What lies there for good leaves little, what comes and goes a share.
    """
    moving = use.checkpoints + use.activations + use.tower + use.live
    slack, packing = k.slack_steady * use.steady, 0.0
    if work.quant_bits == 4 and work.quant_method in ("bnb", "nf4-single") and not work.fsdp:
        # segments weights came in are left in part where they were packed on the card, and fill up
        packing = k.packing_gib * GIB
    if work.length.how == "exact" and not work.fsdp and work.precision != "megatron":
        share = slack + k.slack_blocks * moving
        kept = max(share, slack + _segments(use, work) - allocated)
        return Reserve(kept + packing, k.unreturned * share)
    slack += k.slack_moving * moving + _of_varied(use, work, k)
    return Reserve(slack + packing, k.unreturned * slack)


def _of_varied(use: Use, work: Workload, k: Constants) -> float:
    """Give what is kept where batches differ in length, or FSDP frees on a stream of its own.

    FSDP's stream has blocks of its own, which serve no activation and the other way round (torch's
    allocator keeps a pool for each stream). Batches of different lengths fit no block exactly.
    """
    slack = k.slack_sharded * use.steady if work.zero_stage == 3 else 0.0
    varied = work.length.how != "exact"
    if work.fsdp:
        batch = use.checkpoints + use.activations + max(use.logits, use.live)
        slack += k.slack_apart * min(use.gradients + use.step, batch)
        if work.fsdp == 1 and work.tuner != "full":
            slack += k.slack_over * max(0.0, use.logits - use.live)
    if work.precision != "megatron" and (varied or work.zero_stage < 3):
        # Megatron's loss works in the logits' own place
        slack += k.slack_turns * min(use.logits, use.live)
    if work.tuner == "full" and not work.fsdp and work.precision != "megatron":
        slack += k.slack_first * min(_made_by_step(use, work), use.logits + use.activations)
    if varied:
        moving = use.checkpoints + use.activations + use.tower + use.live
        slack += k.slack_varied * moving + k.slack_logits * use.logits + k.varied_gib * GIB
    return slack


def _made_by_step(use: Use, work: Workload) -> float:
    """Give what an update makes; states of the first one come to lie in blocks of its batch.

    DeepSpeed makes its states before the first batch.
    """
    return use.step + (0.0 if work.precision == "deepspeed" else use.optimizer)


def _segments(use: Use, work: Workload) -> float:
    """Add up the blocks two batches of the same length and the update between them ask for.

    The 2-byte logits are gone when the last fp32 copy of them is made, whose block is twice theirs:
    theirs stays free, and so do the blocks of the layer at work.
    """
    spare = 0.0 if work.holds_logits else use.block / 2
    kept = use.checkpoints + use.activations + use.stashed + use.tower + use.gathered
    batch = kept + spare + use.live + use.logits + use.head
    if work.precision == "deepspeed":
        return use.steady + batch + _flat_update(use, work, spare)
    states = use.optimizer if use.optimizer > SMALL_STATES * use.gradients else 0.0
    room = spare + use.live + use.activations
    return use.steady - states + batch + _update(use, room, states)


def _update(use: Use, room: float, states: float) -> float:
    """Give what an update adds to the blocks of the first batch, and the second batch anew.

    Gradients fill the free blocks from the smallest on, then come the states, which stay: the
    copies of logits they reach into have to be made again. What finds no room has blocks of its
    own, a foreach step's temporary too, whose blocks serve the layer at work afterwards.
    """
    begin, end = use.gradients - room, use.gradients + states - room
    over = max(0.0, end - use.logits)
    own = use.step if over else 0.0
    if not states or end <= 0:
        return over + own
    again = min(use.gradients + states, use.activations)
    if use.block:
        reached = ceil(end / use.block) - int(max(0.0, begin) / use.block)
        again += min(reached * use.block, use.logits)
    else:
        again += max(0.0, use.live + use.logits - own)
    return over + own + again


def _flat_update(use: Use, work: Workload, spare: float) -> float:
    """Give the same for DeepSpeed, whose masters, moments and fp32 gradients are flat tensors.

    The moments are there since the first update. A flat tensor wider than a copy of the logits
    lies in none of them.
    """
    flat = use.master
    if not use.block or flat > use.block:
        return use.step
    late = use.gradients - early_gradients(use, work)
    end = late + use.step + use.optimizer - spare
    if end <= 0:
        return 0.0
    return min(ceil(end / use.block) * use.block, use.logits) - use.optimizer
