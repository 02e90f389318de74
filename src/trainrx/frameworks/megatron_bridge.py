"""Megatron-Bridge of NVIDIA: https://github.com/NVIDIA-NeMo/Megatron-Bridge.

scripts/training/run_recipe.py takes the name of a recipe and overrides of its configuration
(`train.micro_batch_size=1`); what a recipe sets itself is not at hand.
"""

from __future__ import annotations

from collections.abc import Collection

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import argument_names
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import Role
from trainrx.model.pattern import late

_OVERRIDES = frozenset(
    {"train.micro_batch_size", "train.global_batch_size", "train.train_iters"}
    | {"checkpoint.pretrained_checkpoint", "model.tensor_model_parallel_size"}
    | {"model.pipeline_model_parallel_size", "model.context_parallel_size"}
)
_ENOUGH = 2
"""Fields of its ConfigContainer (src/megatron/bridge/training/config.py); two of them tell."""


class MegatronBridge(Framework):
    """Its program that runs recipes, and programs of one's own with the same overrides."""

    name = "megatron-bridge"
    spelled = True
    path = late(r"(?:.*/)?(?P<name>run_recipe|pretrain_recipe|finetune_recipe)\.py")
    parser = "hydra"
    takes_overrides = True
    model_arguments = frozenset({"checkpoint.pretrained_checkpoint"})
    global_batch = True
    memory_measured = False

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its program by a recipe behind it, others by the overrides."""
        names = argument_names(entry.args)
        own = self.matched(entry) is not None and "recipe" in names
        if not own and len(names & _OVERRIDES) < _ENOUGH:
            return None
        told = [word.text.rpartition("=")[2] for word in entry.args if "." not in word.text]
        pretrains = any(text == "pretrain" or "_pretrain_" in text for text in told)
        return self.launch("megatron pt" if pretrains else "megatron sft", entry.args)

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """Recipes train."""
        return "trainer"


FRAMEWORK = MegatronBridge()
