"""Scripts on the Trainer of transformers: https://github.com/huggingface/transformers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import PRINTED, OwnScript, argument_names, command_of
from trainrx.frameworks.common.view import ArgumentView, Worked
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import DumpForm, Kind
    from trainrx.frameworks.common.processes import Processes
    from trainrx.model.job import RawLaunch

_PART = late(r"(?:Model|Data|Script|DataTraining|Finetuning|Generating)(?:Arguments|Config)")

_TRAINING_ONLY = frozenset(
    {"per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs"}
)
_PREPARES = late(r"(?i)(?:^|[^a-z])(?:prep|tokeni[sz]e)[\w-]*(?:\.py)?$")
"""Names of programs that parse the arguments of a training and only make its data ready."""
TRAINING_ARGUMENTS = _TRAINING_ONLY | frozenset(
    {"per_device_eval_batch_size", "lr_scheduler_type", "save_total_limit", "logging_steps"}
)
OWN_PROGRAM = frozenset({"transformers", "deepspeed", "accelerate", "peft"})
"""Packages that check inside a program that builds the trainer itself."""


_RANKS = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "SLURM_PROCID", "OMPI_COMM_WORLD_SIZE"})
"""Variables that tell a process that it is one of several."""


class HfTrainer(Framework):
    """What parses `TrainingArguments` itself."""

    library = True
    training_arguments = True
    inner_packages = frozenset({"transformers", "deepspeed", "accelerate"})

    def lone_process(self, launch: RawLaunch) -> bool:
        """A program that Python starts is one process, unless LOCAL_RANK is set.

        https://github.com/huggingface/accelerate/blob/v1.7.0/src/accelerate/state.py
        (PartialState: _prepare_backend)
        """
        told = {item.name for item in launch.env}
        return launch.alone and launch.env_complete and not told & _RANKS

    def processes(self, launch: RawLaunch, env: Mapping[str, str | None]) -> Processes:
        """It starts none itself."""
        from trainrx.frameworks.common.processes import Processes

        alone = self.lone_process(launch) and not env.keys() & _RANKS
        return Processes(1, distributed=False) if alone else Processes()

    def effective(self, view: ArgumentView) -> Worked:
        """Give what `TrainingArguments.__post_init__` fills in."""
        from trainrx.frameworks.transformers.effective import effective

        return effective(view)

    hf_trainer = True
    replicates_over_cards = True
    """training_args.py: `_n_gpu` of a process that is alone; trainer.py: `nn.DataParallel`."""
    checkpoints = False
    freezes_tower = False
    peft_targets = True

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """Every process is a replica."""
        return ()


class Transformers(OwnScript, HfTrainer):
    """A script of someone's own that takes arguments of the Trainer."""

    name = "transformers"
    folders = ("transformers",)
    handed_on = "TrainingArguments"
    spelled = True
    lends_names = True
    builds_on = ("trl",)
    """Scripts of one's own use both."""
    precedence = 2
    servers = frozenset()
    lineage = ()
    catalog_commands = ("Seq2SeqTrainingArguments",)
    also_called = ("hf-trainer", "huggingface")
    inner_packages = HfTrainer.inner_packages

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read a script by its arguments."""
        names = argument_names(entry.args)
        if not names & TRAINING_ARGUMENTS:
            return None
        named = command_of(entry)
        prepares = named == "prepare" and _PREPARES.search(entry.path.text) is not None
        command = "train" if names & _TRAINING_ONLY and not prepares else named
        return self.launch(command, entry.args)

    own_fp32_logits = "<4.45"
    drops_logits = ("<4.47", ">=5.0")
    checkpoints_by_hooks = ">=5.0"
    """modeling_utils.py: gradient_checkpointing_enable."""
    hooks_towers = ">=5.0"
    """modeling_utils.py: enable_input_require_grads hooks each model inside, and gradient
    checkpointing calls it for all that take `input_ids`."""

    def prepares_kbit(self, facts: Facts) -> bool:
        """A script of the user's own is taken to follow peft's guide, which does."""
        return True

    def in_python(self, classes: Sequence[str], imports: Collection[str]) -> str | None:
        """Every program with a trainer that is nobody else's."""
        return "train"

    def dumps(self) -> Iterable[DumpForm]:
        """The banner in front of the first step."""
        from trainrx.frameworks.common.dumps import DumpForm
        from trainrx.frameworks.transformers.dumps import read_banner

        yield DumpForm(b"***** Running training *****", lambda text, _: read_banner(text))

    def printed_object(self, name: str, before: str) -> tuple[str, Kind] | None:
        """TrainingArguments, and the classes scripts parse beside them."""
        if PRINTED.search(before) is None:
            return None
        if name.endswith("TrainingArguments"):
            return "", "trainer"
        return ("", "arguments") if _PART.fullmatch(name) else None


FRAMEWORK = Transformers()
