"""What every step from facts to a workload asks of the job, and what it takes for granted."""

from __future__ import annotations

import re

from trainrx.frameworks.common.traits import having
from trainrx.model.assumptions import ASSUMPTIONS, REFUSALS, say
from trainrx.model.facts import Facts
from trainrx.model.memory import Assumption, Refusal
from trainrx.versions.ranges import in_range

PAIRS = frozenset({"dpo", "orpo", "simpo", "cpo", "rm"})
"""One sample is two sequences, chosen and rejected, which go through the model together."""
ONLINE = frozenset({"grpo", "ppo"})
"""The model is trained on its own completions."""
TRAINERS = frozenset({"transformers", "trl", "axolotl", "llamafactory", "ms-swift", ""})
"""Train with the Trainer of transformers; a script of the user's own is taken for one."""
RANKED = having("lora_by_rank")
FSDP2 = having("fsdp2")
HYBRID = having("hybrid_engine")
VISUAL = re.compile(r"visual|vision|vit\b|image_encoder|audio", re.IGNORECASE)
PROJECTOR = re.compile(r"merger|aligner|projector|mm_proj|mlp1|connector|resampler", re.IGNORECASE)
LARGEST = 10**9
"""Counts above this are no counts: the arithmetic behind would lose its meaning."""


class TrainingJob:
    """Facts of one job with the questions of the memory model; collects assumptions as it goes."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.framework = facts.text("launch.framework") or ""
        self.version = facts.text("launch.framework_version") or ""
        self.task = facts.text("launch.task") or ""
        command = facts.text("launch.command") or ""
        strategy = facts.text("parallel.strategy") or ""
        self.megatron = command.startswith("megatron") or "megatron" in strategy
        self.fsdp = _fsdp(facts, strategy)
        self.deepspeed = not self.megatron and not self.fsdp and _deepspeed(facts, self.framework)
        self.assumed: dict[str, Assumption] = {}

    def release(self, wanted: str) -> bool:
        """Tell whether the framework's version is certain to be one of these."""
        return bool(self.version) and in_range(self.version, wanted) is True

    def may_be(self, wanted: str) -> bool:
        """Tell whether the framework's version may be one of these."""
        return not self.version or in_range(self.version, wanted) is not False

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

    def is_on(self, kind: str) -> bool:
        """Tell whether a switch is known to be on."""
        return self.facts.value(kind) is True

    def text(self, kind: str) -> str:
        """Give a text in lower case; "" when it is unknown or None."""
        found = (self.facts.text(kind) or "").strip().lower()
        return "" if found in ("none", "null") else found

    def assume(self, ident: str, param: str = "", **values: str) -> None:
        """Name something that was taken for granted, once."""
        pairs = tuple(values.items())
        said = say(ASSUMPTIONS, ident, pairs, "en")
        self.assumed.setdefault(ident, Assumption(id=ident, text=said, param=param, values=pairs))

    def impossible(self, ident: str, *kinds: str, **values: str) -> Refusal:
        """Refuse a layout that cannot run, citing the facts that make it so."""
        pairs = tuple(values.items())
        said = say(REFUSALS, ident, pairs, "en")
        origins = self.facts.origins(*kinds)
        return Refusal(
            kind="impossible", id=ident, reason=said, asks=kinds, evidence=origins, values=pairs
        )

    def unknown(self, ident: str, *kinds: str, **values: str) -> Refusal:
        """Refuse for want of an input."""
        pairs = tuple(values.items())
        said = say(REFUSALS, ident, pairs, "en")
        return Refusal(kind="unknown", id=ident, reason=said, asks=kinds, values=pairs)

    def unmodelled(self, ident: str, *kinds: str, **values: str) -> Refusal:
        """Refuse what no formula is measured for."""
        pairs = tuple(values.items())
        said = say(REFUSALS, ident, pairs, "en")
        origins = self.facts.origins(*kinds)
        return Refusal(kind="unmodelled", id=ident, reason=said, evidence=origins, values=pairs)

    def trains_adapters(self) -> bool:
        """Tell whether adapters are trained, the base weights being frozen."""
        return self.tuner() not in ("full", "freeze")

    def trains_whole_in_megatron(self) -> bool:
        """Tell whether this is a Megatron command of ms-swift before 3.7, which had no adapters.

        Its `train_type` is inherited and means nothing (swift/megatron/argument of 3.6).
        """
        return self.megatron and self.framework == "ms-swift" and self.release("<3.7")

    def tuner(self) -> str:
        """Give what is trained in the framework's word; its default where nothing tells.

        `freeze` is LLaMA-Factory's; verl, EasyR1, OpenRLHF and NeMo go by the rank (verl/workers/
        fsdp_workers.py, openrlhf/models/actor.py).
        """
        told = self.text("tuner.type")
        if self.trains_whole_in_megatron():
            return "full"
        if told:
            return told
        if (self.positive("tuner.rank") or 0) > 0 and self.framework in RANKED:
            return "lora"
        default = "full"
        if self.framework in ("ms-swift", "llamafactory") and not self.megatron:
            # swift 2 to 4: sft_type / train_type / tuner_type; LLaMA-Factory: finetuning_type
            default = "lora"
        if self.framework not in RANKED:
            self.assume("tuner", "tuner.type", tuner=default)
        return default


def _fsdp(facts: Facts, strategy: str) -> int:
    """Give the version of FSDP in use; 0 where none shards.

    Unset, `--fsdp` means version 1 (accelerate: FSDP_VERSION).
    """
    framework = facts.text("launch.framework")
    if framework == "easyr1":
        return 1  # its only way (workers/fsdp_workers.py)
    if framework == "verl":
        # verl trains with FSDP unless Megatron is chosen (trainer/config/ppo_trainer.yaml)
        if strategy == "fsdp2":
            return 2
        return 0 if "megatron" in strategy else 1
    if framework in FSDP2:
        return 0 if strategy == "ddp" or "megatron" in strategy else 2
    setting = (facts.text("parallel.fsdp") or "").strip().lower()
    sharding = facts.text("parallel.fsdp_sharding") or ""
    if setting in ("", "none", "false", "no_shard") or sharding == "no_shard":
        return 0
    version = facts.number("parallel.fsdp_version")
    return 2 if version == 2 or setting.startswith("fsdp2") else 1


def _deepspeed(facts: Facts, framework: str) -> bool:
    """Tell whether DeepSpeed trains; OpenRLHF always does (openrlhf/utils/deepspeed)."""
    if framework == "openrlhf":
        return True
    setting = (facts.text("parallel.deepspeed") or "").strip().lower()
    return setting not in ("", "none", "null", "false")
