"""Closed form and count side by side."""

from __future__ import annotations

from collections.abc import Iterable

from trainrx.exact.record import PARTS, Difference, ExactComparison, ExactResult, Part
from trainrx.model.memory import PhaseUse, Prediction, Term

WORDS: tuple[tuple[Part, tuple[str, ...]], ...] = (
    ("gathered", ("gather", "bucket", "unsharded")),
    ("logits", ("logit", "loss", "head-output", "cross-entropy")),
    ("gradients", ("gradient", "grads")),
    ("optimizer", ("optimizer-states", "optimizer_states", "optimizer states", "moment", "master")),
    ("working", ("temporary", "step", "foreach", "live", "working", "recomput", "workspace")),
    ("optimizer", ("optimizer", "adam", "states")),
    ("activations", ("activation", "checkpoint", "hidden", "saved")),
    ("parameters", ("weight", "param", "adapter", "embedding", "lora", "tower", "buffer")),
)
"""Which part a closed term belongs to, by a word of its name; the first that fits."""


def compare(prediction: Prediction, exact: ExactResult) -> ExactComparison:
    """Set both beside each other: totals, phases, and parts at the phase of the count's peak.

    A part no closed term speaks of has `closed` None; closed terms of no known part are under
    "other", with `exact` None.
    """
    closed = {one.phase: one for one in prediction.phases}
    counted = {one.phase: one for one in exact.phases}
    both = [phase for phase in counted if phase in closed]
    at = counted[exact.peak]
    beside = closed.get(exact.peak)
    total = prediction.allocated.gib
    return ExactComparison(
        phase=exact.peak,
        total=Difference(name="allocated", closed=round(total, 3), exact=exact.allocated),
        relative=round((total - exact.allocated) / exact.allocated, 4) if exact.allocated else 0.0,
        phases=tuple(
            Difference(name=phase, closed=round(closed[phase].gib, 3), exact=counted[phase].gib)
            for phase in both
        ),
        parts=_parts(beside, {one.name: one.gib for one in at.parts}),
    )


def part_of(term: Term) -> Part | None:
    """Say which part a closed term is; None when its name does not tell."""
    low = term.name.lower()
    return next((part for part, words in WORDS if any(word in low for word in words)), None)


def _parts(beside: PhaseUse | None, counted: dict[Part, float]) -> tuple[Difference, ...]:
    sums = _sums(() if beside is None else beside.terms)
    names = [name for name in (*PARTS, None) if name in sums or counted.get(name or "working", 0)]
    return tuple(
        Difference(
            name=name or "other",
            closed=None if name not in sums else round(sums[name], 3),
            exact=None if name is None else round(counted.get(name, 0.0), 3),
        )
        for name in names
        if name is not None or None in sums
    )


def _sums(terms: Iterable[Term]) -> dict[Part | None, float]:
    sums: dict[Part | None, float] = {}
    for term in terms:
        part = part_of(term)
        sums[part] = sums.get(part, 0.0) + term.gib
    return sums
