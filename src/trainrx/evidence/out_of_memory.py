"""What a message of PyTorch says of GPU memory that ran out: who first, and who holds the card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainrx.evidence.conclude import moment, origin_of
from trainrx.evidence.values import gib
from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.knowledge import Symptom

_HOLDER = re.compile(r"(this process|Process \d+) has ([\d.]{1,12} [KMGT]iB)")
_ROUNDED = 0.1
"""GiB by which figures that are printed to two places may miss each other when they are added."""
_BESIDE_TORCH = 4.0
"""GiB a process holds on a card beside what PyTorch allocated: its context, NCCL, libraries."""


def oom_facts(
    seen: Sequence[SymptomHits], symptoms: Mapping[str, Symptom], known: Facts
) -> Iterator[Fact]:
    """Derive `oom.*`: who ran out of GPU memory first, when, where, and how many did."""
    groups = [item for item in seen if _is_oom(symptoms.get(item.symptom))]
    if not groups:
        return
    hits = sorted((hit for item in groups for hit in item.hits), key=moment)
    first = hits[0]
    origin = origin_of(first)
    if first.rank is not None:
        yield fact("oom.rank", first.rank, origin)
    if first.phase:
        yield fact("oom.phase", first.phase, origin)
    site = next((hit.site for hit in hits if hit.site and hit.rank == first.rank), "")
    if site:
        yield fact("oom.site", site, origin)
    if first.step is not None:
        yield fact("oom.step", first.step, origin)
    count = _distinct(hits)
    if count:
        yield fact("oom.ranks", count, *(origin_of(hit) for hit in hits[:4]), how="derived")
    yield from _shares(first, known)


def _is_oom(symptom: Symptom | None) -> bool:
    return symptom is not None and symptom.role == "failure" and symptom.family == "oom"


def _distinct(hits: Sequence[Hit]) -> int:
    """Count the processes concerned: by rank, or by card where no rank is named."""
    ranks = {hit.rank for hit in hits if hit.rank is not None}
    cards = {dict(hit.captures).get("gpu") for hit in hits if hit.rank is None} - {None}
    return max(len(ranks), len(cards))


def _shares(first: Hit, known: Facts) -> Iterator[Fact]:
    asked, card = known.number("oom.asked_gib"), known.number("oom.card_gib")
    if asked is not None and card:
        origins = known.origins("oom.asked_gib", "oom.card_gib")
        yield fact("oom.asked_share", round(asked / card, 4), *origins, how="derived")
    others = _others(first, known)
    if others is not None:
        yield fact("oom.other_process_gib", round(others, 4), origin_of(first), how="derived")
    if others is not None and card:
        origins = known.origins("oom.card_gib")
        yield fact("oom.others_share", round(others / card, 4), *origins, how="derived")
    allocated = known.number("oom.allocated_gib")
    unused = known.number("oom.reserved_unused_gib")
    reserved = dict(first.captures).get("reserved")
    if unused is None and allocated is not None and isinstance(reserved, float):
        unused = max(0.0, round(reserved - allocated, 4))
        origin = origin_of(first)
        yield fact("oom.reserved_unused_gib", unused, origin, how="derived")
    if unused is not None and card:
        share = round(unused / card, 4)
        origins = known.origins("oom.reserved_unused_gib", "oom.card_gib")
        yield fact("oom.reserved_unused_share", share, *origins, how="derived")


def _others(first: Hit, known: Facts) -> float | None:
    """Give the GiB that other processes hold on the card, of those the message names.

    In a container the own process is printed by a number like the others. It holds at least what
    PyTorch reserved: where the named ones leave that much of the card over, it is not among them,
    else it is the one nearest above. Where neither is sure, the others hold what is left without
    the largest.
    """
    named = _HOLDER.findall(str(dict(first.captures).get("holders") or ""))
    sizes = [(who == "this process", gib(size) or 0.0) for who, size in named]
    if any(own for own, _ in sizes):
        return sum(size for own, size in sizes if not own)
    amounts = sorted(size for _, size in sizes)
    card, free = known.number("oom.card_gib"), known.number("oom.free_gib")
    if not amounts or card is None or free is None:
        return None
    allocated = known.number("oom.allocated_gib")
    if allocated is None:
        least = sum(amounts[:-1])
        return least if least >= 1 else None
    reserved = allocated + (known.number("oom.reserved_unused_gib") or 0.0)
    if card - free - sum(amounts) >= max(reserved - _ROUNDED, 2 * _ROUNDED):
        return sum(amounts)
    possible = [size for size in amounts if size >= reserved - _ROUNDED]
    if not possible:
        return None
    near = possible[0] <= reserved + _BESIDE_TORCH
    return sum(amounts) - (possible[0] if near else possible[-1])
