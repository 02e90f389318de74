"""Megatron-LM of NVIDIA, its forks, and programs of one's own that take its arguments.

https://github.com/NVIDIA/Megatron-LM: torchrun or srun starts pretrain_gpt.py or a sibling of it;
megatron/training/arguments.py parses what stands behind, in forks with underscores as well.
"""

from __future__ import annotations

from collections.abc import Collection

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import argument_names
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import Role
from trainrx.model.pattern import late

_ARGUMENTS = frozenset(
    {"tensor_model_parallel_size", "pipeline_model_parallel_size", "micro_batch_size"}
    | {"global_batch_size", "num_layers", "hidden_size", "num_attention_heads", "train_iters"}
    | {"seq_length", "max_position_embeddings", "use_distributed_optimizer", "tokenizer_type"}
    | {"sequence_parallel", "lr_decay_style", "ffn_hidden_size", "recompute_granularity"}
)
"""Arguments of megatron/training/arguments.py that others share singly."""
_TRAINERS = frozenset(
    {"per_device_train_batch_size", "gradient_accumulation_steps", "model_name_or_path"}
)
"""Arguments of the Trainer of transformers and of programs on it."""
_ENOUGH, _BESIDE_A_NAME = 5, 2
"""How many of them tell, by themselves and behind a program that is called like one of its own."""
_PRETRAINS = late(r"(?:.*/)?(?:pretrain|train|finetune)_?\w*\.py")


class MegatronLm(Framework):
    """Its programs, known by their arguments."""

    name = "megatron-lm"
    spelled = True
    path = late(r"(?:.*/)?pretrain_(?P<name>gpt|bert|t5|vlm|mamba|retro|ict|vision_\w+)\.py")
    precedence = 1
    """Others add names to the same arguments."""
    parser = "argparse"
    model_arguments = frozenset({"load"})
    refuses_unknown = True
    global_batch = True
    memory_measured = False

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read one of its programs, or one that takes many of its arguments."""
        known = len(argument_names(entry.args) & _ARGUMENTS)
        named = self.matched(entry) is not None or (
            known >= _BESIDE_A_NAME and _PRETRAINS.fullmatch(entry.path.text) is not None
        )
        names = argument_names(entry.args)
        if len(names & _TRAINERS) >= _BESIDE_A_NAME and self.matched(entry) is None:
            return None  # a program on the Trainer that sizes its model by options
        trains = known >= _ENOUGH or (named and known >= _BESIDE_A_NAME)
        return self.launch("megatron pt", entry.args) if trains or self.matched(entry) else None

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """Megatron's programs train."""
        return "trainer"


FRAMEWORK = MegatronLm()
