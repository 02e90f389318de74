"""A Python program and the command that runs it: one launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.view import UNKNOWN
from trainrx.knowledge.regular import read_regular
from trainrx.launch.config_kinds import classify_config
from trainrx.launch.files import is_guess, program_file, seen_from
from trainrx.launch.hydra import is_hydra_program
from trainrx.launch.places import base, found_file, script_file, started_in
from trainrx.launch.program_settings import is_own_program
from trainrx.launch.python_source import LARGEST, is_program, read_program
from trainrx.launch.python_values import DATACLASS_PARSERS
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawArg, RawLaunch, Script, Workdir
from trainrx.model.pattern import late

STARTS = ("script", "argv", "config", "args")
"""Kinds of inputs that may start a job."""
MOST_PROGRAMS = 50
"""Python files of a folder that are looked at."""
_CONFIGURED = frozenset({"output_dir", "per_device_train_batch_size", "learning_rate"})
"""One of them stands in whatever configuration of a trainer a program makes."""
_KEPT = frozenset(
    {"model_name_or_path", "per_device_train_batch_size", "gradient_accumulation_steps"}
)
"""What a program that makes no configuration has by the names of the Trainer means the same."""
GUESSED = (
    "the command is started in {folder}, which is not at hand: {found} was read for {program} by "
    "its name, and may be another file"
)
_SPAWNS = late(r"\b(?:notebook_launcher|spawn|start_processes|Popen|LOCAL_RANK|subprocess)\b")
"""What a program has that may start processes itself, or say that it is one of several."""
_DECLARED = late(r"add_argument\(\s*[\"']--([\w.-]+)[\"']")
MOST_BEFORE = 12
"""Words in front of the program a command runs, at most."""


def joined(
    launches: Iterable[RawLaunch], programs: Sequence[Input], beside: Path | None = None
) -> Iterator[RawLaunch]:
    """Give launches with what the programs they run set themselves.

    A program is among `programs`, by its name or as the only one that was pasted, or lies where its
    command names it from the script's folder. One that belongs to a framework is what its arguments
    say, and is not read.
    """
    for found_by_name in launches:
        launch = _with_declared(_renamed(found_by_name, beside), beside)
        yield from _of_program(launch, programs, beside) if is_own_program(launch) else [launch]


def _with_declared(launch: RawLaunch, beside: Path | None) -> RawLaunch:
    """Say what options the copy of a framework's program declares that lies beside the script."""
    framework = framework_of(launch.framework)
    own = bool(launch.framework) and not is_own_program(launch) and framework.parser == "argparse"
    if beside is None or not own or not launch.program:
        return launch
    text = program_file(launch.program, beside, started_in(launch.workdir, beside))
    names = frozenset(plain(name) for name in _DECLARED.findall(text or ""))
    return msgspec.structs.replace(launch, declared=names) if names else launch


def _renamed(launch: RawLaunch, beside: Path | None) -> RawLaunch:
    """Take a program that Hydra starts for nobody's whose framework does without Hydra."""
    framework = framework_of(launch.framework)
    named = bool(launch.framework) and framework.parser != "hydra" and not framework.library
    if beside is None or not named or not launch.program.endswith(".py"):
        return launch
    text = script_file(launch.program, beside, started_in(launch.workdir, beside))
    if text is None or not is_hydra_program(text):
        return launch
    return msgspec.structs.replace(launch, framework="", command="train")


def training_programs(
    script: Script, programs: Sequence[Input] = (), beside: Path | None = None
) -> frozenset[str]:
    """Give the programs the commands of a script name that call a class of a training library.

    Of each its text is at hand, among `programs` or where the script's folder has it.
    """
    named = {
        (word.text, command.workdir)
        for command in script.commands
        for word in command.words[: MOST_BEFORE + 1]
        if word.text.endswith(".py") and not word.unknown
    }
    return frozenset(name for name, at in named if _trains(name, at, programs, beside))


def _trains(name: str, at: Workdir, programs: Sequence[Input], beside: Path | None) -> bool:
    texts = [item.text for item in programs if base(item.name) == base(name)]
    if not texts and beside is not None:
        texts = [script_file(name, beside, started_in(at, beside))]
    return len(texts) == 1 and is_program(texts[0] or "")


def runs(launches: Iterable[RawLaunch], program: Input, programs: Sequence[Input]) -> bool:
    """Tell whether a program, of all there are, is the one a command runs that was found."""
    own = (launch for launch in launches if is_own_program(launch))
    return any(_named(programs, launch) == [program] for launch in own)


def program_beside(
    launch: RawLaunch, programs: Sequence[Input], beside: Path | None
) -> Input | None:
    """Give the program a command runs that was read from its script's folder, not handed in."""
    if beside is None or not (launch.program_read and is_own_program(launch)):
        return None
    if _named(programs, launch):
        return None
    start = started_in(launch.workdir, beside)
    if is_guess(launch.workdir, start, launch.program):
        return None
    path = Path(seen_from(beside, start or beside)) / launch.program
    if not path.is_file():
        return None  # found further up: where it was read from is not told
    text = script_file(launch.program, beside, start)
    return None if text is None else Input(kind="script", name=str(path), text=text, path=path)


def folder_programs(paths: Iterable[str], inputs: Sequence[Input]) -> Iterator[Input]:
    """Give the training programs of run folders in which nothing else starts a job.

    A folder may hold many: its only one is the job's, and else the one its log names in a
    traceback. Folders below are not entered.
    """
    configs = (item.text or "" for item in inputs if item.kind == "config")
    if any(i.kind in STARTS and i.kind != "config" for i in inputs) or any(
        classify_config(text) is not None for text in configs
    ):
        return
    logs = [item.text or "" for item in inputs if item.kind == "log"]
    for folder in filter(Path.is_dir, map(Path, paths)):
        found = [*_trainers_in(folder)]
        if len(found) > 1:
            found = [i for i in found if any(f'{base(i.name)}", line ' in log for log in logs)]
        yield from found if len(found) == 1 else ()


def _trainers_in(folder: Path) -> Iterator[Input]:
    for path in sorted(folder.glob("*.py"))[:MOST_PROGRAMS]:
        try:
            text = read_regular(path, LARGEST + 1).decode("utf-8", "replace")
        except OSError:
            continue
        if is_program(text) and read_program(text, str(path)):
            yield Input(kind="script", name=str(path), text=text, path=path)


def _named(programs: Sequence[Input], launch: RawLaunch) -> list[Input]:
    """Give the programs a command may mean: those of its name, else those without a name."""
    named = [item for item in programs if base(item.name) == base(launch.program)]
    return named or [item for item in programs if not item.name.endswith(".py")]


def _of_program(
    launch: RawLaunch, programs: Sequence[Input], beside: Path | None
) -> Iterator[RawLaunch]:
    named = _named(programs, launch)
    name, text = (named[0].name, named[0].text) if len(named) == 1 else (launch.program, None)
    start, guess = started_in(launch.workdir, beside), False
    if text is None and beside is not None and not named:
        guess = is_guess(launch.workdir, start, name)
        name, text = _beside(name, beside, start)
        launch = _guessed(launch, name) if guess and text is not None else launch
    if text is None:
        yield launch
        return
    if _SPAWNS.search(text) is not None:
        launch = msgspec.structs.replace(launch, alone=False)
    flags = any(parser in text for parser in DATACLASS_PARSERS)
    modules = None
    if beside is not None:
        modules = partial(_module, folder=launch.program, beside=beside, start=start)
    options = _options(launch.args)
    if launch.words is not None and not guess:
        # most launches have no program at hand
        from trainrx.launch.parsers.declared import declared_parser
        from trainrx.launch.parsers.refusals import given_values

        parser = declared_parser(text, name, modules)
        options |= (given_values(parser, launch.words) or {}) if parser is not None else {}
        launch = msgspec.structs.replace(launch, parser=parser)
    found = read_program(text, name, options, modules) if is_program(text) else ()
    for one in found:
        yield _joined(launch, one, flags=flags)
        launch = msgspec.structs.replace(launch, parser=None)  # it is said once
    if not found:
        yield launch


def _beside(named: str, beside: Path, start: Path | None) -> tuple[str, str | None]:
    """Read a program where its command is started, else where its script's folder has it."""
    file = found_file(named, beside, start=start)
    if file is None:
        return named, None
    return seen_from(beside, file.path), file.text


def _guessed(launch: RawLaunch, found: str) -> RawLaunch:
    """Say that the program that was read may be another one than the command starts."""
    reason = GUESSED.format(folder=launch.workdir.path, program=launch.program, found=found)
    at = launch.origin
    told = Unread(source=at.source, line=at.line, text=at.text, reason=reason)
    return msgspec.structs.replace(launch, unread=(*launch.unread, told))


def _module(
    dotted: str, *, folder: str, beside: Path, start: Path | None
) -> tuple[str, str] | None:
    """Read a module that lies in the folder of a program, or where the job is started."""
    path = f"{dotted.replace('.', '/')}.py"
    front = folder.replace("\\", "/").rpartition("/")[0]
    for place in ([f"{front}/{path}"] if front else []) + [path]:
        found, text = _beside(place, beside, start)
        if text is not None:
            return found, text
    return None


def _options(args: Iterable[RawArg]) -> dict[str, object]:
    found: dict[str, object] = {}
    for arg in args:
        values = arg.values
        if values is None:
            found[plain(arg.name)] = UNKNOWN
        else:
            found[plain(arg.name)] = (
                True if not values else values[0] if len(values) == 1 else [*values]
            )
    return found


def _joined(launch: RawLaunch, program: RawLaunch, *, flags: bool) -> RawLaunch:
    """Put a command and its program together; `flags`: its options are the arguments themselves."""
    own = launch.args if flags else ()
    if not flags and not any(plain(arg.name) in _CONFIGURED for arg in program.args):
        own = tuple(arg for arg in launch.args if plain(arg.name) in _KEPT)
    given = {plain(arg.name) for arg in own}
    complete = launch.args_complete and (flags or program.args_complete)
    return msgspec.structs.replace(
        launch,
        framework=program.framework,
        command=program.command,
        args=(*own, *(arg for arg in program.args if plain(arg.name) not in given)),
        env=(*launch.env, *program.env),
        args_complete=complete,
        program_read=True,
    )
