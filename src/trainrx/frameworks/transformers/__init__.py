"""Scripts on the Trainer of transformers: https://github.com/huggingface/transformers."""

from __future__ import annotations

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.script import Script, argument_names, command_of
from trainrx.frameworks.common.view import View, Worked
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch

_TRAINING_ONLY = frozenset(
    {"per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs"}
)
TRAINING_ARGUMENTS = _TRAINING_ONLY | frozenset(
    {"per_device_eval_batch_size", "lr_scheduler_type", "save_total_limit", "logging_steps"}
)


class HfTrainer(Framework):
    """What parses `TrainingArguments` itself."""

    library = True

    def effective(self, view: View) -> Worked:
        """Give what `TrainingArguments.__post_init__` fills in."""
        from trainrx.frameworks.transformers.effective import effective

        return effective(view)


class Transformers(Script, HfTrainer):
    """A script of someone's own that takes arguments of the Trainer."""

    name = "transformers"
    spelled = True
    lends_names = True
    builds_on = ("trl",)
    """Scripts of one's own use both."""
    precedence = 2
    servers = frozenset()

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read a script by its arguments."""
        names = argument_names(entry.args)
        if not names & TRAINING_ARGUMENTS:
            return None
        command = "train" if names & _TRAINING_ONLY else command_of(entry)
        return self.launch(command, entry.args)


FRAMEWORK = Transformers()
