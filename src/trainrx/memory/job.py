"""What every step from facts to a workload asks of the job, and what it takes for granted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from trainrx.frameworks import framework_of
from trainrx.frameworks.common.memory import runs
from trainrx.memory.extremes import may_raise
from trainrx.model.assumptions import ASSUMPTIONS, REFUSALS, say
from trainrx.model.facts import Facts, Origin
from trainrx.model.memory import Assumption, OpenTerm, Refusal
from trainrx.versions.ranges import in_range

PAIRS = frozenset({"dpo", "orpo", "simpo", "cpo", "rm"})
"""One sample is two sequences, chosen and rejected, which go through the model together."""
ONLINE = frozenset({"grpo", "ppo"})
"""The model is trained on its own completions."""
VISUAL = re.compile(r"visual|vision|vit\b|image_encoder|audio", re.IGNORECASE)
PROJECTOR = re.compile(r"merger|aligner|projector|mm_proj|mlp1|connector|resampler", re.IGNORECASE)
LARGEST = 10**9
"""Counts above this are no counts: the arithmetic behind would lose its meaning."""
OPEN = "launch.open_terms"
TELLING: Mapping[OpenTerm, str] = {
    "sharding": "parallel.deepspeed",
    "offload": "parallel.deepspeed",
    "length": "train.max_length",
    "tuner": "tuner.type",
    "checkpointing": "train.gradient_checkpointing",
    "precision": "train.precision",
    "kernels": "train.attention",
    "batch": "train.micro_batch",
}
"""The parameter that tells a term."""
RefusalKind = Literal["unknown", "unmodelled", "impossible"]


class TrainingJob:
    """Facts of one job with the questions of the memory model; collects assumptions as it goes."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.framework = framework_of(facts.text("launch.framework") or "")
        self.version = facts.text("launch.framework_version") or ""
        self.task = facts.text("launch.task") or ""
        command = facts.text("launch.command") or ""
        strategy = facts.text("parallel.strategy") or ""
        self.megatron = command.startswith("megatron") or "megatron" in strategy
        self.fsdp = self.framework.fsdp_version(facts, strategy)
        self.deepspeed = not self.megatron and not self.fsdp and self._runs_deepspeed()
        self.assumed: dict[str, Assumption] = {}
        self.understood: set[OpenTerm] = set()
        self._open: list[OpenTerm] = []

    def release(self, wanted: str) -> bool:
        """Tell whether the framework's version is certain to be one of these; of "" it is not."""
        return runs(self.facts, wanted)

    def may_be(self, wanted: str) -> bool:
        """Tell whether the framework's version may be one of these; of "" it is not."""
        return bool(wanted) and (not self.version or in_range(self.version, wanted) is not False)

    def whole(self, kind: str) -> int | None:
        """Give a whole number of a fact; None when it is unknown, no whole number or absurd."""
        value = self.facts.number(kind)
        if value is None or value != int(value) or abs(value) > LARGEST:
            return None
        return int(value)

    def positive(self, kind: str) -> int | None:
        """Give a whole number above 0."""
        value = self.whole(kind)
        return value if value is not None and value > 0 else None

    def degree(self, kind: str) -> int:
        """Give a degree of parallelism: 1 where nothing asks for more."""
        return self.positive(kind) or 1

    def card_gib(self) -> float | None:
        """Give the memory of a card, GiB; None when it is unknown or no size."""
        size = self.facts.number("hardware.gpu_gib")
        return size if size is not None and 0 < size < LARGEST else None

    def is_on(self, kind: str) -> bool:
        """Tell whether a switch is known to be on."""
        return self.facts.value(kind) is True

    def text(self, kind: str) -> str:
        """Give a text in lower case; "" when it is unknown or None."""
        return self.facts.word(kind)

    def assume(self, ident: str, param: str = "", **values: str) -> None:
        """Name something that was taken for granted, once."""
        pairs = tuple(values.items())
        said = say(ASSUMPTIONS, ident, pairs, "en")
        self.assumed.setdefault(ident, Assumption(id=ident, text=said, param=param, values=pairs))

    def opened(self, term: OpenTerm) -> str:
        """Say what may set a term nobody understands; "" where it is understood."""
        found = self.facts.get(OPEN)
        return "" if found is None else str(found.get(term) or "")

    def leave_open(self, term: OpenTerm, ident: str, param: str, **values: str) -> None:
        """Name a term that is not known, and what would tell it."""
        self._open.append(term)
        self.assume(ident, param, **values)
        item = self.assumed[ident]
        self.assumed[ident] = msgspec.structs.replace(item, decides=True, may_raise=may_raise(term))

    def left_open(self) -> tuple[OpenTerm, ...]:
        """Give all terms that are not known, each named among what is taken for granted."""
        for term, param in TELLING.items():
            by = "" if term in self.understood else self.opened(term)
            if by and term not in self._open:
                self.leave_open(term, f"open-{term}", param, by=by)
        return tuple(dict.fromkeys(self._open))

    def impossible(self, ident: str, *kinds: str, **values: str) -> Refusal:
        """Refuse a layout that cannot run, citing the facts that make it so."""
        origins = self.facts.origins(*kinds)
        return refusal("impossible", ident, values, asks=kinds, evidence=origins)

    def unknown(self, ident: str, *kinds: str, **values: str) -> Refusal:
        """Refuse for want of an input."""
        return refusal("unknown", ident, values, asks=kinds)

    def unmodelled(self, ident: str, *kinds: str, **values: str) -> Refusal:
        """Refuse what no formula is measured for."""
        return refusal("unmodelled", ident, values, evidence=self.facts.origins(*kinds))

    def unmodelled_value(self, kind: str, value: str) -> Refusal:
        """Refuse the value of a parameter that no formula is measured for."""
        return self.unmodelled("setting", kind, param=kind, value=value)

    def trains_adapters(self) -> bool:
        """Tell whether adapters are trained, the base weights being frozen."""
        return self.tuner() not in ("full", "freeze")

    def trains_whole_in_megatron(self) -> bool:
        """Tell whether this is a Megatron command of a release without adapters."""
        return self.megatron and self.release(self.framework.full_in_megatron)

    def tuner(self) -> str:
        """Give what is trained in the framework's word; its default where nothing tells."""
        told = self.text("tuner.type")
        if self.trains_whole_in_megatron():
            return "full"
        if told:
            return told
        if self.framework.lora_by_rank:
            return "lora" if (self.positive("tuner.rank") or 0) > 0 else "full"
        default = "full" if self.megatron else self.framework.default_tuner
        self.assume("tuner", "tuner.type", tuner=default)
        return default

    def _runs_deepspeed(self) -> bool:
        setting = (self.facts.text("parallel.deepspeed") or "").strip().lower()
        return self.framework.always_deepspeed or setting not in ("", "none", "null", "false")


def refusal(
    kind: RefusalKind,
    ident: str,
    values: Mapping[str, object],
    *,
    asks: tuple[str, ...] = (),
    evidence: tuple[Origin, ...] = (),
) -> Refusal:
    """Say why there is no figure."""
    pairs = tuple((key, str(value)) for key, value in values.items())
    reason = say(REFUSALS, ident, pairs, "en")
    return Refusal(kind=kind, id=ident, reason=reason, asks=asks, evidence=evidence, values=pairs)
