"""The memory of a job as it is, and as it would be with other values: cheap, no file is read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from trainrx.catalog.deepspeed import read_deepspeed
from trainrx.facts.all import derive_memory
from trainrx.knowledge.store import Knowledge
from trainrx.memory.predict import predict
from trainrx.memory.workload import workload_of
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.hardware import ModelShape, TokenStats
from trainrx.model.memory import Prediction, Refusal
from trainrx.model.result import Predicted
from trainrx.models.facts import shape_of

SEEN_GIB = 0.05
"""A smaller difference is none: the model does not tell what the change does."""
_SHARDING = ("parallel.zero_stage", "parallel.offload_params", "parallel.offload_optimizer")
_STALE: Mapping[str, tuple[str, ...]] = {
    "vision.max_pixels": ("log.max_pixels",),
    "parallel.processes_per_node": ("parallel.world_size",),
    "parallel.nodes": ("parallel.world_size", "hardware.nodes"),
}
"""What the old value of a parameter led to where it was printed or read, not derived."""


def facts_with(facts: Facts, values: Mapping[str, Scalar]) -> Facts:
    """Give what stays known of a job, underived, once some parameters have other values."""
    new = dict(values)
    gone = set(values) | {name for key in values for name in _STALE.get(key, ())}
    sharding = values.get("parallel.deepspeed")
    if isinstance(sharding, str):
        gone |= {item.kind for item in facts if item.kind.startswith("deepspeed.")}
        gone |= set(_SHARDING)
        new |= read_deepspeed(
            sharding,
            framework=facts.text("launch.framework") or "",
            version=facts.text("launch.framework_version"),
        )
    kept = (
        item
        for item in facts
        if item.how != "derived" and item.kind not in gone and not item.kind.startswith("symptom.")
    )
    return Facts((*(fact(name, value, how="given") for name, value in new.items()), *kept))


class Foresight:
    """Predictions for one job under other values of its parameters."""

    def __init__(
        self,
        facts: Facts,
        knowledge: Knowledge,
        shape: ModelShape | None = None,
        lengths: TokenStats | None = None,
        torch: str = "",
    ) -> None:
        self._facts = facts
        self._knowledge = knowledge
        self._shape = shape
        self._lengths = lengths
        self._torch = torch
        self._known: dict[frozenset[tuple[str, Scalar]], Prediction | Refusal] = {}

    @cached_property
    def before(self) -> Prediction | Refusal:
        """Predict the job as it is."""
        return self._predict(self._facts)

    def after(self, values: Mapping[str, Scalar]) -> Prediction | Refusal:
        """Predict the job with other values of canonical parameters."""
        key = frozenset(values.items())
        if key not in self._known:
            known = facts_with(self._facts, values)
            self._known[key] = self._predict(
                derive_memory(known, self._knowledge, self._shape, torch=self._torch)
            )
        return self._known[key]

    def predicted(self, values: Mapping[str, Scalar]) -> Predicted | None:
        """Give the peak before and after; None where one is not known, or nothing gets less."""
        before = self.before
        if isinstance(before, Refusal) or before.limit_gib is None:
            return None
        after = self.after(values)
        if isinstance(after, Refusal) or before.card.gib - after.card.gib < SEEN_GIB:
            return None
        return compared(before, after)

    def _predict(self, facts: Facts) -> Prediction | Refusal:
        known = self._knowledge
        shape = self._shape or shape_of(facts, known.models)
        found = workload_of(
            facts, shape, self._lengths, models=known.models, datasets=known.datasets
        )
        return found if isinstance(found, Refusal) else predict(found[0], known.memory)


def compared(before: Prediction, after: Prediction, scale: float = 1.0) -> Predicted | None:
    """Give what the card takes before and after, GiB per GPU; None where its size is not known.

    `scale` corrects the model by what the job was seen to take.
    """
    limit = after.limit_gib or before.limit_gib
    if limit is None:
        return None
    return Predicted(
        before_gib=round(scale * before.card.gib, 1),
        after_gib=round(scale * after.card.gib, 1),
        limit_gib=round(limit, 1),
        low_gib=round(scale * after.card.low, 1),
        high_gib=round(scale * after.card.high, 1),
    )
