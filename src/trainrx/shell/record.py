"""What evaluating a script yields: commands, defects, what could not be read."""

from __future__ import annotations

import re

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import Defect, EnvVar, ShellCommand, Word, Workdir
from trainrx.model.pattern import needled
from trainrx.shell.limits import MAX_DEFECTS
from trainrx.shell.prepare import Prepared
from trainrx.shell.sources import Lines, SourcePosition, Sources, in_file
from trainrx.shell.state import State
from trainrx.shell.syntax import Simple
from trainrx.shell.values import Field, Variable, known

_QUIET = frozenset(
    {
        "echo", "printf", "cd", "mkdir", "rm", "cp", "mv", "ls", "cat", "touch",
        "chmod", "sleep", "wait", "kill", "pkill", "date", "trap", "ulimit", "module", "conda",
        "pip", "tee", "grep", "awk", "sed", "which", "hostname", "nvidia-smi", "ln", "pwd",
        "find", "tar", "pushd", "popd",
    }
)  # fmt: skip
"""Commands whose unresolved words are of no interest."""

ARGUMENT = needled(r"--?[A-Za-z]|[–—−―－]|\+{0,2}[A-Za-z_]\w*(?:\.\w+)+=", *"-–—−―－=")
"""A flag or a Hydra override, which is never the name of a program."""
_MAX_LOST = 12
"""Lost flags that one message names."""
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


class Course(msgspec.Struct, frozen=True):
    """What surrounds a command: the words it runs under, where it runs, whether it does."""

    wrapper: tuple[Field, ...] = ()
    perhaps: bool = False
    host: str = ""
    outputs: tuple[str, ...] = ()
    workdir: Workdir = Workdir()


class Record:
    """Collects the results of one script."""

    def __init__(self, source: str, lines: Lines, state: State) -> None:
        self.sources = Sources(source, lines)
        self.commands: list[ShellCommand] = []
        self.defects: list[Defect] = []
        self.files: list[tuple[str, str]] = []
        self.env_complete = True
        self._state = state
        self._unread: dict[object, Unread] = {}
        self._plain: dict[str, tuple[int, int | None]] = {}

    @property
    def unread(self) -> tuple[Unread, ...]:
        """Give what could not be read, each thing once."""
        return tuple(self._unread.values())

    def origin(self, line: int) -> Origin:
        """Give the origin of a line of the script."""
        sources = self.sources
        return Origin(source=sources.name(line), line=in_file(line), text=sources.text(line))

    def add_file(self, name: str, prepared: Prepared) -> int:
        """Take in another file and give the number of its first line."""
        self.files.append((name, prepared.shown))
        self.defects += prepared.defects[: MAX_DEFECTS - len(self.defects)]
        return self.sources.add(name, prepared.lines)

    def add_unread(self, reason: str, line: int) -> None:
        """Note something that could not be read."""
        self._unread.setdefault((reason, line), self._cannot(reason, line))

    def _cannot(self, reason: str, line: int) -> Unread:
        text = self.sources.text(line)
        return Unread(source=self.sources.name(line), reason=reason, line=in_file(line), text=text)

    def add_defect(self, name: str, line: int, message: str, column: int | None = None) -> None:
        """Note a defect of the script."""
        source, number = self.sources.name(line), in_file(line)
        known_places = ((item.id, item.source, item.line) for item in self.defects)
        if len(self.defects) >= MAX_DEFECTS or (name, source, number) in known_places:
            return
        self.defects.append(
            Defect(
                id=name,
                source=source,
                line=number,
                text=self.sources.text(line),
                message=message,
                column=column,
            )
        )

    def hide_environment(self, reason: str, line: int) -> None:
        """Note that variables may be set where we cannot see."""
        self.env_complete = False
        self.add_unread(reason, line)

    def add_plain(self, name: str, line: int, column: int | None) -> None:
        """Note a variable set without export."""
        if _is_for_child(name):
            self._plain.setdefault(name, (line, column))

    def words(self, fields: list[Field]) -> tuple[Word, ...]:
        """Turn fields into words."""
        return tuple(self._word(item) for item in fields)

    def _word(self, item: Field) -> Word:
        line, source = in_file(item.line), self.sources.other(item.line)
        if known(item.text):
            return Word(text=item.text, line=line, source=source)
        unknowns = self._state.unknowns
        return Word(
            text=unknowns.show(item.text),
            line=line,
            unknown=tuple(dict.fromkeys(u.name for u in unknowns.within(item.text))),
            source=source,
            alternatives=unknowns.alternatives(item.text),
            formula=unknowns.formula(item.text) or unknowns.formula(item.text.partition("=")[2]),
            courses=tuple(
                self.words([Field(part, item.line) for part in text.split()])
                for text in unknowns.courses(item.text)
            ),
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

    def broken_continuation(self, fields: list[Field], place: SourcePosition, node: Simple) -> None:
        """Report flags that the shell runs as a command, with what cut them off.

        Assignments in front of them may stand on lines of their own.
        """
        why, remedy = (
            ("the text that is run here ends a command in front of it", "Write it as one command")
            if place.fixed
            else self._cut_off_by(place.line(node.at))
        )
        shown = self._state.unknowns.show
        lost = [shown(item.text)[:80] for item in fields if ARGUMENT.match(item.text)]
        verb = (
            "are run as a command and reach" if len(lost) > 1 else "is run as a command and reaches"
        )
        names = ", ".join(lost[:_MAX_LOST]) + (" ..." if len(lost) > _MAX_LOST else "")
        message = f"{names} {verb} no program: {why}. {remedy}."
        column = place.column(node.words[0].at)
        self.add_defect("continuation-broken", fields[0].line, message, column)

    def _cut_off_by(self, begin: int) -> tuple[str, str]:
        """Say what ended the command in front of a line, and how that is mended."""
        above, text = in_file(begin) - 1, self.sources.text(begin - 1)
        if not text:
            return f"line {above} is empty", "Delete that line"
        if text.startswith("#"):
            return f"line {above} is a comment", "Move the comment out of the command"
        if re.search(r"\s#", text):
            return f"line {above} ends in a comment", "Move the comment out of the command"
        if text.endswith("\\"):
            return f"the backslash of line {above} is followed by a blank", "Delete the blank"
        return f"line {above} does not end in a backslash", "Add the backslash there"

    def add_command(
        self, own_fields: list[Field], prefix: dict[str, Variable], course: Course
    ) -> None:
        """Record a command that the script runs, with what surrounds it."""
        fields = [*course.wrapper, *own_fields]
        words = self.words(fields)
        self._state.ever_exported.update(prefix)
        own = tuple(self.env_var(name, item) for name, item in prefix.items())
        env = tuple(item for item in self.environment() if item.name not in prefix) + own
        origin = self.origin(own_fields[0].line)
        self.commands.append(
            ShellCommand(
                words=words,
                env=env,
                origin=origin,
                perhaps=course.perhaps,
                host=course.host,
                outputs=course.outputs,
                workdir=course.workdir,
            )
        )
        self._state.budget.spend(2 + len(words))
        if words[0].text in _QUIET:
            return
        for item in fields:
            for found in self._state.unknowns.within(item.text):
                if found.reason not in self._unread:
                    self._unread[found.reason] = self._cannot(found.reason, item.line)

    def finish(self) -> None:
        """Report variables that were meant for a child process and never reach one."""
        busy = any(command.words[0].text not in _QUIET for command in self.commands)
        for name, (line, column) in self._plain.items():
            if busy and name not in self._state.used | self._state.ever_exported:
                why = f"{name} is set but not exported, so no program sees it"
                message = f"{why}. Put export in front."
                self.add_defect("variable-not-exported", line, message, column)


def _is_for_child(name: str) -> bool:
    return name in _FOR_CHILD or name.startswith(_FOR_CHILD_PREFIXES)
