"""OpenRLHF: https://github.com/OpenRLHF/OpenRLHF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.layout import ONLINE, OPEN, Mode, critic_by_advantage
from trainrx.frameworks.common.memory import FULL
from trainrx.frameworks.common.script import argument_names
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.job import Role
from trainrx.model.pattern import late

_SCRIPT = late(r"train_(?P<name>sft|ppo|ppo_ray|dpo|rm|kto|kd|prm)\.py")
_ENGINES = "vllm.num_infer_workers"


class OpenRlhf(Framework):
    """OpenRLHF's modules, and their scripts copied elsewhere."""

    name = "openrlhf"
    folders = ("openrlhf", "OpenRLHF")
    spelled = True
    programs = ("openrlhf",)
    path = late(r"(?:.*[./])?openrlhf[./]cli[./](?P<name>\w+?)(?:\.py)?")
    command_roles: ClassVar[Mapping[str, Role]] = {
        "serve-rm": "reward",
        "batch-inference": "inference",
        "interactive-chat": "inference",
        "lora-combiner": "export",
    }
    policy_gradient = frozenset({"ppo", "ppo_ray"})
    refuses_unknown = True
    runs_engine = True
    parser = "argparse"
    model_arguments = frozenset({"pretrain", "actor.model_name_or_path"})
    catalog_commands = ("train_{}", "{}")
    also_called = ("open-rlhf",)
    lora_by_rank = True

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its modules; a copy of a script is known by its arguments."""
        found = self.by_path(entry)
        script = _SCRIPT.fullmatch(entry.name)
        if found is not None or script is None:
            return found
        names = argument_names(entry.args)
        own = "pretrain" in names and names & {"zero_stage", "micro_train_batch_size"}
        return self.launch(script["name"].replace("_", "-"), entry.args) if own else None

    # Memory ---------------------------------------------------------------------------------------
    always_deepspeed = True
    """openrlhf/utils/deepspeed."""
    loads_as = "asked"
    splits_matrices = True
    counts_by_role = True
    checkpoints = False
    flash_attention = True
    eager_unpacked = "<0.8.10"
    """openrlhf/models/actor.py."""
    limits_total = True
    """data.max_len."""
    engine_share = 0.95
    """openrlhf/cli/train_ppo_ray.py."""
    always_samples = True

    def mixes(self, facts: Facts, *, sharded: bool) -> bool | None:
        """It works in bf16 by its own default."""
        return facts.word("train.precision") != FULL

    # Batches, processes and roles -----------------------------------------------------------------
    global_batch = True
    """`train_batch_size` (utils/deepspeed/deepspeed.py)."""
    prompts_per_step = True
    spans_cards = False
    stands_by = ("transformers",)

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """Ring x tensor (utils/deepspeed/deepspeed.py)."""
        return "parallel.tensor", "parallel.sequence"

    def roles_apart(self, facts: Facts) -> bool:
        """Tell training under Ray.

        `train_ppo` without Ray (to 0.6.1) keeps all models and the sampling in one process per card
        (cli/train_ppo.py).
        """
        return facts.text("launch.task") in ONLINE and facts.text("launch.command") != "ppo"

    def has_engine(self, facts: Facts) -> bool:
        """There is one under Ray alone, and where engines are asked for (cli/train_ppo_ray.py)."""
        return self.roles_apart(facts) and facts.whole(_ENGINES) is not None

    def samples_itself(self, facts: Facts) -> bool:
        """It does without Ray, and without engines."""
        none = facts.number(_ENGINES) == 0 or facts.is_unset(_ENGINES)
        return none or not self.roles_apart(facts)

    def rollout_mode(self, facts: Facts) -> Mode | None:
        """Engines have cards of their own unless all models are colocated."""
        return ("server", (_ENGINES,)) if facts.is_unset("vllm.mode") else OPEN

    def has_reference(self, facts: Facts, task: str) -> bool | None:
        """Online it takes a KL coefficient above 0."""
        beta = facts.number("rlhf.beta")
        if task in ONLINE:
            return None if beta is None else beta > 0
        return True

    def has_critic(self, facts: Facts, task: str) -> bool | None:
        """Without Ray unless told otherwise, at every release (cli/train_ppo.py)."""
        if task not in ONLINE:
            return False
        found = critic_by_advantage(facts)
        if found is None and not self.roles_apart(facts) and facts.is_unset("rlhf.advantage"):
            return True
        return found

    def has_reward_model(self, facts: Facts, task: str) -> bool | None:
        """It loads one unless a service scores."""
        scored_here = facts.is_unset("rlhf.remote_reward")
        return True if "rlhf.reward_model" in facts or scored_here else None


FRAMEWORK = OpenRlhf()
