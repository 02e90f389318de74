"""What evaluating a script yields: commands, defects, what could not be read."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainrx.model.facts import Origin
from trainrx.model.job import Defect, EnvVar, ShellCommand, Word
from trainrx.model.result import Unread
from trainrx.parse.shell.limits import MAX_DEFECTS
from trainrx.parse.shell.quotes import Lines
from trainrx.parse.shell.state import Field, State, Variable
from trainrx.parse.shell.unknown import known

_QUIET = frozenset(
    {
        "echo", "printf", "cd", "mkdir", "rm", "cp", "mv", "ls", "cat", "touch",
        "chmod", "sleep", "wait", "kill", "pkill", "date", "trap", "ulimit", "module", "conda",
        "pip", "tee", "grep", "awk", "sed", "which", "hostname", "nvidia-smi", "ln", "pwd",
        "find", "tar",
    }
)  # fmt: skip
"""Commands whose unresolved words are of no interest."""

_FOR_CHILD = frozenset(
    {"MAX_PIXELS", "MIN_PIXELS", "VIDEO_MAX_PIXELS", "VIDEO_MIN_PIXELS", "VIDEO_TOTAL_PIXELS"}
    | {"FPS", "FPS_MAX_FRAMES", "FPS_MIN_FRAMES", "NFRAMES", "IMAGE_FACTOR", "SIZE_FACTOR"}
    | {"IMAGE_MAX_TOKEN_NUM", "NPROC_PER_NODE", "NNODES", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT"}
    | {"CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING"}
    | {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "GLOO_SOCKET_IFNAME", "OMP_NUM_THREADS"}
    | {"FORCE_TORCHRUN", "DISABLE_VERSION_CHECK", "USE_HF", "USE_MODELSCOPE_HUB"}
    | {"TOKENIZERS_PARALLELISM"}
)
_FOR_CHILD_PREFIXES = ("NCCL_", "TORCH_NCCL_", "HF_", "VLLM_")
"""Variables that only a child process reads, so that setting one without export does nothing."""


class Place(NamedTuple):
    """Where the text being evaluated stands in the file; `fixed`: all of it on one line."""

    lines: Lines
    first: int = 1
    fixed: bool = False

    def line(self, at: int) -> int:
        """Give the line of the file for a position of the text."""
        return self.first if self.fixed else self.first + self.lines.number(at) - 1


class Record:
    """Collects the results of one script."""

    def __init__(self, source: str, lines: Lines, state: State) -> None:
        self.commands: list[ShellCommand] = []
        self.defects: list[Defect] = []
        self.env_complete = True
        self._source = source
        self._lines = lines
        self._state = state
        self._unread: dict[object, Unread] = {}
        self._plain: dict[str, int] = {}

    @property
    def unread(self) -> tuple[Unread, ...]:
        """Give what could not be read, each thing once."""
        return tuple(self._unread.values())

    def origin(self, line: int) -> Origin:
        """Give the origin of a line of the script."""
        return Origin(source=self._source, line=line, text=self._lines.text(line))

    def add_unread(self, reason: str, line: int) -> None:
        """Note something that could not be read."""
        item = Unread(source=self._source, reason=reason, line=line, text=self._lines.text(line))
        self._unread.setdefault((reason, line), item)

    def add_defect(self, name: str, line: int, message: str) -> None:
        """Note a defect of the script."""
        if len(self.defects) >= MAX_DEFECTS:
            return
        text = self._lines.text(line)
        self.defects.append(
            Defect(id=name, source=self._source, line=line, text=text, message=message)
        )

    def hide_environment(self, reason: str, line: int) -> None:
        """Note that variables may be set where we cannot see."""
        self.env_complete = False
        self.add_unread(reason, line)

    def add_plain(self, name: str, line: int) -> None:
        """Note a variable set without export."""
        if _is_for_child(name):
            self._plain.setdefault(name, line)

    def words(self, fields: list[Field]) -> tuple[Word, ...]:
        """Turn fields into words."""
        unknowns = self._state.unknowns
        return tuple(
            Word(
                text=unknowns.show(item.text),
                line=item.line,
                unknown=tuple(found.name for found in unknowns.within(item.text)),
            )
            for item in fields
        )

    def environment(self) -> tuple[EnvVar, ...]:
        """Give the exported variables that the script itself set."""
        variables = self._state.variables
        self._state.budget.spend(1 + len(variables) // 8)
        found = [
            self.env_var(name, item)
            for name, item in variables.items()
            if item.exported and item.line
        ]
        self._state.budget.spend(2 * len(found))
        return tuple(found)

    def env_var(self, name: str, item: Variable) -> EnvVar:
        """Give a variable as a child process sees it."""
        value = item.text if known(item.text) else None
        return EnvVar(name=name, value=value, origin=self.origin(item.line))

    def broken_continuation(self, name: str, line: int) -> None:
        """Report a flag that the shell runs as a command, with what cut it off."""
        above = line - 1
        text = self._lines.text(above)
        why, remedy = f"line {above} does not end in a backslash", "Add the backslash there"
        if not text:
            why, remedy = f"line {above} is empty", "Delete that line"
        elif text.startswith("#"):
            why, remedy = f"line {above} is a comment", "Move the comment out of the command"
        elif re.search(r"\s#", text):
            why, remedy = f"line {above} ends in a comment", "Move the comment out of the command"
        elif text.endswith("\\"):
            why, remedy = (
                f"the backslash of line {above} is followed by a blank",
                "Delete the blank",
            )
        shown = self._state.unknowns.show(name)[:80]
        message = f"{shown} is run as a command and reaches no program: {why}. {remedy}."
        self.add_defect("continuation-broken", line, message)

    def add_command(
        self, wrapper: tuple[Field, ...], own_fields: list[Field], prefix: dict[str, Variable]
    ) -> None:
        """Record a command that the script runs, with the wrapper it runs under."""
        fields = [*wrapper, *own_fields]
        words = self.words(fields)
        self._state.ever_exported.update(prefix)
        own = tuple(self.env_var(name, item) for name, item in prefix.items())
        env = tuple(item for item in self.environment() if item.name not in prefix) + own
        origin = self.origin(own_fields[0].line)
        self.commands.append(ShellCommand(words=words, env=env, origin=origin))
        self._state.budget.spend(2 + len(words))
        if words[0].text in _QUIET:
            return
        for item, word in zip(fields, words, strict=True):
            for found in self._state.unknowns.within(item.text):
                if found not in self._unread:
                    text = self._lines.text(word.line)
                    self._unread[found] = Unread(
                        source=self._source, reason=found.reason, line=word.line, text=text
                    )

    def finish(self) -> None:
        """Report variables that were meant for a child process and never reach one."""
        busy = any(command.words[0].text not in _QUIET for command in self.commands)
        for name, line in self._plain.items():
            if busy and name not in self._state.used | self._state.ever_exported:
                why = f"{name} is set but not exported, so no program sees it"
                self.add_defect("variable-not-exported", line, f"{why}. Put export in front.")


def _is_for_child(name: str) -> bool:
    return name in _FOR_CHILD or name.startswith(_FOR_CHILD_PREFIXES)
