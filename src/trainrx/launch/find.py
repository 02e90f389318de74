"""Find the training commands of a script."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

import msgspec

from trainrx.frameworks import framework_of, frameworks, programs
from trainrx.frameworks.common.recognise import recognise, respelled
from trainrx.frameworks.common.roles import related
from trainrx.frameworks.common.script import SCRIPT, command_of
from trainrx.launch.args import Sign, odd_characters, read_arguments
from trainrx.launchers.allocation import SCHEDULERS, SLURM
from trainrx.launchers.entries import Cite, EntryPoint, RecognisedLaunch, basename, entries
from trainrx.launchers.front import Front
from trainrx.launchers.sessions import Sessions
from trainrx.launchers.torch import numbered
from trainrx.model.findings import Unread
from trainrx.model.job import (
    Defect,
    EnvVar,
    RawArg,
    RawLaunch,
    Script,
    ShellCommand,
    Word,
    Workdir,
)
from trainrx.shell import read_script

_MAX_LAUNCHES = 256
_MAX_INNER = 32
_SUBMIT = frozenset({"bsub", "arena", "dlc", "runai"})
_INNER = frozenset({"sbatch", "tmux", "screen"}) | _SUBMIT
"""Commands that are given a command line to run elsewhere."""
_LOOKS = (
    r"^[ \t]*(?:\$[ \t]+)?"
    r"(?:(?:nohup|time|sudo|env|srun|uv[ \t]+run)[ \t]+(?:-\S+[ \t]+)*|[A-Za-z_]\w*=\S*[ \t]+)*"
    r"(?:[^\s;|&]{0,200}/)?"
    r"(?:OWN|uv[ \t]+run[ \t]+(?:-\S+[ \t]+)*\S+\.py(?:[ \t]|$)"
    r"|torchrun[ \t]|accelerate[ \t]+launch|deepspeed[ \t]+\S|ray[ \t]+job[ \t]+submit"
    r"|python[\d.]*[ \t]+(?:-u[ \t]+)?(?:-m[ \t]+[\w.]+|\S+\.py)(?:[ \t]|$))"
)
"""OWN: the programs of frameworks with what may stand behind them."""


@lru_cache(maxsize=1)
def _looks() -> re.Pattern[str]:
    own = "|".join(
        rf"(?:{'|'.join(one.programs)})[ \t]+(?:{'|'.join(sorted(one.commands))}|\S+\.ya?ml)"
        for one in frameworks()
        if one.programs and one.commands
    )
    return re.compile(_LOOKS.replace("OWN", rf"(?:{own})(?![\w-])"), re.MULTILINE)


def looks_like_launch(text: str) -> bool:
    """Tell whether a text has a line that starts a training program, as scripts and posts do."""
    return _looks().search(text[: 256 * 1024]) is not None


def find_launches(
    script: Script, outer: Mapping[str, str] | None = None, trains: Collection[str] = ()
) -> tuple[RawLaunch, ...]:
    """Give the training, rollout and inference commands of a script, in the order they run.

    Wrappers (nohup, srun, env), containers and launchers (torchrun, accelerate, deepspeed) are
    taken off; what a launcher was told is kept in `launcher` under the names torchrun uses where
    it has one. Launches that differ in host and node rank only have the same `job`. `outer` are
    variables that are set where the script runs. `trains` are programs that train, whatever they
    are called.
    """
    cite = Cite(script)
    allocation = _allocated(script)
    start = _start(script)
    found: list[RawLaunch] = []
    sessions = Sessions(cite)

    def of(command: ShellCommand, around: tuple[RawArg, ...]) -> Iterator[RawLaunch]:
        for entry in entries(command, cite, allocation, programs()):
            named = recognise(entry)
            if named is None and entry.path.text in trains:
                named = SCRIPT.launch(command_of(entry), entry.args)
            if named is not None:
                launch = _launch(script, command, entry, named, cite)
                at = start.then(command.workdir)
                launch = msgspec.structs.replace(launch, workdir=entry.front.started_in(at))
                launch = _elastic(launch, entry, outer or {})
                container = (*around, *launch.container)
                yield msgspec.structs.replace(launch, container=container)

    for given, wrapped in _commands(script, cite):
        right = respelled(given)
        command = given if right is None else right.command
        sessions.note(command)
        around = tuple(wrapped.container) if wrapped else ()
        started = [*of(command, around)]
        if not started and any(word.courses for word in command.words):
            # few scripts have a launcher of several courses
            from trainrx.launch.started_either_way import either, ways

            one = either([[*of(way, around)] for way in ways(command)])
            unread = _unread(script, command.words)
            started += [] if one is None else [msgspec.structs.replace(one, unread=unread)]
        if right is not None:
            started = [_with(one, right.defect) for one in started]
        room = _MAX_LAUNCHES - len(found)
        found += (sessions.inside(launch) for launch in started[:room])
    launches = numbered(related(tuple(found)))
    return tuple(
        _with_defects(launch, script.defects, number, launches)
        for number, launch in enumerate(launches)
    )


def _with(launch: RawLaunch, defect: Defect) -> RawLaunch:
    return msgspec.structs.replace(launch, defects=(*launch.defects, defect))


def _allocated(script: Script) -> tuple[RawArg, ...]:
    if not script.directives:
        return ()
    from trainrx.launchers.cluster import directive_args

    return directive_args(script.directives, script.source, script.text.split("\n"))


def _start(script: Script) -> Workdir:
    """Give the folder a batch script is started in, where a directive names one.

    https://slurm.schedmd.com/sbatch.html (-D, --chdir)
    """
    named = [value for name, value, _ in script.directives if name in ("chdir", "D")]
    return Workdir().into(named[-1]) if named else Workdir()


def _commands(script: Script, cite: Cite) -> Iterator[tuple[ShellCommand, Front | None]]:
    """Give the commands of a script, those in the text of `sbatch --wrap` or tmux as well."""
    taken = 0
    for command in script.commands:
        name = basename(command.words[0])
        if name not in _INNER or taken >= _MAX_INNER:
            yield command, None
            continue
        taken += 1
        front = Front(cite)
        texts = _inner_texts(name, command, front)
        if not texts:
            yield command, None
        for word in texts:
            for item in read_script(word.text, script.source).commands:
                own = {variable.name for variable in item.env}
                outer = [one for one in front.reach(command.env, script.env) if one.name not in own]
                at = front.started_in(command.workdir).then(item.workdir)
                inner = msgspec.structs.replace(item, workdir=at)
                yield _moved(inner, command, word, (*outer, *item.env)), front


def _inner_texts(name: str, command: ShellCommand, front: Front) -> tuple[Word, ...]:
    if name == "sbatch":
        from trainrx.launchers.cluster import wrapped_by_sbatch

        wrapped = wrapped_by_sbatch(command.words[1:], front)
        return () if wrapped is None else (wrapped,)
    if name in _SUBMIT:
        from trainrx.launchers.submit import submitted

        line = submitted(name, command.words[1:], front)
        return () if line is None else (line,)
    return tuple(
        word for word in command.words[1:] if " " in word.text and looks_like_launch(word.text)
    )


def _moved(
    item: ShellCommand, command: ShellCommand, word: Word, env: tuple[EnvVar, ...]
) -> ShellCommand:
    """Put a command read from a word where that word stands."""
    hidden = set(word.unknown)
    words = tuple(
        msgspec.structs.replace(
            one, line=word.line, source=word.source, unknown=_still(one, hidden)
        )
        for one in item.words
    )
    return msgspec.structs.replace(
        item,
        words=words,
        env=env,
        origin=command.origin,
        perhaps=command.perhaps or item.perhaps,
        host=command.host or item.host,
        outputs=item.outputs or command.outputs,
    )


def _still(word: Word, hidden: set[str]) -> tuple[str, ...]:
    more = tuple(name for name in hidden if name in word.text and name not in word.unknown)
    return (*word.unknown, *more)


def _launch(
    script: Script, command: ShellCommand, entry: EntryPoint, named: RecognisedLaunch, cite: Cite
) -> RawLaunch:
    framework = framework_of(named.framework)
    bare: Sign = "=" if framework.bare_assigns else ""
    arguments = read_arguments(named.args, cite, overrides=framework.takes_overrides, bare=bare)
    args, configs = list(arguments.args), list(arguments.configs)
    if framework.positional and arguments.positional:
        model = arguments.positional[0]
        values = None if model.unknown else (model.text,)
        args.insert(0, RawArg(name=framework.positional, values=values, origin=cite(model)))
    configs += [
        item.values[0] for item in args if item.name in framework.file_flags and item.values
    ]
    front = entry.front
    names = [item.name for item in args]
    return RawLaunch(
        framework=named.framework,
        command=named.command,
        args=tuple(args),
        env=front.reach(command.env, script.env),
        origin=cite(entry.path),
        launcher=(*entry.launcher, *_tasks(entry)),
        configs=tuple(dict.fromkeys(configs)),
        args_complete=arguments.complete,
        env_complete=script.env_complete and not front.hidden_env,
        unread=_unread(script, command.words),
        defects=odd_characters(command.words, cite),
        role=framework.role(named.command, entry.path.text, names),
        container=(*front.container, *_allocation(entry)),
        host=command.host,
        perhaps=command.perhaps,
        program=entry.path.text,
        alone=entry.alone and not command.host,
        outputs=command.outputs,
        words=named.args if entry.path.text.endswith(".py") else None,
        started=_started(entry),
    )


def _started(entry: EntryPoint) -> tuple[Word, ...]:
    module = (Word(text="-m", line=entry.path.line),) if entry.module else ()
    return (*module, entry.path, *entry.args)


_ELASTIC = ("nnodes", "nproc_per_node", "node_rank", "master_addr", "master_port")
"""Options torchrun takes from variables (PET_NNODES) where the command line has none."""


def _elastic(launch: RawLaunch, entry: EntryPoint, around: Mapping[str, str]) -> RawLaunch:
    """Add the options torchrun takes from its environment.

    https://github.com/pytorch/pytorch/blob/v2.4.0/torch/distributed/argparse_util.py
    """
    if entry.via != "torchrun":
        return launch
    told = {item.name for item in launch.launcher}
    own = {item.name: item for item in launch.env}
    more: list[RawArg] = []
    for name in (name for name in _ELASTIC if name not in told):
        variable = f"PET_{name.upper()}"
        item = own.get(variable)
        value = item.value if item is not None else around.get(variable)
        if item is not None or value is not None:
            origin = launch.origin if item is None else item.origin
            values = None if value is None else (value,)
            more.append(RawArg(name=name, values=values, origin=origin))
    return msgspec.structs.replace(launch, launcher=(*launch.launcher, *more)) if more else launch


def _tasks(entry: EntryPoint) -> tuple[RawArg, ...]:
    """Give the processes of a script that srun itself starts once per task."""
    if entry.via != "python" or any(a.name == "nproc_per_node" for a in entry.launcher):
        return ()
    return tuple(
        msgspec.structs.replace(item, name="nproc_per_node")
        for item in entry.launcher
        if item.name == "ntasks_per_node" and entry.path.text.endswith(".py")
    )


def _allocation(entry: EntryPoint) -> tuple[RawArg, ...]:
    """Give what `#SBATCH` lines ask for when no srun takes it over."""
    if entry.front.allocated:
        return ()
    return tuple(
        item
        if item.name.startswith(SCHEDULERS)
        else msgspec.structs.replace(item, name=f"{SLURM}{item.name}")
        for item in entry.front.allocation
    )


def _unread(script: Script, words: tuple[Word, ...]) -> tuple[Unread, ...]:
    """Choose what of the script's unread parts concerns these words."""
    names = {name for word in words for name in word.unknown}
    return tuple(
        item
        for item in script.unread
        if any(item.reason.startswith((f"${name} ", f"{name} ")) for name in names)
    )


def _with_defects(
    launch: RawLaunch, defects: tuple[Defect, ...], number: int, found: tuple[RawLaunch, ...]
) -> RawLaunch:
    """Give a launch the defects of its own lines, and those that change its environment."""
    start = 0 if number == 0 else launch.origin.line or 0
    later = [other.origin.line or 0 for other in found[number + 1 :]]
    end = min((line for line in later if line > (launch.origin.line or 0)), default=None)
    chosen = [
        item
        for item in defects
        if item.id in ("crlf-line-ends", "variable-not-exported")
        or (item.line >= start and (end is None or item.line < end))
    ]
    known = {(item.id, item.line) for item in chosen}
    own = [item for item in launch.defects if (item.id, item.line) not in known]
    return msgspec.structs.replace(launch, defects=(*chosen, *own))
