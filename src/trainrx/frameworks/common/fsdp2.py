"""What NeMo's two trainers share: FSDP2, tensor and context parallelism by DTensor."""

from __future__ import annotations

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.layout import ONLINE
from trainrx.frameworks.common.memory import FULL
from trainrx.model.facts import Facts


class Fsdp2(Framework):
    """A trainer that shards with FSDP2 unless told otherwise."""

    fsdp2 = True
    lora_by_rank = True
    checkpoints = False
    freezes_tower = False
    splits_matrices = True
    global_batch = True
    full_without_adapter = True
    """`peft`, `lora_cfg`."""

    def unmodelled_setting(self, facts: Facts, *, megatron: bool) -> str:
        """Name Megatron-FSDP, stages of FSDP2, experts spread over cards, an engine elsewhere.

        What spread experts keep differs by kernel; an engine on cards of its own is in the count of
        cards.
        """
        online = facts.text("launch.task") in ONLINE
        refused = {
            "parallel.strategy": facts.value("parallel.strategy") == "mfsdp",
            "parallel.pipeline": not megatron and (facts.whole("parallel.pipeline") or 1) > 1,
            "parallel.expert": (facts.whole("parallel.expert") or 1) > 1,
            "vllm.mode": online and facts.value("vllm.mode") == "server",
        }
        return next((kind for kind, holds in refused.items() if holds), "")

    def fsdp_version(self, facts: Facts, strategy: str) -> int:
        """It is FSDP2 unless DDP or Megatron is chosen."""
        return 0 if strategy == "ddp" or "megatron" in strategy else 2

    def mixes(self, facts: Facts, *, sharded: bool) -> bool | None:
        """Weights that are sharded are gathered in bf16."""
        return sharded and facts.word("train.precision") != FULL

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """Pipeline x tensor x context.

        Automodel: components/distributed/mesh_utils.py; RL: models/policy/lm_policy.py.
        """
        return "parallel.tensor", "parallel.pipeline", "parallel.sequence"

    def fsdp_shards(self, facts: Facts, world: int | None) -> int | None:
        """All ranks of a stage hold a part: what TP splits, FSDP2 splits further."""
        stages = facts.degree("parallel.pipeline")
        if facts.text("parallel.strategy") == "ddp":
            return 1
        return world // stages if world and stages else None
