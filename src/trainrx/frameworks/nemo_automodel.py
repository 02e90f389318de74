"""NVIDIA NeMo Automodel: https://github.com/NVIDIA-NeMo/Automodel.

Read at v0.5.0 (nemo_automodel/cli/app.py; to v0.3.0 nemo_automodel/_cli/app.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from trainrx.frameworks.common.fsdp2 import Fsdp2
from trainrx.frameworks.common.sections import last_value
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.job import RawArg, RawLaunch, Word
from trainrx.model.pattern import late

_RECIPE = late(
    r"(?:.*[./])?(?:nemo_automodel[./]recipes[./](?:ll|vl)m(?:_\w+)?|examples/(?:ll|vl)m_\w+)"
    r"[./](?P<name>\w+?)(?:\.py)?"
)
_COMMANDS = {
    "finetune": "finetune",
    "train_ft": "finetune",
    "pretrain": "pretrain",
    "kd": "kd",
    "benchmark": "benchmark",
}
_NAMED_RECIPES = (("knowledgedistillation", "kd"), ("benchmarking", "benchmark"))
_TRAINS = late(r"(?:.*\.)?(?:TrainFinetuneRecipeForNextTokenPrediction|FinetuneRecipeForVLM)")
_WHOLE = ("model._target_", "step_scheduler.local_batch_size")
"""What no configuration that can be run is without: one that lacks it is a part of one."""
_MEASURED = frozenset({"finetune", "pretrain", "benchmark"})
"""Recipes whose memory formulas are measured for."""


class NemoAutomodel(Fsdp2):
    """Its command, and its recipes as scripts."""

    name = "nemo-automodel"
    folders = ("nemo_automodel",)
    spelled = True
    repository = "NVIDIA-NeMo/Automodel"
    programs = ("automodel", "am")
    commands = frozenset(_COMMANDS)
    path = late(r"nemo_automodel\._?cli\.app|(?:.*/)?nemo_automodel/_?cli/app\.py")
    default_command = "finetune"
    file_flags = ("config", "c")
    parser = "keys"
    model_arguments = frozenset({"model.pretrained_model_name_or_path"})
    nested_files = True
    nests_changes = True
    sections = True
    telling_keys = frozenset(
        {"step_scheduler", "model.pretrained_model_name_or_path", "distributed.strategy"}
        | {"packed_sequence.packed_sequence_size", "model.backend.rope_fusion"}
        | {"distributed.tp_size", "distributed.cp_size", "distributed.ep_size"}
    )
    usual_keys = frozenset(
        {"model", "distributed", "loss_fn", "dataloader", "peft", "dist_env", "recipe"}
    )

    def by_program(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read `automodel finetune llm -c x.yaml` (to 0.3) and `automodel x.yaml` (from 0.4)."""
        own = not entry.module and entry.name in self.programs
        return self._with_file(entry.args) if own else None

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read the module behind the command, and a recipe."""
        if self.matched(entry) is not None:
            return self._with_file(entry.args)
        recipe = _RECIPE.fullmatch(entry.path.text)
        if recipe is None or recipe["name"] not in _COMMANDS or not _names_file(entry.args):
            return None
        return self.launch(_COMMANDS[recipe["name"]], entry.args)

    def _with_file(self, args: Sequence[Word]) -> RecognisedLaunch | None:
        words = [word.text for word in args[:2]]
        if len(words) > 1 and words[0] in _COMMANDS and words[1] in ("llm", "vlm"):
            return self.launch(_COMMANDS[words[0]], args[2:])
        return self.launch("finetune", args) if _names_file(args) else None

    def command_with_files(self, launch: RawLaunch, args: Sequence[RawArg]) -> str:
        """Give the command by the recipe the files name."""
        recipe = last_value("recipe", args, launch.args)
        recipe = recipe or last_value("recipe._target_", args, launch.args)
        if launch.command != "finetune" or not recipe or _TRAINS.fullmatch(recipe):
            return launch.command
        name = recipe.rpartition(".")[2]
        known = (command for word, command in _NAMED_RECIPES if word in name.lower())
        return next(known, name)

    def is_part(self, launch: RawLaunch, args: Sequence[RawArg], files: Collection[str]) -> bool:
        """Tell whether something that every run needs is not set."""
        names = {arg.name for arg in (*args, *launch.args)}
        # where no file is named, the program takes one of its own
        return not names.issuperset(_WHOLE) if args else True

    defers_sync = ">=0.3"
    """nemo_automodel/components/distributed/utils.py: get_sync_ctx, defer_fsdp_grad_sync."""
    never_cuts = True
    """datasets/llm."""
    process_per_gpu = True
    """nemo_automodel/components/launcher/interactive.py."""

    def unmodelled_setting(self, facts: Facts, *, megatron: bool) -> str:
        """Name recipes of other kinds too."""
        found = super().unmodelled_setting(facts, megatron=megatron)
        other = (facts.value("launch.command") or "") not in _MEASURED
        return found or ("launch.command" if other else "")


def _names_file(args: Iterable[Word]) -> bool:
    return any(word.text.endswith((".yaml", ".yml")) or word.unknown for word in args)


FRAMEWORK = NemoAutomodel()
