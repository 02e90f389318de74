"""LLaMA-Factory: `llamafactory-cli train`, `lmf`, `src/train.py` and older scripts.

0.9.3 on, `key=value` behind the file overrules it (OmegaConf.merge, hparams/parser.py).
https://github.com/hiyouga/LLaMA-Factory
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.layout import by_beta, switched_off
from trainrx.frameworks.common.processes import Processes, times
from trainrx.frameworks.common.tables import TableContext, Tables
from trainrx.frameworks.common.task import NOTHING, TRAINING, TaskFound, find, is_complete
from trainrx.frameworks.common.view import ArgumentView, Worked
from trainrx.frameworks.transformers import OWN_PROGRAM
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.formats import DataLayout
from trainrx.model.job import RawArg, RawLaunch, Role, Setting
from trainrx.model.pattern import late

_TRAIN = late(r"(?:.*/)?train(?:_bash|_sft|_pt|_rm|_ppo|_dpo)?\.py")
_IN_SOURCE = late(r"(?:.*/)?src/train\.py")
_OWN_FLAGS = frozenset({"--stage", "--finetuning_type", "--lora_target", "--template"})
_STAGE_SCRIPT = late(r"(?:.*[/\\])?train_(sft|pt|rm|ppo|dpo)\.py")
_HALVES = frozenset({"max_source_length", "max_target_length"})
_PREFERENCE = frozenset({"orpo", "simpo"})
_TRUE = frozenset({"1", "true", "y"})
_MEGATRON = frozenset(
    {"tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size"}
    | {"virtual_pipeline_model_parallel_size", "context_parallel_size"}
)
"""Arguments of mcore_adapter, which it trains with when USE_MCA=1."""
_SOURCE = late(r"(?:.*/)?src/train(?:_(?:bash|sft|pt|rm|ppo|dpo))?\.py")
_YES = frozenset({"1", "true", "y", "yes", "on"})

_FILE = late(r"[^=]+\.(?:ya?ml|json)")


class LlamaFactory(Framework):
    """The commands of its launcher, and the scripts that were before it."""

    name = "llamafactory"
    spelled = True
    folders = ("llamafactory", "LLaMA-Factory", "LlamaFactory")
    spoken = "llamafactory-cli"
    programs = ("llamafactory-cli", "lmf", "llamafactory")
    commands = frozenset({"train", "chat", "eval", "export", "api", "webchat", "webui"})
    path = late(r"(?:.*[./])?(?:llamafactory|llmtuner)[./](?:launcher|cli|train[./]tuner)(?:\.py)?")
    bare_programs = (("", "llamafactory-cli train"),)
    default_command = "train"
    command_roles: ClassVar[Mapping[str, Role]] = {
        "chat": "inference",
        "api": "inference",
        "webchat": "inference",
        "eval": "evaluation",
        "export": "export",
    }
    names_data = True
    refuses_unknown = True
    training_arguments = True
    also_called = ("lf",)
    two_dashes = True
    unchecked_files = True
    overrides_since = ">=0.9.3"
    takes_overrides = True
    bare_assigns = True
    edits_assigned = True
    omegaconf = True
    inner_packages = OWN_PROGRAM
    held_out_argument = "val_size"
    # 0.9.3: hparams/parser.py, _check_extra_dependencies
    switch_packages: ClassVar[Mapping[str, str]] = {
        "use_galore": "galore-torch",
        "use_apollo": "apollo-torch",
        "use_badam": "badam",
        "use_adam_mini": "adam-mini",
    }
    does_without_flash = True
    train_data = ("dataset",)
    eval_data = ("eval_dataset",)
    data_index = ("dataset_dir", "dataset_info.json")
    image_folder = "media_dir"
    adapter_arguments = ("adapter_name_or_path",)
    telling_keys = frozenset(
        {"finetuning_type", "cutoff_len", "lora_target", "dataset_dir", "stage"}
    )
    usual_keys = frozenset(
        {"template", "overwrite_cache", "preprocessing_num_workers", "deepspeed"}
    )

    def by_program(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read `llamafactory-cli train ...`."""
        own = not entry.module and entry.name in self.programs
        return self.by_command(entry.args) if own else None

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read its modules, and its scripts where the arguments or the folder tell."""
        if self.matched(entry) is not None:
            return self.by_command(entry.args) or self.launch("train", entry.args)
        if entry.module or not _TRAIN.fullmatch(entry.path.text):
            return None
        own = any(word.text.partition("=")[0] in _OWN_FLAGS for word in entry.args)
        plain = _IN_SOURCE.fullmatch(entry.path.text) is not None and (
            not entry.args or _FILE.fullmatch(entry.args[0].text) is not None
        )
        known = entry.name == "train_bash.py" or own or plain
        return self.launch("train", entry.args) if known else None

    def releases_starting(self, launch: RawLaunch) -> str | None:
        """Tell the releases by the script.

        `src/train_bash.py` was there to 0.7.0 and took the place of one script for each stage in
        0.0.9; 0.2.0 made one `cutoff_len` of the two lengths.
        """
        if _STAGE_SCRIPT.fullmatch(launch.program):
            return "<0.0.9"
        if launch.program.rpartition("/")[2] != "train_bash.py":
            return None
        return "<0.2" if any(arg.name in _HALVES for arg in launch.args) else "<0.7.1"

    def task(
        self,
        command: str,
        launch: RawLaunch,
        configs: Sequence[RawArg],
        settings: Mapping[str, Setting],
    ) -> TaskFound | None:
        """Read `stage` (default sft) and, for dpo, the loss that makes it ORPO or SimPO.

        Before 0.1 each stage had a script of its own (`src/train_ppo.py`).
        """
        if command != "train":
            return None
        stage = find("stage", launch, configs)
        named = _STAGE_SCRIPT.fullmatch(launch.program)
        if stage is None and named is not None:
            return named[1], (launch.origin,)
        if stage is None:
            return ("sft", (launch.origin,)) if is_complete(launch, configs) else NOTHING
        name = stage.values[0].lower() if stage.values else ""
        if name not in TRAINING:
            return NOTHING
        loss = find("pref_loss", launch, configs)
        if name == "dpo" and loss is not None:
            if loss.values is None:
                return NOTHING
            if loss.values and loss.values[0].lower() in _PREFERENCE:
                return loss.values[0].lower(), (stage.origin, loss.origin)
        return name, (stage.origin,)

    def is_own_program(self, program: str) -> bool:
        """Its scripts count too."""
        return super().is_own_program(program) or _SOURCE.fullmatch(program) is not None

    def tables(self, context: TableContext) -> Tables:
        """Tell the second program (USE_V1) and Megatron's arguments (USE_MCA) from the usual ones.

        A file alone does not say what it is given to: then the command fits that has most of its
        keys.
        """
        launch, variables = context.launch, context.variables
        if variables.get("USE_V1") in _TRUE and f"v1 {launch.command}" in context.listed:
            return Tables(f"v1 {launch.command}")
        names = {arg.name.replace("-", "_") for arg in (*launch.args, *context.configs)}
        if variables.get("USE_MCA") in _TRUE or (not launch.program and names & _MEGATRON):
            return Tables(context.command, closed=False)
        if launch.program:
            return Tables(context.command)
        return Tables(context.command, among=(context.command, "v1 train", "eval", "export"))

    def indexed_layout(
        self, entry: Mapping[str, object], layouts: Mapping[str, DataLayout]
    ) -> DataLayout | None:
        """Read the columns and tags of an entry."""
        from trainrx.frameworks.llamafactory.data import layout_of

        return layout_of(entry, layouts)

    def refused_entry(self, entry: Mapping[str, object], stage: str) -> tuple[str, str]:
        """Compare the pairs of an entry with what a stage trains on."""
        from trainrx.frameworks.llamafactory.data import pairs_refused

        return pairs_refused(entry, stage)

    def untold_tags(self, entry: Mapping[str, object]) -> tuple[str, ...]:
        """Name the roles that `tags` leaves out: they are none then."""
        from trainrx.frameworks.llamafactory.data import roles_untold

        return roles_untold(entry)

    def described_entry(
        self, entry: Mapping[str, object], rows: Sequence[Mapping[str, object]], stage: str
    ) -> Mapping[str, object] | None:
        """Read the columns, keys and roles of rows."""
        from trainrx.frameworks.llamafactory.entries import described

        return described(rows, stage, tagged="tags" in entry)

    def effective(self, view: ArgumentView) -> Worked:
        """Give what its parser and argument classes compute."""
        from trainrx.frameworks.llamafactory.effective import effective

        return effective(view)

    def processes(self, launch: RawLaunch, env: Mapping[str, str | None]) -> Processes:
        """`train` starts torchrun when FORCE_TORCHRUN is set, or several GPUs are visible."""
        if launch.command != "train":
            return Processes(1, distributed=False)
        visible = env.get("CUDA_VISIBLE_DEVICES")
        cards = len([card for card in visible.split(",") if card.strip()]) if visible else None
        forced = (env.get("FORCE_TORCHRUN") or "").lower() in _YES
        spread = True if forced else None if cards is None else cards > 1
        if not spread:
            return Processes(None if spread is None else 1, spread)
        number = env.get("NPROC_PER_NODE") or (str(cards) if cards else None)
        return Processes(times(number, env.get("NNODES", "1")), distributed=True)

    # Memory ---------------------------------------------------------------------------------------
    hf_trainer = True
    default_tuner = "lora"
    """finetuning_type."""
    loads_as = "computed"
    casts_trained = True
    """Unless pure_bf16 is set (model/adapter.py: init_adapter, cast_trainable_params_to_fp32)."""
    before_sdpa = "<0.4"
    own_fp32_logits = "<0.9"
    drops_logits = ("<0.9.2",)
    max_image_pixels = 768 * 768.0
    """image_max_pixels (hparams/model_args.py)."""
    cuts_samples = True
    length_halves = "<0.2"
    """src/llmtuner/dsets/preprocess.py of v0.1.8."""
    completion_default = True

    # Batches, processes and roles -----------------------------------------------------------------
    process_per_gpu = True
    """llamafactory/cli.py: NPROC_PER_NODE or the device count."""
    ppo_critic = False
    """A head of the actor."""
    names_refused_template = True
    stands_by = ("transformers", "trl")

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """Every process is a replica."""
        return ()

    def samples_itself(self, facts: Facts) -> bool:
        """PPO does at every release (train/ppo/trainer.py)."""
        return True

    def has_reference(self, facts: Facts, task: str) -> bool | None:
        """Read what train/trainer_utils.py does: create_ref_model."""
        if "rlhf.reference_model" in facts:
            return True
        return switched_off(facts, task, grpo=by_beta(facts, unknown=None))

    def has_reward_model(self, facts: Facts, task: str) -> bool | None:
        """Unless it is an adapter or a service elsewhere."""
        kind = facts.text("rlhf.reward_model_kind")
        return None if kind is None else kind == "full"


FRAMEWORK = LlamaFactory()
