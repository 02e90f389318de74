"""Which of several launches ran: as the user says, else as the logs show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from trainrx.evidence.arguments import Dump
from trainrx.frameworks import framework_of
from trainrx.inputs.encoding import decode_text
from trainrx.inputs.stream import CHUNK, chunks
from trainrx.launch.given import Given
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawArg, RawLaunch

WHICH = "launch.which"
"""The question which of several launches ran."""
MOST_ALTERNATIVES = 8
_MOST_ARGS = 200
_LONG = 8
"""A value of so many characters stands in a log by no accident."""
_OWN_FILE = 8
"""What it counts that a log is the one a launch writes to; an argument that is printed counts 1."""
_SAME_FOLDER = 3
_OPEN = "one of {count} launches that may have run: only what all of them set was judged"
_ONE_OF = "is a further training command and was not judged: give its lines as a script"


class LaunchChoice(NamedTuple):
    """What was chosen.

    Attributes:
        launch: the one that ran, or what all that may have run have in common; None where that is
            nothing.
        alternatives: those that may have run, where nothing decides.
        unread: what was left out.
    """

    launch: RawLaunch | None
    alternatives: tuple[RawLaunch, ...] = ()
    unread: tuple[Unread, ...] = ()


def choose(launches: Sequence[RawLaunch], given: Given, dumps: Sequence[Dump]) -> LaunchChoice:
    """Choose the launch that ran.

    The first counts where there is no sign of a run, or where a script runs one after the other;
    blocks of a post are scripts of their own.
    """
    if len(launches) < 2:
        return LaunchChoice(launches[0] if launches else None)
    said = _said(launches, given)
    if said is not None:
        return LaunchChoice(said, unread=_left_out(launches, said))
    best = _best(launches, given, dumps)
    first = best[0]
    ran = bool(given.logs or given.notes)
    if not ran or len({_place(item, given) for item in best}) < 2 or not any(_distinct(best)):
        return LaunchChoice(first, unread=_left_out(launches, first))
    count = str(len(best))
    unread = tuple(_unread(item, _OPEN.format(count=count)) for item in best)
    return LaunchChoice(common(best), tuple(best[:MOST_ALTERNATIVES]), unread)


def name_of(launch: RawLaunch, among: Sequence[RawLaunch]) -> str:
    """Name a launch by its file, and the line where the file has others too."""
    same = [item for item in among if item.origin.source == launch.origin.source]
    return launch.origin.source if len(same) < 2 else str(launch.origin)


def common(launches: Sequence[RawLaunch]) -> RawLaunch | None:
    """Give what several launches have in common; what only some set is unknown."""
    first = launches[0]
    if len({(item.framework, item.command) for item in launches}) > 1:
        return None

    def shared(name: str) -> tuple[RawArg, ...]:
        held = [{(a.name, a.values) for a in getattr(item, name)} for item in launches]
        both = reduce(set.intersection, held)
        return tuple(arg for arg in getattr(first, name) if (arg.name, arg.values) in both)

    env = reduce(
        set.intersection, [{(item.name, item.value) for item in one.env} for one in launches]
    )
    return msgspec.structs.replace(
        first,
        args=shared("args"),
        launcher=shared("launcher"),
        container=shared("container"),
        env=tuple(item for item in first.env if (item.name, item.value) in env),
        configs=tuple(c for c in first.configs if all(c in one.configs for one in launches)),
        args_complete=False,
        env_complete=False,
    )


def _said(launches: Sequence[RawLaunch], given: Given) -> RawLaunch | None:
    """Give the one that the user names: by its file, its line or its place in the list."""
    fact = next((item for item in given.replies.facts if item.kind == WHICH), None)
    if fact is None:
        return None
    text = str(fact.value).strip()
    for number, launch in enumerate(launches, start=1):
        source = launch.origin.source
        if text in (str(launch.origin), source, PurePath(source).name, str(number)):
            return launch
    return None


def _best(launches: Sequence[RawLaunch], given: Given, dumps: Sequence[Dump]) -> list[RawLaunch]:
    """Give the launches that agree best with the logs; launches of one job are one."""
    logs = [log for log in given.logs if log.kind == "log"]
    text = "\n".join(_beginning(log) for log in logs)[: 4 * CHUNK] if launches else ""
    own = _distinct(launches)
    followed = _followed(launches, given)
    scores = [
        _agreement(launch, dumps)
        + _printed(launch, args, text)
        + _beside(launch, given)
        + _SAME_FOLDER * (launch in followed)
        for launch, args in zip(launches, own, strict=True)
    ]
    most = max(scores)
    found: dict[object, RawLaunch] = {}
    for launch, score in zip(launches, scores, strict=True):
        if score == most:
            found.setdefault((launch.origin.source, launch.job or launch.origin.line), launch)
    return list(found.values())


def _place(launch: RawLaunch, given: Given) -> tuple[str, int]:
    """Give the script a launch stands in, and of a post the block."""
    source, line = launch.origin.source, launch.origin.line or 0
    spans = [span for one in given.scripts if one.name == source for span in one.spans]
    return source, next((first for first, last in spans if first <= line <= last), 0)


def _followed(launches: Sequence[RawLaunch], given: Given) -> list[RawLaunch]:
    """Give the launches of a post behind which stands what they printed, before the next launch.

    What stands behind all of them may be of any.
    """
    found: list[RawLaunch] = []
    for source in {item.origin.source for item in launches}:
        own = sorted(
            (item for item in launches if item.origin.source == source),
            key=lambda item: item.origin.line or 0,
        )
        starts = [
            first for log in given.logs if log.name == source for first, _ in sorted(log.spans)
        ]
        ends = [*(item.origin.line or 0 for item in own[1:]), max(starts, default=0) + 1]
        behind = [
            item
            for item, end in zip(own, ends, strict=True)
            if any((item.origin.line or 0) < start < end for start in starts)
        ]
        found += behind if behind != own[-1:] else []
    return found


def _agreement(launch: RawLaunch, dumps: Sequence[Dump]) -> int:
    """Count the arguments a launch and what its program printed agree on, less the others."""
    shown = {arg.name: arg.values for arg in logged(dumps, launch)}
    told = [arg for arg in launch.args if arg.values and arg.name in shown]
    return sum(1 if shown[arg.name] == arg.values else -1 for arg in told)


def logged(dumps: Sequence[Dump], raw: RawLaunch) -> tuple[RawArg, ...]:
    """Give what a launch's own programs printed of its arguments, the decisive last.

    A None among what was handed on or set later says nothing: it was filled in before.
    """
    own = [
        d for d in dumps if d.framework in ("", raw.framework) and d.command in ("", raw.command)
    ]
    out: list[RawArg] = []
    for kind in ("arguments", "trainer", "adjusted"):
        values = [arg for dump in own if dump.kind == kind for arg in dump.values]
        out += [a for a in values if kind == "arguments" or a.values not in (None, ("null",))]
    seen = [arg for dump in own if dump.kind == "environment" for arg in dump.values]
    return (*out, *(msgspec.structs.replace(arg, via="env") for arg in seen))


def _distinct(launches: Sequence[RawLaunch]) -> list[list[tuple[str, str]]]:
    """Give the arguments of each launch that not all of them have, as name and value."""
    held = [
        [(arg.name, " ".join(arg.values)) for arg in one.args[:_MOST_ARGS] if arg.values]
        for one in launches
    ]
    everywhere = reduce(set.intersection, [set(one) for one in held])
    return [[pair for pair in one if pair not in everywhere] for one in held]


def _printed(launch: RawLaunch, args: Sequence[tuple[str, str]], text: str) -> int:
    """Count what a log shows that only this launch says: arguments, its program, its framework."""
    if not text:
        return 0
    framework = framework_of(launch.framework)
    paths = [f"/{folder}/" for folder in framework.folders if not framework.plain_folders]
    program = f"{PurePath(launch.program).name} {launch.command}"
    count = sum(_shows(name, value, text) for name, value in args)
    return count + any(path in text for path in paths) + (program in text)


def _shows(name: str, value: str, text: str) -> bool:
    """Tell whether a log has an argument with its value, or a value too long for an accident."""
    if value not in text:
        return False
    end = re.escape(value) + r"(?![\w.-])"
    if re.search(rf"{re.escape(name)}['\"]?\s?[=: ]\s?['\"]?{end}", text) is not None:
        return True
    return len(value) >= _LONG and re.search(rf"(?<![\w./-]){end}", text) is not None


def _beside(launch: RawLaunch, given: Given) -> int:
    """Count what the places of the logs say: written by this launch, or lying with its script."""
    folder = given.beside.get(launch.origin.source)
    folders = {log.path.parent for log in given.logs if log.path is not None}
    names = {PurePath(log.name).name for log in given.logs}
    written = {PurePath(name).name for name in launch.outputs}
    inside = {part for log in given.logs for part in PurePath(log.name).parts[:-1]}
    outputs = {PurePath(value).name for value in _output_folders(launch)}
    scripts = {place for name, place in given.beside.items() if name != launch.origin.source}
    lies_alone = folder is not None and folders == {folder} and folder not in scripts
    return (
        _OWN_FILE * bool(names & written)
        + _OWN_FILE * bool(outputs & inside)
        + _SAME_FOLDER * lies_alone
    )


def _output_folders(launch: RawLaunch) -> Iterator[str]:
    for arg in launch.args:
        if arg.name.replace("-", "_").endswith("output_dir") and arg.values:
            yield arg.values[-1]


def _beginning(log: Input) -> str:
    if log.text is not None:
        return log.text[:CHUNK]
    return decode_text(next(chunks(log, lambda _: None), b""))


def _left_out(launches: Sequence[RawLaunch], chosen: RawLaunch) -> tuple[Unread, ...]:
    # a script that was given twice is one
    others = (item for item in launches if item is not chosen and item.origin != chosen.origin)
    return tuple(_unread(item, _ONE_OF) for item in others)


def _unread(launch: RawLaunch, reason: str) -> Unread:
    origin = launch.origin
    return Unread(source=origin.source, line=origin.line, text=origin.text, reason=reason)
