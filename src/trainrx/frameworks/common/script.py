"""A program of someone's own, of no framework that is known."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar

from trainrx.frameworks.base import Framework
from trainrx.frameworks.common.roles import script_role
from trainrx.launchers.entries import EntryPoint, RecognisedLaunch
from trainrx.model.facts import Facts
from trainrx.model.job import Role, Word
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.frameworks.common.dumps import Kind


PRINTED = late(r"arameters|[Aa]rgs|[Aa]rguments")
"""What stands in front of arguments that are printed."""
_COMMANDS = {
    "evaluation": "eval",
    "inference": "infer",
    "export": "export",
    "preparation": "prepare",
}
_MODEL = late(r"(?:.*_)?(?:model|ckpt|checkpoint|adapter|pretrain|lora)s?(?:_.*)?")
_TRAINS = late(
    r"(?:^|[_/.-])(?:train\w*|\w*tun(?:e|ing)\w*|sft|dpo|grpo|ppo|rlhf|pretrain\w*|main|run)(?=[_.-]|$)"
)


class OwnScript(Framework):
    """A script is what its name says: it trains, infers, evaluates, exports or prepares."""

    servers = frozenset({"infer"})
    lineage: ClassVar[tuple[str, ...]] = ("trl", "transformers")
    """It most likely takes the arguments of the Trainer."""
    inner_packages = frozenset({"deepspeed", "accelerate"})

    def role(self, command: str, program: str, names: Collection[str]) -> Role:
        """Name the role by the name of the program where the command says nothing."""
        return "trainer" if command == "train" else script_role(program) or "trainer"

    def by_path(self, entry: EntryPoint) -> RecognisedLaunch | None:
        """Read what a launcher starts, and what is named like a training program."""
        readable = entry.module or entry.name.endswith(".py") or not entry.path.unknown
        if not readable and not entry.args:
            return None  # `torchrun $ARGS`: whatever it starts stands in the variable
        role = script_role(entry.path.text)
        command = command_of(entry)
        runs_code = entry.module or entry.name.endswith(".py") or entry.via != "python"
        if runs_code and (entry.via != "python" or _TRAINS.search(entry.path.text)):
            return self.launch(command, entry.args)
        uses_model = any(_MODEL.fullmatch(name) for name in argument_names(entry.args))
        if runs_code and uses_model and role in ("evaluation", "inference", "export"):
            return self.launch(command, entry.args)
        return None

    hf_trainer = True
    """It is taken for a script on the Trainer of transformers."""
    checkpoints = False

    def sharing(self, facts: Facts) -> tuple[str, ...] | None:
        """Every process is a replica, unless its options share a model among some."""
        return tuple(name for name in ("parallel.tensor", "parallel.pipeline") if name in facts)

    def printed_object(self, name: str, before: str) -> tuple[str, Kind] | None:
        """Whose a namespace is, only the launch can tell."""
        plain = self.name == "" and name == "Namespace" and PRINTED.search(before) is not None
        return ("", "arguments") if plain else None


def command_of(entry: EntryPoint) -> str:
    """Give the command a script's name stands for, "train" where it says nothing else."""
    return _COMMANDS.get(script_role(entry.path.text) or "", "train")


def argument_names(args: tuple[Word, ...]) -> frozenset[str]:
    """Give the names of arguments, without dashes in front, with underscores inside."""
    return frozenset(word.text.partition("=")[0].lstrip("-").replace("-", "_") for word in args)


SCRIPT = OwnScript()
