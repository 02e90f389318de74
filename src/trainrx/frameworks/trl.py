"""TRL of Hugging Face: https://github.com/huggingface/trl.

Where its file and the command line give the same argument, the command line goes first; `env` of
the file overrides the environment (trl/scripts/utils.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainrx.frameworks.common.script import argument_names
from trainrx.frameworks.transformers import TRAINING_ARGUMENTS, HfTrainer
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.job import Role
from trainrx.model.pattern import late

_GRPO = frozenset({"num_generations", "max_completion_length"})
"""Fields of GRPOConfig no other trainer has: a script of the user's own hands them on."""


class Trl(HfTrainer):
    """TRL's commands and scripts, and scripts of one's own with its arguments."""

    name = "trl"
    spelled = True
    refuses_unknown = True
    precedence = 1
    programs = ("trl",)
    commands = frozenset(
        {"sft", "dpo", "grpo", "kto", "ppo", "reward", "rloo", "orpo", "cpo", "gkd", "bco", "prm"}
        | {"online_dpo", "nash_md", "xpo", "vllm-serve"}
    )
    path = late(r"(?:.*[./])?(?:trl[./]|examples/)scripts[./](?P<name>\w+?)(?:\.py)?")
    command_roles: ClassVar[Mapping[str, Role]] = {"vllm-serve": "rollout"}
    telling_keys = frozenset(
        {"use_peft", "dataset_name", "attn_implementation", "lora_target_modules"}
        | {"num_generations", "max_completion_length", "max_prompt_length"}
    )
    usual_keys = frozenset({"model_name_or_path", "per_device_train_batch_size", "lora_r", "dtype"})
    environment_key = "env"

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its scripts; variants lie beside those they came of: sft_vlm.py, dpo_vlm.py."""
        found = self.matched(entry)
        name = "" if found is None else found["name"].replace("vllm_serve", "vllm-serve")
        known = (word for word in (name, name.partition("_")[0]) if word in self.commands)
        command = next(known, "")
        if command:
            return self.launch(command, entry.args)
        names = argument_names(entry.args)
        if names >= _GRPO and names & TRAINING_ARGUMENTS:
            return self.launch("grpo", entry.args)
        return None


FRAMEWORK = Trl()
