"""A launch in the words of another version of its framework."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from packaging.version import Version

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.signature import releases_taking
from trainrx.frameworks import framework_of
from trainrx.launch.resolve import outside_parser, resolve
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.parts import Param
from trainrx.model.text import Lang, Text
from trainrx.model.translation import Carried, RejectedArgument
from trainrx.translation.steps import carry
from trainrx.translation.words import Piece, Step, Way, side
from trainrx.translation.written import TargetArguments, carried, flag

_HYDRA = frozenset({"config_name", "config_path"})


NO_COMMAND = Text(en="{target} has no command {command}", zh="{target} 没有 {command} 命令")


class Version2(NamedTuple):
    """Two versions of one framework, both exact."""

    old: str
    new: str


class Moved(NamedTuple):
    """A launch carried over: each argument, the new launch, and what the target refuses."""

    arguments: tuple[Carried, ...]
    old: RawLaunch
    launch: RawLaunch
    configs: tuple[RawArg, ...]
    refused: tuple[RejectedArgument, ...]
    before: Resolved
    after: Resolved
    way: Way


def exact(framework: str, text: str | None) -> str | None:
    """Give the newest release a version text may mean; None when it names none."""
    known = catalog(framework)
    if not text or not known.releases:
        return None
    bits = known.of(text)
    if bits == known.all and text.strip() not in ("", "*"):
        return None
    return known.releases[bits.bit_length() - 1]


def written_for(launch: RawLaunch, configs: Sequence[RawArg]) -> tuple[str, str]:
    """Give the newest release that takes the names of a launch, and the range of all that do."""
    known = catalog(launch.framework)
    bits = releases_taking((*launch.args, *configs), launch.framework, launch.command)
    bits = bits & _values_of(launch, configs) or bits
    return known.releases[bits.bit_length() - 1], known.describe(bits)


def _values_of(launch: RawLaunch, configs: Sequence[RawArg]) -> int:
    """Give the releases whose words for values a launch uses: types that name the model."""
    known = catalog(launch.framework)
    renames = framework_of(launch.framework).value_renames()
    if renames is None:
        return known.all
    given = {plain(arg.name): arg.values for arg in (*launch.args, *configs)}
    kind = next(iter(given.get("model_type") or ()), "")
    old = "model" not in given and renames.is_old_type(kind)
    return known.of(f"<{renames.SINCE}") if old else known.all


def command_in(framework: str, command: str, at: Version2) -> tuple[str, tuple[str, str] | None]:
    """Give what a command is called in the target, and an argument that goes with it."""
    old, new = Version(at.old), Version(at.new)
    for item in framework_of(framework).renamed_commands:
        since = Version(item.since)
        if command == item.old and new >= since:
            return item.new, item.argument
        if command == item.new and item.argument is None and new < since <= old:
            return item.old, None
    return command, None


def move(
    launch: RawLaunch,
    configs: Sequence[RawArg],
    at: Version2,
    params: Mapping[str, Param],
    lang: Lang,
) -> Moved:
    """Carry every argument of a launch from one version to the other.

    What comes out is read again by the parser of this package as the target version would.
    """
    command, extra = command_in(launch.framework, launch.command, at)
    given = {plain(arg.name): arg.values for arg in (*launch.args, *configs)}
    renames = framework_of(launch.framework).value_renames()
    way = Way(
        launch.framework,
        side(launch, launch.command, at.old, params),
        side(launch, command, at.new, params),
        params,
        given,
        renames.hub_of(launch) if renames is not None else "",
    )
    steps = [(arg, _step(arg, way)) for arg in (*launch.args, *configs)]
    if extra is not None and extra[0] not in given:
        added = RawArg(name=extra[0], values=(extra[1],), origin=launch.origin)
        steps.append((added, Step("replaced", (Piece(extra[0], (extra[1],)),))))
    written = TargetArguments(steps, launch)
    return _checked(written, launch, configs, at, way, lang)


def _step(arg: RawArg, way: Way) -> Step:
    outside = outside_parser(way.new.launch, way.new.version) | _HYDRA
    if plain(arg.name) in outside and way.new.taken.get(arg.name) is None:
        return Step("kept", (Piece(arg.name, arg.values),))
    return carry(arg, way)


def _checked(  # what a launch is read with, once for each version
    written: TargetArguments,
    launch: RawLaunch,
    configs: Sequence[RawArg],
    at: Version2,
    way: Way,
    lang: Lang,
) -> Moved:
    args = tuple(arg for arg in written.args.values() if arg.via != "config")
    files = tuple(arg for arg in written.args.values() if arg.via == "config")
    now = msgspec.structs.replace(launch, command=way.new.launch.command, args=args)
    before = resolve(
        launch, params=way.params, configs=configs, versions={launch.framework: at.old}
    )
    after = resolve(now, params=way.params, configs=files, versions={launch.framework: at.new})
    return Moved(
        arguments=tuple(carried(written, way, lang)),
        old=launch,
        launch=now,
        configs=files,
        refused=tuple(_refusals(before, after, now, way, lang)),
        before=before,
        after=after,
        way=way,
    )


def _refusals(
    before: Resolved, after: Resolved, now: RawLaunch, way: Way, lang: Lang
) -> Iterator[RejectedArgument]:
    """Say what the target version would not take, as far as the catalog tells."""
    known = catalog(way.framework)
    target = f"{way.framework} {way.new.version}"
    lives = known.contents.commands.get(now.command)
    if lives is not None and not known.mask(lives) & known.of(way.new.version):
        reason = NO_COMMAND.in_(lang).format(target=target, command=now.command)
        yield RejectedArgument(given=now.command, reason=reason)
        return
    strangers = {plain(arg.name) for arg in before.unknown_flags}
    for arg in after.unknown_flags:
        if plain(arg.name) not in strangers:
            yield RejectedArgument(given=flag(arg.name, arg.values), reason="unknown argument")
    told = {item.reason for item in before.unread}
    for item in after.unread:
        if item.reason not in told:
            yield RejectedArgument(given=item.text, reason=item.reason)


def text_of(
    launch: RawLaunch, configs: Sequence[RawArg] = (), added: Mapping[str, str] | None = None
) -> str:
    """Write a launch as a command, one argument per line, variables that are new in front.

    The keys of its configuration follow behind a blank line.
    """
    lines = [f"{name}={shlex.quote(value)} \\" for name, value in (added or {}).items()]
    head = _head(launch)
    rest = [flag(arg.name, arg.values) for arg in launch.args]
    keys = [flag(arg.name, arg.values, file=True) for arg in configs]
    command = " \\\n    ".join((head, *launch.configs, *rest))
    return "\n".join((*lines, command, *(("", *keys) if keys else ())))


def _head(launch: RawLaunch) -> str:
    """Give what stands in front of the arguments; launchers in front of it stay as they are."""
    framework = framework_of(launch.framework)
    if framework.programs and framework.commands:
        return framework.typed(launch.command)
    program = launch.program or launch.command
    if program.endswith(".py"):
        return f"python {shlex.quote(program)}"
    return f"python -m {shlex.quote(program)}"
