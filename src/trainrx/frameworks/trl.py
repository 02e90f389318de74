"""TRL of Hugging Face: https://github.com/huggingface/trl.

Where its file and the command line give the same argument, the command line goes first; `env` of
the file overrides the environment (trl/scripts/utils.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from trainrx.frameworks.common.layout import by_beta, switched_off
from trainrx.frameworks.common.memory import FULL, runs
from trainrx.frameworks.common.script import PRINTED, argument_names
from trainrx.frameworks.transformers import OWN_PROGRAM, TRAINING_ARGUMENTS, HfTrainer
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.job import RawLaunch, Role
from trainrx.model.pattern import late
from trainrx.versions.ranges import in_range

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import Kind

CLASS = late(
    r"(SFT|DPO|GRPO|KTO|PPO|Reward|RLOO|ORPO|CPO|GKD|BCO|PRM|OnlineDPO|XPO|NashMD)(?:v2)?"
    r"(Config|Trainer)"
)
"""Its classes, by the command they are."""
_OPEN_R1 = late(r"(?:.*/)?open_r1\w*/(?P<name>sft|grpo)(?:_\w+)?\.py")
"""Programs of open-r1 and what goes on from it: its parser takes TRL's configurations
(https://github.com/huggingface/open-r1/blob/main/src/open_r1/grpo.py)."""
_COMMANDS = {"onlinedpo": "online_dpo", "nashmd": "nash_md"}
_GRPO = frozenset({"num_generations", "max_completion_length"})
"""Fields of GRPOConfig no other trainer has: a script of the user's own hands them on."""

_REWARD_INPUTS = frozenset(
    {"prompts", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric"}
    | {"environments", "images"}
)
"""What a reward function is given whatever the data is."""


class Trl(HfTrainer):
    """TRL's commands and scripts, and scripts of one's own with its arguments."""

    name = "trl"
    spelled = True
    names_data = True
    refuses_unknown = True
    catalog_commands = ("{}",)
    lineage = ("trl", "transformers")
    inner_packages = OWN_PROGRAM
    precedence = 1
    folders = ("trl",)
    handed_on = ""
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
    train_data = ("dataset_name",)

    def reward_inputs(self, columns: Sequence[str]) -> frozenset[str]:
        """Give the columns beside prompt and completion (grpo_trainer.py: _calculate_rewards)."""
        return _REWARD_INPUTS | set(columns) - {"prompt", "completion"}

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its scripts; variants lie beside those they came of: sft_vlm.py, dpo_vlm.py."""
        found = self.matched(entry)
        name = "" if found is None else found["name"].replace("vllm_serve", "vllm-serve")
        known = (word for word in (name, name.partition("_")[0]) if word in self.commands)
        command = next(known, "")
        if command:
            return self.launch(command, entry.args)
        built_on = _OPEN_R1.fullmatch(entry.path.text)
        if built_on is not None:
            return self.launch(built_on["name"], entry.args)
        names = argument_names(entry.args)
        if names >= _GRPO and names & TRAINING_ARGUMENTS:
            return self.launch("grpo", entry.args)
        return None

    # Memory ---------------------------------------------------------------------------------------
    default_rank = 16
    loads_as = "fp32-or-stored"
    """fp32 unless told since 0.26 (trainer/utils.py: create_model_from_path); before, as
    `from_pretrained` does: fp32 unless told up to transformers 4."""
    own_fp32_logits = "<0.11"
    drops_logits = ("<0.13",)
    loss_in_chunks = (("sft", ">=1.7"), ("dpo", ">=1.15"), ("grpo", ">=1.15"))
    """trl/trainer/sft_config.py (`loss_type`), dpo_trainer.py and grpo_trainer.py: per-token
    log-probabilities "in chunks, without materializing the full logits"."""
    completion_logits = True
    """`logits_to_keep` of trl/trainer/grpo_trainer.py."""
    cuts_samples = True
    engine_share = 0.3
    """trl/trainer/grpo_config.py."""

    def mixes(self, facts: Facts, *, sharded: bool) -> bool | None:
        """From 0.19 on bf16 is on unless fp16 is set (sft_config.py: __post_init__).

        An explicit `--bf16 false` is the only way to do without.
        """
        if not runs(facts, ">=0.19"):
            return None
        given = facts.get("train.precision")
        return not (given is not None and given.how == "read" and given.value == FULL)

    def prepares_kbit(self, facts: Facts) -> bool:
        """It does unless the model is sharded (trainer/utils.py: prepare_peft_model).

        For bf16 it casts head and embeddings back (peft_module_casting_to_bf16).
        """
        return facts.word("train.mixed_precision") != "bf16" and not runs(facts, ">=0.19")

    # Batches and roles ----------------------------------------------------------------------------
    generation_batch = ("0.17", "0.18", "0.18")
    """grpo_trainer.py, grpo_config.py."""
    checks_generations = True
    ppo_critic = True

    def has_reference(self, facts: Facts, task: str) -> bool | None:
        """There is none with an adapter, nor for GRPO with beta 0 from 0.16 on."""
        version = facts.text("launch.framework_version") or ""
        zero = None if in_range(version, "<0.16") is not False else False
        return switched_off(facts, task, grpo=by_beta(facts, zero=zero, unknown=None))

    def python_class(self, name: str) -> Literal["", "Config", "Trainer"]:
        """Tell `SFTConfig` and `SFTTrainer`."""
        found = CLASS.fullmatch(name)
        return "" if found is None else cast("Literal['Config', 'Trainer']", found[2])

    def in_python(self, classes: Sequence[str], imports: Collection[str]) -> str | None:
        """Name the command of the first of its classes."""
        named = next((found for name in classes if (found := CLASS.fullmatch(name))), None)
        if named is None:
            return None
        short = named[1].lower()
        return _COMMANDS.get(short, short)

    def takes_only_listed(self, launch: RawLaunch) -> bool:
        """A script of someone's own may add names."""
        path = launch.program.replace(".", "/")
        return path.rpartition("/")[2] == "trl" or "trl/scripts" in path

    def printed_object(self, name: str, before: str) -> tuple[str, Kind] | None:
        """A configuration is called after the command."""
        if PRINTED.search(before) is None or not name.endswith("Config"):
            return None
        found = CLASS.fullmatch(name)
        return None if found is None else (found[1].lower(), "trainer")


FRAMEWORK = Trl()
