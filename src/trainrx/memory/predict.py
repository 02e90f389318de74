"""Predict the peak memory of a workload, and what one machine needs of RAM."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from trainrx.memory.activations import fill_activations
from trainrx.memory.extremes import easiest, hardest
from trainrx.memory.model import Model, adapters_of, model_of
from trainrx.memory.phases import GIB, Use, phases_of, top_of
from trainrx.memory.refusals import refused, unknown_shape
from trainrx.memory.reserve import reserved_beyond
from trainrx.memory.states import fill_states
from trainrx.model.constants import JUDGED, Constants
from trainrx.model.memory import (
    Figure,
    HostUse,
    Prediction,
    Refusal,
    Term,
    Verdict,
    Workload,
)


class Peak(NamedTuple):
    """Central figures of a workload, GiB per GPU."""

    allocated: float
    reserved: float
    card: float
    need: float


def predict(workload: Workload, constants: Constants = JUDGED) -> Prediction | Refusal:
    """Predict peak memory per GPU of one workload.

    Where terms are open, the interval reaches from the easiest they may be to the hardest. Never
    raises: what is not modelled is a `Refusal`.
    """
    found = _predict(workload, constants)
    if isinstance(found, Refusal) or not workload.open_terms:
        return found
    ends = [_predict(end(workload), constants) for end in (easiest, hardest)]
    return _between(found, *ends)


def _between(
    found: Prediction, least: Prediction | Refusal, most: Prediction | Refusal
) -> Prediction:
    """Widen a prediction to those at both ends of what is open; an end without one is endless."""
    low = None if isinstance(least, Refusal) else least
    high = None if isinstance(most, Refusal) else most
    allocated, reserved, card = (
        Figure(
            gib=(own := getattr(found, name)).gib,
            low=0.0 if low is None else min(own.low, getattr(low, name).low),
            high=max(own.high, getattr(high or found, name).high),
        )
        for name in ("allocated", "reserved", "card")
    )
    least_gib = 0.0 if low is None else min(found.least_gib, low.least_gib)
    said = verdict(card, least_gib, found.limit_gib, known=False)
    return msgspec.structs.replace(
        found,
        allocated=allocated,
        reserved=reserved,
        card=card,
        least_gib=least_gib,
        verdict="cannot-say" if said == "fits" and high is None else said,
    )


def _predict(workload: Workload, constants: Constants) -> Prediction | Refusal:
    model = model_of(workload.shape)
    if model is None:
        return unknown_shape(workload)
    no = refused(workload, model)
    if no is not None:
        return no
    length = workload.length
    use = Use()
    fill_states(use, workload, model, constants)
    least = _at(length.low, use, workload, model, constants)
    most = _at(length.high, use, workload, model, constants)
    # last, since the phases are told of what it leaves in `use`
    mid = _at(length.typical, use, workload, model, constants)
    phases = phases_of(use, workload, model)
    loose = constants.band_varied if length.how != "exact" else 0.0
    allocated, reserved, card = (
        _figure(name, mid, least, most, max(loose, getattr(constants, f"band_{name}")))
        for name in ("allocated", "reserved", "card")
    )
    reserved = msgspec.structs.replace(reserved, low=max(reserved.low, allocated.low))
    card = msgspec.structs.replace(card, low=max(card.low, reserved.low))
    least_gib = min(least.need, mid.need) / (1 + max(loose, constants.band_card))
    return Prediction(
        allocated=allocated,
        reserved=reserved,
        card=card,
        need_gib=mid.need,
        least_gib=least_gib,
        peak=max(phases, key=lambda item: item.gib).phase,
        phases=phases,
        host=host_use(workload, model),
        verdict=verdict(card, least_gib, workload.card_gib),
        limit_gib=workload.card_gib,
    )


def _at(tokens: float, use: Use, work: Workload, model: Model, k: Constants) -> Peak:
    """Give the figures at one length; what lies there for good is in `use` already."""
    fill_activations(use, work, model, k, tokens)
    return figures(use, work, model, k)


def use_of(work: Workload, model: Model, k: Constants, tokens: float) -> Use:
    """Work out all parts for micro-batches whose longest sample has `tokens` tokens."""
    use = Use()
    fill_states(use, work, model, k)
    fill_activations(use, work, model, k, tokens)
    return use


def verdict(
    card: Figure, least: float, limit: float | None, *, known: bool = True
) -> Verdict | None:
    """Compare the interval of what the job takes with the card, GiB; None without a card.

    Args:
        card: what the card shows.
        least: the low end of what the job gets by with.
        limit: the card's memory.
        known: all of the job is understood.
    """
    if not limit:
        return None
    if least > limit:
        return "does-not-fit"
    if card.high <= limit:
        return "fits"
    return "tight" if known else "cannot-say"


def peak(work: Workload, model: Model, constants: Constants) -> Peak:
    """Give the central figures alone: what a search over thousands of workloads needs."""
    return figures(use_of(work, model, constants, work.length.typical), work, model, constants)


def figures(use: Use, work: Workload, model: Model, k: Constants) -> Peak:
    """Work out the three figures of the largest phase, GiB per GPU.

    What the allocator holds beyond the allocated peak are blocks that do not fit what comes next.
    The card has the context and the libraries beside it.
    """
    allocated = top_of(use, work, model)
    slack = reserved_beyond(use, work, allocated, k)
    beside = k.context_gib * GIB
    if work.world > 1:
        beside += k.nccl_gib * GIB
    if work.rollout.mode == "colocate" and not work.rollout.eager:
        beside += k.graphs_gib * GIB
    reserved = allocated + slack.kept + k.base_gib * GIB
    return Peak(
        allocated=allocated / GIB,
        reserved=reserved / GIB,
        card=(reserved + beside) / GIB,
        need=(allocated + slack.stuck + k.base_gib * GIB + beside) / GIB,
    )


def _figure(name: str, mid: Peak, least: Peak, most: Peak, band: float) -> Figure:
    """Widen what shorter and longer samples give by the error of the model itself."""
    gib, low, high = getattr(mid, name), getattr(least, name), getattr(most, name)
    return Figure(gib=gib, low=min(low, gib) / (1 + band), high=max(high, gib) * (1 + band))


PROCESS_GIB = 3.0
"""A Python process with torch, its libraries and a CUDA context, GiB of RAM."""
OFFLOADED = 16.0
"""fp32 master and moments and an fp32 gradient per offloaded parameter (ZeRO-Offload,
arXiv 2101.06840, section 4); DeepSpeed pins all of it."""


def _waiting(work: Workload, share: float) -> list[Term]:
    """Give what of the models beside the trained one lies in one machine's RAM."""
    frozen = sum(shape.params_b or 0.0 for shape in work.copies) if work.copies_on_host else 0.0
    away, trained = work.critic_away or (), sum(one.params_b or 0.0 for one in work.trained_copies)
    each = (4.0 if "model" in away else 0.0) + (8.0 if "optimizer" in away else 0.0)
    bytes_ = (2.0 * frozen + each * trained) * 1e9 * share
    source = "verl, workers/fsdp_workers.py"
    return [Term(name="waiting-models", gib=bytes_ / GIB, source=source)] if bytes_ else []


def host_use(work: Workload, model: Model) -> HostUse:
    """Give the RAM one machine needs, GiB, without the data set and its workers."""
    ranks = max(1, work.ranks_per_node)
    share = ranks / max(1, work.world)
    trained = model.total - model.tower
    if work.tuner == "lora":
        trained = adapters_of(work.shape, work.rank, work.targets)
    elif work.tuner != "full":
        trained = (work.trained_b or 0.0) * 1e9
    resident = [Term(name="processes", gib=ranks * PROCESS_GIB)]
    if work.offload_optimizer:
        states = trained * OFFLOADED * share / GIB
        resident.append(Term(name="offloaded-optimizer", gib=states, source="arXiv 2101.06840"))
    if work.offload_params:
        weights = model.total * work.weight_bytes * share / GIB
        resident.append(Term(name="offloaded-weights", gib=weights, source="arXiv 2104.07857"))
    resident += _waiting(work, share)
    rollout = work.rollout
    if rollout.mode == "colocate" and rollout.sleep == 1:
        engines = ranks / max(1, rollout.tensor_parallel)
        asleep = engines * model.total * 2.0 / GIB
        resident.append(Term(name="sleeping-engine", gib=asleep, source="vLLM, sleep level 1"))
    whole = model.total * work.weight_bytes / GIB
    # ZeRO-3 and FSDP read the whole checkpoint in every process before they keep their part
    loading = whole * ranks if work.zero_stage == 3 and work.fsdp == 0 else min(whole, 5.0) * ranks
    saving = whole if work.zero_stage == 3 and work.tuner == "full" else 0.0
    steady = sum(term.gib for term in resident)
    extra = max(loading, saving)
    name = "loading" if loading >= saving else "saving"
    return HostUse(
        resident=steady,
        peak=max(steady + saving, ranks * PROCESS_GIB + loading),
        terms=(*resident, Term(name=name, gib=extra, source="transformers, from_pretrained")),
    )
