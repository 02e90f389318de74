"""Predict the peak memory of a workload."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from trainrx.memory.activations import fill_activations
from trainrx.memory.host import host_use
from trainrx.memory.model import Model, model_of
from trainrx.memory.phases import phases_of, top_of
from trainrx.memory.refusals import refused, unknown_shape
from trainrx.memory.states import fill_states
from trainrx.memory.use import GIB, Use
from trainrx.model.constants import JUDGED, Constants
from trainrx.model.memory import Figure, Prediction, Refusal, Workload


class Peak(NamedTuple):
    """Central figures of a workload, GiB per GPU."""

    allocated: float
    reserved: float
    card: float
    need: float


def predict(workload: Workload, constants: Constants = JUDGED) -> Prediction | Refusal:
    """Predict peak memory per GPU of one workload.

    Never raises: what is not modelled is a `Refusal`.
    """
    model = model_of(workload.shape)
    if model is None:
        return unknown_shape(workload)
    no = refused(workload, model)
    if no is not None:
        return no
    length = workload.length
    use = use_of(workload, model, constants, length.typical)
    mid = figures(use, workload, model, constants)
    least = figures(use_of(workload, model, constants, length.low), workload, model, constants)
    most = figures(use_of(workload, model, constants, length.high), workload, model, constants)
    phases = phases_of(use, workload, model)
    loose = constants.band_varied if length.how != "exact" else 0.0
    allocated, reserved, card = (
        _figure(name, mid, least, most, max(loose, getattr(constants, f"band_{name}")))
        for name in ("allocated", "reserved", "card")
    )
    reserved = msgspec.structs.replace(reserved, low=max(reserved.low, allocated.low))
    card = msgspec.structs.replace(card, low=max(card.low, reserved.low))
    return Prediction(
        allocated=allocated,
        reserved=reserved,
        card=card,
        need_gib=mid.need,
        peak=max(phases, key=lambda item: item.gib).phase,
        phases=phases,
        host=host_use(workload, model),
        verdict=verdict(card, mid.need, workload.card_gib),
        limit_gib=workload.card_gib,
    )


def use_of(work: Workload, model: Model, k: Constants, tokens: float) -> Use:
    """Work out all parts for micro-batches whose longest sample has `tokens` tokens."""
    use = Use()
    fill_states(use, work, model, k)
    fill_activations(use, work, model, k, tokens)
    return use


def verdict(
    card: Figure, need: float, limit: float | None
) -> Literal["fits", "tight", "does-not-fit"] | None:
    """Compare what the job takes and needs with the card, GiB; None when the card is not known."""
    if not limit:
        return None
    if need > limit:
        return "does-not-fit"
    return "fits" if card.high <= limit else "tight"


def peak(work: Workload, model: Model, constants: Constants) -> Peak:
    """Give the central figures alone: what a search over thousands of workloads needs."""
    return figures(use_of(work, model, constants, work.length.typical), work, model, constants)


def figures(use: Use, work: Workload, model: Model, k: Constants) -> Peak:
    """Work out the three figures of the largest phase, GiB per GPU.

    What the allocator holds beyond the allocated peak are blocks that do not fit what comes next:
    a share of what comes and goes, more of the logits, whose blocks are the largest, and more where
    samples differ in length. The card has the context and the libraries beside it.
    """
    allocated = top_of(use, work, model)
    steady = use.steady
    moving = use.checkpoints + use.activations + use.tower + use.gathered + use.live
    slack = k.slack_steady * steady + k.slack_moving * moving + k.slack_logits * use.logits
    if work.zero_stage < 3:
        # blocks of the logits seldom serve the layer whose backward comes after them; gathering
        # and freeing units all the time leaves less behind
        slack += k.slack_turns * min(use.logits, use.live)
    if work.length.how != "exact":
        slack += k.slack_varied * (moving + use.logits) + k.varied_gib * GIB
    if work.zero_stage == 3:
        slack += k.slack_sharded * steady
    beside = k.context_gib * GIB
    if work.world > 1:
        beside += k.nccl_gib * GIB
    if work.rollout.mode == "colocate" and not work.rollout.eager:
        beside += k.graphs_gib * GIB
    reserved = allocated + slack + k.base_gib * GIB
    return Peak(
        allocated=allocated / GIB,
        reserved=reserved / GIB,
        card=(reserved + beside) / GIB,
        need=(allocated + k.unreturned * slack + k.base_gib * GIB + beside) / GIB,
    )


def _figure(name: str, mid: Peak, least: Peak, most: Peak, band: float) -> Figure:
    """Widen what shorter and longer samples give by the error of the model itself."""
    gib, low, high = getattr(mid, name), getattr(least, name), getattr(most, name)
    return Figure(gib=gib, low=min(low, gib) / (1 + band), high=max(high, gib) * (1 + band))
