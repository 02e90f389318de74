"""What the readers and parsers hand on: inputs, launches, settings, log hits."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Literal

import msgspec

from trainrx.model.bundle import BundleItem
from trainrx.model.catalog import Value
from trainrx.model.curves import Curve
from trainrx.model.facts import Fact, How, Origin, Scalar
from trainrx.model.findings import Unread
from trainrx.model.ranks import Reading

if TYPE_CHECKING:
    from pathlib import Path

InputKind = Literal[
    "script",
    "argv",
    "config",
    "env",
    "versions",
    "log",
    "args",
    "metrics",
    "note",
    "output",
    "evidence",
    "other",
]
"""script: bash, sbatch or a bare command line; argv: the words a running program was given, without
what started it; config: YAML/JSON a framework or launcher takes; args: a dump of resolved arguments
(args.json); metrics: jsonl or trainer_state.json with one record per step; output: what a command
printed that was run to answer a question; evidence: what a stuck or dead job leaves besides
(stacks, recorder dumps ...), in a `format` of `evidence/readers`; other: none of these, until a
reader of evidence knows it."""


COMMAND_LINE = "--cmd"
"""What a command is cited by that was given in words instead of a file."""
NO_FILES = ("-", "<stdin>", COMMAND_LINE)
"""Names of inputs that are no files: nothing can be written back into them."""


NOTE = "note"
"""What a note is cited by."""


RepairKind = Literal["signs", "spaces", "entities", "continuation", "margin", "diff"]
"""signs: typographic ones, read as those of a shell; spaces: those a shell takes for letters;
entities: signs written for a web page; continuation: a lost backslash; margin: a line that copying
broke; diff: the side that is applied."""


class LineRepair(msgspec.Struct, frozen=True, kw_only=True):
    """Something copying had done to a line, undone."""

    line: int
    what: RepairKind


class Input(msgspec.Struct, frozen=True, kw_only=True):
    r"""One thing to read, recognised by content.

    `name` is how the user called it (used in `Origin.source`). Small inputs carry their `text`
    (decoded, no BOM, no NUL, `\n` line ends but for a script, where `\r\n` is a defect); a log is
    streamed from `path`, or from `text` when it came from stdin. `spans` are the lines (first and
    last, from 1) at which it stands in a source that holds several inputs, () when it is the whole;
    `repairs` is what copying had done to its lines. `data` is what came from a pipe or an archive
    and is no text. `format` names the reader of evidence, or Python as the language of a script;
    `why` says of what is of no other kind why it is not. `taken` is what the manifest of a bundle
    says of it. `sharing` is among how many inputs that are packed the spare bytes are shared.
    """

    kind: InputKind
    name: str
    path: Path | None = None
    text: str | None = None
    spans: tuple[tuple[int, int], ...] = ()
    repairs: tuple[LineRepair, ...] = ()
    data: bytes | None = None
    format: str = ""
    why: str = ""
    taken: BundleItem | None = None
    sharing: int = 1


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One argv word after expansion.

    `unknown` names what could not be resolved statically (`text` shows it as `$NAME`, `$(cmd)`).
    `source` is the file `line` counts in when that is not the script itself. `alternatives` are
    the texts the word may have when it depends on an undecided branch: at most 8, empty when they
    cannot be listed; one may hold several words, or none. `formula`: what an unknown value was
    worked out by, of numbers and of other unknowns, each the same everywhere (`256/(4*@1)`).
    `courses` are the words that may stand in its place, what is unknown in them marked as such.
    """

    text: str
    line: int
    unknown: tuple[str, ...] = ()
    source: str = ""
    alternatives: tuple[str, ...] = ()
    formula: str = ""
    courses: tuple[tuple[Word, ...], ...] = ()


class EnvVar(msgspec.Struct, frozen=True, kw_only=True):
    """An environment variable as one command sees it; value None: set, but not statically known."""

    name: str
    value: str | None
    origin: Origin


class Defect(msgspec.Struct, frozen=True, kw_only=True):
    """Something in a script that does not do what its author meant (broken continuation, CRLF).

    `column` counts characters of the line from 1; None where the whole line or file is meant.
    """

    id: str
    source: str
    line: int
    text: str
    message: str
    column: int | None = None


class Workdir(msgspec.Struct, frozen=True):
    """The folder a command is started in, as the script goes there.

    `since`: what `path` goes from. start: where the script itself was started, which may be its
    own folder or one above; script: the folder it lies in; unknown: `path` is only what is shown
    of a folder that cannot be resolved (`$WORK/x`).
    """

    path: str = ""
    since: Literal["start", "script", "unknown"] = "start"

    @property
    def is_elsewhere(self) -> bool:
        """Tell whether the script goes anywhere before."""
        return self != Workdir()

    def into(self, path: str) -> Workdir:
        """Give the folder a path names from here."""
        if path.startswith("/"):
            return Workdir(posixpath.normpath(path))
        if path.startswith(("~", "$")):
            return Workdir(path, "unknown")
        joined = posixpath.normpath(posixpath.join(self.path, path))
        return Workdir("" if joined == "." else joined, self.since)

    def then(self, further: Workdir) -> Workdir:
        """Give the folder that one is which a script goes to that is itself started here."""
        return self.into(further.path) if further.since == "start" else further


class ShellCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One simple command a script runs, wrappers (nohup, srun, env) still in front.

    `perhaps`: it stands in a branch of which the condition is not decided. `host`: the machine an
    `ssh` around it goes to. `outputs`: the files its output goes to (`> x`, `2>&1 | tee x`).
    """

    words: tuple[Word, ...]
    env: tuple[EnvVar, ...]
    origin: Origin
    perhaps: bool = False
    host: str = ""
    outputs: tuple[str, ...] = ()
    workdir: Workdir = Workdir()


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """A script as evaluated statically.

    `env_complete` is false when it sources a file or calls something that may set variables we
    cannot see. `text` is what was read, for citing its lines; `files` are the name and text of the
    other files that were read as part of it. `written`: name, text and line of the files that its
    commands write (here-documents, `echo > x`), unknown values shown as `$NAME`.
    """

    source: str
    text: str = ""
    commands: tuple[ShellCommand, ...] = ()
    env: tuple[EnvVar, ...] = ()
    directives: tuple[tuple[str, str, int], ...] = ()
    env_complete: bool = True
    defects: tuple[Defect, ...] = ()
    unread: tuple[Unread, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    written: tuple[tuple[str, str, int], ...] = ()


class RawArg(msgspec.Struct, frozen=True, kw_only=True):
    """One argument of a launch under its own name (no dashes), values as written.

    `values` None: present, but not statically known; `alternatives` are then the texts it may have
    (see `Word`), empty when they cannot be listed. Config keys are dotted when nested. `via` outer:
    a key of the config of a launcher in front (accelerate); env: the name of a variable, as a
    program printed it. `sign`: what hydra is told to do with the key: `+` add, `++` add or set,
    `~` delete (the name begins with it as well); `=` marks a key without dashes behind the config
    file of LLaMA-Factory, which is a key of that file. `formula`: how an unknown value was worked
    out (see `Word`), `shown` its text with what is unknown in it as `$NAME`.
    """

    name: str
    values: tuple[str, ...] | None
    origin: Origin
    via: Literal["arg", "config", "outer", "env"] = "arg"
    alternatives: tuple[str, ...] = ()
    sign: Literal["", "+", "++", "~", "="] = ""
    formula: str = ""
    shown: str = ""


Role = Literal[
    "trainer",
    "rollout",
    "reward",
    "reference",
    "teacher",
    "inference",
    "evaluation",
    "export",
    "preparation",
]
"""What a launch does in the whole: rollout, reward, reference and teacher serve a trainer."""


class ProgramOption(msgspec.Struct, frozen=True, kw_only=True):
    """One option, or a positional argument (`flags` is its bare name), as a program declares it.

    `kind` is the type by which it is read: int, float, str, a function of the program's own under
    "?" (what it takes nobody knows), switch for a dataclass's bool. `choices` None: any value.
    `nargs` is argparse's. `required` None: that cannot be told. `line` is its line in the program.
    Options with the same `apart` exclude each other.
    """

    flags: tuple[str, ...]
    dest: str = ""
    action: str = "store"
    kind: str = "str"
    nargs: str | int | None = None
    choices: tuple[Value, ...] | None = None
    required: bool | None = False
    default: Value = None
    line: int = 0
    apart: int = 0


class ProgramParser(msgspec.Struct, frozen=True, kw_only=True):
    """The parser of a program's command line.

    `source` is the program. `is_open`: it takes options that its text does not tell. `library`:
    the classes of libraries whose fields are options as well. `takes_file`: an only word may be a
    file of values (.json, .yaml). `abbreviates`: the beginning of a name will do.
    """

    kind: Literal["argparse", "dataclasses"]
    source: str = ""
    options: tuple[ProgramOption, ...] = ()
    is_open: bool = False
    library: tuple[str, ...] = ()
    takes_file: bool = False
    abbreviates: bool = True


class RawLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """One training (or rollout, inference) command, launchers stripped.

    `framework`: ms-swift, llamafactory, trl, verl, easyr1, openrlhf, axolotl, nemo-automodel,
    nemo-rl, slime, miles, vllm, transformers, or "" when it is a launch we cannot name. `command`:
    sft, rlhf, pt, train, grpo, "megatron sft" ...
    `launcher`: what the launcher in front was told (nproc_per_node, nnodes, node_rank,
    master_addr, master_port, deepspeed_config, accelerate_config). `args_complete` is false when
    further arguments are hidden in a variable or in a file that is not at hand: what is not among
    `args` may be set all the same.

    `container`: what docker, kubectl, apptainer or srun were told of the container it runs in
    (image, shm_size, ipc, gpus, memory, ulimit ...). `host`: the machine an `ssh` around it goes
    to. `job` numbers the jobs of a script from 1: launches that differ only in host, node rank and
    port of a machine are one job on several nodes. `perhaps`: an undecided branch holds it.
    `program`: the script or module that runs, as written; "" when a file is all there is.
    `outputs`: the files its output goes to. `workdir`: the folder it is started in. `written`: the
    files its script writes itself (see `Script`). `keys`: the names its own files set, once they
    are read. `started_unseen`: what started its processes, and how many, is not at hand.
    `program_read`: what the program itself
    sets is among `args`. `declared`: options that the copy of a framework's program
    at hand declares: a fork may know more than any release. `words`: what stands behind a Python
    program, as written, None for others; `parser`: the one it declares, where it is at hand.
    `alone`: Python itself starts it, and nothing in front starts it several times. `started`: the
    whole of it without launchers: the program, `-m` before a module, and all that follows.
    """

    framework: str
    command: str
    args: tuple[RawArg, ...]
    env: tuple[EnvVar, ...]
    origin: Origin
    launcher: tuple[RawArg, ...] = ()
    configs: tuple[str, ...] = ()
    args_complete: bool = True
    env_complete: bool = True
    unread: tuple[Unread, ...] = ()
    defects: tuple[Defect, ...] = ()
    role: Role = "trainer"
    program: str = ""
    container: tuple[RawArg, ...] = ()
    host: str = ""
    job: int = 0
    perhaps: bool = False
    outputs: tuple[str, ...] = ()
    written: tuple[tuple[str, str, int], ...] = ()
    keys: tuple[str, ...] = ()
    started_unseen: bool = False
    program_read: bool = False
    declared: frozenset[str] = frozenset()
    workdir: Workdir = Workdir()
    words: tuple[Word, ...] | None = None
    parser: ProgramParser | None = None
    alone: bool = False
    started: tuple[Word, ...] = ()


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """One argument of the framework with its effective value.

    `name` is the framework's own at this version, `given_as` how the launch spells it (an
    abbreviation, an alias, `no_x`). `value` is typed as the framework types it (None is its None);
    it means nothing when not `known`: then `why` says why, and `alternatives` are the texts it may
    have. `via` default: declared by the framework; computed: worked out by it from other arguments.
    """

    name: str
    value: Value = None
    known: bool = True
    text: str = ""
    given_as: str = ""
    via: Literal["arg", "config", "env", "launcher", "log", "default", "computed"]
    how: How
    origins: tuple[Origin, ...] = ()
    package: str = ""
    canonical: str = ""
    alternatives: tuple[str, ...] = ()
    why: str = ""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """The effective value of one canonical parameter; None: set, but not statically known."""

    canonical: str
    value: Scalar | None
    text: str
    spelled_as: str
    via: Literal["arg", "env", "config", "launcher", "log", "default"]
    how: How
    origins: tuple[Origin, ...] = ()


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One matched line of a log.

    `line` from 1; `at` orders hits in time within one source (line number) or, when `stamped`,
    across sources (seconds). `frame` is where the traceback above it ends: package ("" for the
    user's own code), file from the package on, function. `own` is the last frame of the user's own
    code: file, its line, the code, frames of packages below, lines of the log up to the code.
    """

    symptom: str
    source: str
    line: int
    text: str
    at: float | None = None
    stamped: bool = False
    rank: int | None = None
    phase: str = ""
    step: int | None = None
    site: str = ""
    frame: tuple[str, str, str] | None = None
    own: tuple[str, int, str, int, int] | None = None
    captures: tuple[tuple[str, Scalar], ...] = ()


class SymptomHits(msgspec.Struct, frozen=True, kw_only=True):
    """All hits of one signature: their number, the first few per rank, the ranks concerned."""

    symptom: str
    count: int
    hits: tuple[Hit, ...]
    ranks: tuple[int, ...] = ()


class Detection(msgspec.Struct, frozen=True, kw_only=True):
    """What the logs say; `dumps`: what is printed into them, if that was asked for."""

    symptoms: tuple[SymptomHits, ...] = ()
    facts: tuple[Fact, ...] = ()
    curves: tuple[Curve, ...] = ()
    unread: tuple[Unread, ...] = ()
    lines: int = 0
    bytes: int = 0
    dumps: Reading | None = None
