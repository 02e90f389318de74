"""verl: https://github.com/volcengine/verl."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.layout import ONLINE, Mode, critic_by_advantage
from trainrx.frameworks.common.memory import FULL, runs
from trainrx.frameworks.common.roles import script_role
from trainrx.frameworks.common.tables import TableContext, Tables
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.job import RawArg, RawLaunch, Role
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import DumpForm


_KEY = "actor_rollout_ref."
_PROGRAM = late(r"(?:.*[./])?verl[./](?:trainer|experimental[./]\w+)[./](?P<name>\w+?)(?:\.py)?")
_TABLES: Mapping[str, str] = {
    "main_ppo": "ppo_trainer",
    "main_ppo_sync": "ppo_trainer",
    "main_generation": "generation",
    "main_generation_server": "ppo_trainer",
    "main_eval": "evaluation",
    "fsdp_sft_trainer": "sft_trainer",
    "sft_trainer": "sft_trainer_engine",
    "sft_trainer_ray": "sft_trainer_engine",
    "fully_async_main": "fully_async_ppo_trainer",
}
"""The `@hydra.main(config_name=...)` of its programs; those of recipes are in no wheel.

https://github.com/volcengine/verl/tree/v0.7.0/verl/trainer
"""
_SHIPPED_FOLDER = late(r"(?:\./|pkg://)?config|(?:.*/)?verl/trainer/config/?")
_ASYNC = late(r"one_step_off_policy[./]\w+")


class Verl(Framework):
    """verl's trainers, recipes and tools."""

    name = "verl"
    folders: ClassVar[tuple[str, ...]] = ("verl",)
    spelled = True
    precedence = -1
    path = late(
        r"(?:.*[./])?(?:verl[./](?:trainer|model_merger|experimental[./]\w+)|recipe[./]\w+"
        r"|verl(?=[./]model_merger))[./](?P<name>\w+?)(?:\.py)?"
    )
    bare_programs = (("", "python3 -m verl.trainer.main_ppo"),)
    file_flags = ("config",)
    runs_engine = True
    parser = "hydra"
    model_arguments = frozenset({"actor_rollout_ref.model.path"})
    composed = True
    catalog_commands: ClassVar[tuple[str, ...]] = ("{}_trainer",)
    train_data: ClassVar[tuple[str, ...]] = ("data.train_files",)
    eval_data: ClassVar[tuple[str, ...]] = ("data.val_files",)
    policy_gradient = frozenset({"ppo", "ppo_trainer"})
    takes_overrides = True
    only_assigns = True
    edits_assigned = True
    omegaconf = True
    nested_files = True
    lora_by_rank = True
    telling_keys = frozenset({"actor_rollout_ref", "algorithm", "trainer.n_gpus_per_node"})
    usual_keys = frozenset({"data", "trainer", "critic"})
    hybrid_engine = True

    def recognise(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its programs; one of someone's own takes the keys of its configuration."""
        own = any(word.text.lstrip("+~").startswith(_KEY) for word in entry.args)
        return self.by_path(entry) or (self.launch("ppo", entry.args) if own else None)

    def named_by(self, name: str) -> str:
        """Give the command: both programs of supervised training are `sft`."""
        found = super().named_by(name)
        return {"main": "ppo", "fsdp-sft-trainer": "sft", "sft-trainer": "sft"}.get(found, found)

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """Name the role by the program, which the command is called after."""
        return script_role(command) or "trainer"

    def brings_file(self, launch: RawLaunch) -> bool:
        """Its package has those of its programs; catalogs list them by name."""
        given = _flags(launch.args)
        folder = given.get("config_path") or given.get("cp")
        beside = given.get("config_dir") or given.get("cd")
        shipped = folder is None or _SHIPPED_FOLDER.fullmatch(folder) is not None
        return shipped and not beside and _PROGRAM.fullmatch(launch.program) is not None

    def usual_strategy(self, launch: RawLaunch) -> str:
        """FSDP, unless the configuration that is named or the engine is Megatron's."""
        given = _flags(launch.args)
        chosen = " ".join((given.get("config_name", ""), given.get("model_engine", "")))
        return "megatron" if "megatron" in chosen else "fsdp"

    # Memory ---------------------------------------------------------------------------------------
    loads_as = "fp32-or-fp16"
    """workers/fsdp_workers.py: torch_dtype of the actor; model_dtype."""
    freezes_tower = False
    flash_attention = True
    """workers/fsdp_workers.py."""
    flash_loss = True
    """utils/torch_functional.py; head and loss in one with use_fused_kernels."""
    tokens_per_gpu = True
    """utils/seqlen_balancing.py: rearrange_micro_batches."""
    engine_share = 0.5
    """rollout.yaml."""
    always_samples = True
    full_critic = True
    """It has a rank of its own (critic.model.lora_rank), 0 unless told."""

    def fsdp_version(self, facts: Facts, strategy: str) -> int:
        """It trains with FSDP unless Megatron is chosen (trainer/config/ppo_trainer.yaml)."""
        return 2 if strategy == "fsdp2" else 0 if "megatron" in strategy else 1

    def mixes(self, facts: Facts, *, sharded: bool) -> bool | None:
        """It works in bf16 by its own default."""
        return facts.word("train.precision") != FULL

    def engine_sleeps(self, facts: Facts) -> bool:
        """The engine frees weights and cache while the actor trains (rollout.yaml)."""
        return facts.value("rollout.free_cache_engine") is not False

    def leaves_card(self, facts: Facts, part: Literal["model", "optimizer"]) -> bool:
        """Read what is offloaded, which comes back for its update alone.

        param_offload, optimizer_offload of the actor (workers/fsdp_workers.py: update_actor).
        """
        kind = "params" if part == "model" else part
        return facts.value(f"parallel.offload_{kind}") is True

    def critic_leaves(self, facts: Facts) -> tuple[Literal["model", "optimizer"], ...] | None:
        """Read its own switches: each worker moves its own model (workers/fsdp_workers.py)."""
        kinds: Mapping[Literal["model", "optimizer"], str] = {
            "model": "rlhf.critic_param_offload",
            "optimizer": "rlhf.critic_optimizer_offload",
        }
        return tuple(part for part, kind in kinds.items() if facts.value(kind) is True)

    def copies_on_host(self, facts: Facts) -> bool:
        """Under FSDP what is never trained is CPU-offloaded, whatever its configuration says.

        CPUOffload for all but the actor in workers/fsdp_workers.py (v0.2 to v0.7.1), of what is
        forward_only in workers/engine/fsdp/transformer_impl.py (since v0.6).
        """
        told = facts.value("rlhf.reference_param_offload") is True
        sharded = "megatron" not in (facts.text("parallel.strategy") or "")
        return told or (sharded and not runs(facts, "<0.2"))

    # Batches, processes and roles -----------------------------------------------------------------
    global_batch = True
    """Supervised training (trainer/fsdp_sft_trainer.py)."""
    batch_of_prompts = True
    """ppo_mini_batch_size prompts with n completions each (workers/fsdp_workers.py)."""
    prompts_per_step = True
    stands_by: ClassVar[tuple[str, ...]] = ("transformers",)

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """With FSDP it is the Ulysses degree (workers/fsdp_workers.py)."""
        sharded = "fsdp" in (facts.text("parallel.strategy") or "fsdp")
        return ("parallel.sequence",) if sharded else None

    def fsdp_shards(self, facts: Facts, world: int | None) -> int | None:
        """All ranks, or as many as fsdp_size says."""
        if "fsdp" not in (facts.text("parallel.strategy") or ""):
            return None
        return facts.whole("parallel.fsdp_size") or world

    def has_engine(self, facts: Facts) -> bool:
        """Read the engine's name, else the switch all share."""
        named = facts.text("rollout.engine") in ("vllm", "sglang")
        return named or super().has_engine(facts)

    def samples_itself(self, facts: Facts) -> bool:
        """It does where there is no engine of any name."""
        return super().samples_itself(facts) and not self.has_engine(facts)

    def rollout_mode(self, facts: Facts) -> Mode | None:
        """The hybrid engine: actor and engine take turns on the same cards."""
        return "colocate", ("vllm.enabled", "rollout.engine")

    def has_reference(self, facts: Facts, task: str) -> bool | None:
        """There is one with a KL term and no LoRA (`ref_in_actor`)."""
        terms = [facts.value(f"rlhf.kl_in_{place}") for place in ("loss", "reward")]
        if facts.text("tuner.type") == "lora":
            return False
        if True in terms:
            return True if facts.text("tuner.type") == "full" else None
        return False if terms == [False, False] else None

    def has_critic(self, facts: Facts, task: str) -> bool | None:
        """Read its switch, else the advantage estimator."""
        return critic_by_advantage(facts) if task in ONLINE else False

    def has_reward_model(self, facts: Facts, task: str) -> bool | None:
        """Nothing but a switch of its own tells."""
        return None

    def takes_only_listed(self, launch: RawLaunch) -> bool:
        """Hydra refuses what its configuration does not have."""
        return True

    def tables(self, context: TableContext) -> Tables:
        """Find the configuration hydra starts from: named, chosen, or the program's own."""
        launch, own = context.launch, context.listed
        given = _flags(launch.args)
        named = (given.get("config_name") or given.get("cn") or "").removesuffix(".yaml")
        folders = (given.get(name) for name in ("config_path", "cp", "config_dir", "cd"))
        folder = next((place for place in folders if place), "")
        shipped = not folder or _SHIPPED_FOLDER.fullmatch(folder) is not None
        default = _program_table(context)
        table = named or default
        engine = given.get("model_engine", "")
        if table == "ppo_trainer" and f"ppo_{engine}_trainer" in own:
            table = f"ppo_{engine}_trainer"
        if table in own and shipped and (default or not launch.program):
            return Tables(table)
        based = next((name for name in context.values("defaults") if name in own), None)
        if based is not None:
            return Tables(based)
        return Tables(table if table in own else context.command, closed=False)

    def dumps(self) -> Iterable[DumpForm]:
        """Give the configuration as verl/trainer/main_ppo.py prints it."""
        from trainrx.frameworks.common.dumps import DumpForm, read_dict

        yield DumpForm(
            b"'actor_rollout_ref': {",
            lambda text, _: read_dict(text, self.name, "", "arguments"),
            re.compile(rb"\{$"),
        )


def _flags(args: Sequence[RawArg]) -> dict[str, str]:
    return {arg.name: arg.values[0] for arg in args if arg.values}


def _program_table(context: TableContext) -> str:
    """Give the configuration of a program of verl's own, "" of any other."""
    program = context.launch.program
    if not program:
        return context.command
    found = _PROGRAM.fullmatch(program)
    if found is not None and _ASYNC.search(program):
        return "one_step_off_ppo_trainer"
    return _TABLES.get(found["name"], "") if found is not None else ""


FRAMEWORK = Verl()
