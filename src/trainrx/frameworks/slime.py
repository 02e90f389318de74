"""slime: https://github.com/THUDM/slime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import argument_names
from trainrx.frameworks.common.task import TaskFound, find
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import RawArg, RawLaunch, Setting
from trainrx.model.pattern import late

_ARGUMENTS = frozenset(
    {"rollout_num_gpus_per_engine", "rollout_max_response_len", "num_rollout", "hf_checkpoint"}
    | {"rm_type", "sglang_mem_fraction_static", "ref_load", "over_sampling_batch_size"}
    | {"max_tokens_per_gpu", "num_steps_per_rollout", "n_samples_per_eval_prompt"}
    | {"eval_prompt_data", "rollout_function_path"}
)
"""Arguments of slime and its forks that OpenRLHF and Megatron do not have; two of them tell."""


class Slime(Framework):
    """slime's two programs, and programs of someone's own that take its arguments."""

    name = "slime"
    folders: ClassVar[tuple[str, ...]] = ("slime",)
    plain_folders = True
    checkout = ("https://github.com/THUDM/slime", "pip install -e . --no-deps")
    spelled = True
    path = late(r"(?:.*/)?slime/(?P<name>train|train_async)\.py")
    runs_engine = True
    parser = "argparse"
    model_arguments = frozenset({"hf_checkpoint"})
    policy_gradient = frozenset({"train"})
    unset_advantage = "grpo"
    """Its slime/utils/arguments.py."""

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its programs by the folder, others by the arguments."""
        return self.by_path(entry) or (
            self.launch("train", entry.args) if takes_arguments(entry) else None
        )

    def named_by(self, name: str) -> str:
        """Both programs train."""
        return "train"

    def task(
        self,
        command: str,
        launch: RawLaunch,
        configs: Sequence[RawArg],
        settings: Mapping[str, Setting],
    ) -> TaskFound | None:
        """Tell supervised training, a loss of its own in the same program."""
        loss = find("loss_type", launch, configs)
        return (
            ("sft", (loss.origin,)) if loss is not None and loss.values == ("sft_loss",) else None
        )

    memory_measured = False
    """Its engine is SGLang, beside Megatron."""


def takes_arguments(entry: EntryPoint) -> bool:
    """Tell whether a program takes what only slime and its forks take."""
    return len(argument_names(entry.args) & _ARGUMENTS) > 1


FRAMEWORK = Slime()
