"""A launch in the words of another version of its framework."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from packaging.version import Version

from trainrx.fix.translate_steps import REMOVED, Piece, Side, Step, Way, carry, side
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.knowledge import Param
from trainrx.model.result import Change
from trainrx.model.text import Lang, Text
from trainrx.model.translation import Carried, Refused
from trainrx.parse.catalog import catalog, plain
from trainrx.parse.resolve import resolve
from trainrx.parse.resolved import Resolved
from trainrx.parse.signature import releases_taking

_TRUE = frozenset({"1", "true", "yes", "on"})
_OUTSIDE = frozenset({"config", "help", "model_name", "config_name", "config_path"})

SAID_ALREADY = Text(en="--{name} says it already", zh="--{name} 已经说明")
NO_COMMAND = Text(
    en="{target} has no command {command}", zh="{target} 没有 {command} 命令"
)


class Renaming(NamedTuple):
    """A command that has another name since a release, and the argument that goes with it."""

    framework: str
    since: str
    old: str
    new: str
    argument: tuple[str, str] | None = None


_COMMANDS = (
    *(
        Renaming("ms-swift", "3.0.0", task, "rlhf", ("rlhf_type", task))
        for task in ("dpo", "orpo", "simpo")
    ),
    Renaming("ms-swift", "3.0.2", "app-ui", "app"),
)
"""ms-swift 2.6.1, 3.0.0 and 3.0.2 wheels: swift/cli/main.py."""


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
    refused: tuple[Refused, ...]
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
    return known.releases[bits.bit_length() - 1], known.describe(bits)


def command_in(framework: str, command: str, at: Version2) -> tuple[str, tuple[str, str] | None]:
    """Give what a command is called in the target, and an argument that goes with it."""
    old, new = Version(at.old), Version(at.new)
    for item in _COMMANDS:
        if item.framework != framework:
            continue
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
    way = Way(
        launch.framework,
        side(launch, launch.command, at.old, params),
        side(launch, command, at.new, params),
        params,
        given,
        _hub(launch),
    )
    steps = [(arg, _step(arg, way)) for arg in (*launch.args, *configs)]
    if extra is not None and extra[0] not in given:
        added = RawArg(name=extra[0], values=(extra[1],), origin=launch.origin)
        steps.append((added, Step("replaced", (Piece(extra[0], (extra[1],)),))))
    written = _Written(steps, launch)
    return _checked(written, launch, configs, at, way, lang)


def _step(arg: RawArg, way: Way) -> Step:
    if plain(arg.name) in _OUTSIDE and way.new.taken.get(arg.name) is None:
        return Step("kept", (Piece(arg.name, arg.values),))
    return carry(arg, way)


def _hub(launch: RawLaunch) -> str:
    """Tell where models come from: USE_HF, as ms-swift reads it."""
    values = {item.name: (item.value or "").lower() for item in launch.env}
    flags = {plain(arg.name): arg.values for arg in launch.args}
    asked = flags.get("use_hf")
    by_flag = asked is not None and (not asked or asked[0].lower() in _TRUE)
    return "hf" if by_flag or values.get("USE_HF", "0") in _TRUE else "ms"


class _Written:
    """The arguments of the new launch, put together from what each old one becomes."""

    def __init__(self, steps: Sequence[tuple[RawArg, Step]], launch: RawLaunch) -> None:
        self.steps = steps
        self.launch = launch
        self.args: dict[str, RawArg] = {}
        self.env: dict[str, str] = {}
        self.owners: dict[str, int] = {}
        self.lists: dict[str, list[str]] = {}
        self.skipped: set[tuple[int, int]] = set()
        own = {plain(arg.name) for arg, step in steps if step.outcome == "kept"}
        for index, (arg, step) in enumerate(steps):
            for number, piece in enumerate(step.pieces):
                if piece.how == "set":
                    self._set(index, number, arg, piece, own)
        for index, (arg, step) in enumerate(steps):
            for number, piece in enumerate(step.pieces):
                if piece.how != "set":
                    self._extend(index, number, arg, piece)

    def _set(self, index: int, number: int, arg: RawArg, piece: Piece, own: set[str]) -> None:
        name = plain(piece.name)
        taken = name in self.args and self.owners[name] != index
        theirs = name in own and plain(arg.name) != name
        if piece.kind == "env":
            self.env[piece.name] = " ".join(piece.values or ())
        elif taken and plain(arg.name) == name and self.steps[index][1].outcome == "kept":
            # given twice in the launch: the last one counts, as it did
            self.args[name] = arg
        elif taken or theirs:
            self.skipped.add((index, number))
        else:
            values = arg.values if piece.values is None else piece.values
            self.args[name] = msgspec.structs.replace(arg, name=piece.name, values=values)
            self.owners[name] = index

    def _extend(self, index: int, number: int, arg: RawArg, piece: Piece) -> None:
        name, words = plain(piece.name), piece.values or ()
        there = self.args.get(name)
        if there is not None and there.values is None:
            self.skipped.add((index, number))
            return
        values = list(there.values or ()) if there is not None else []
        if piece.how == "add":
            values += words
        elif not values:
            self.skipped.add((index, number))
            return
        else:
            values = [v if "#" in v else f"{v}#{' '.join(words)}" for v in values]
        base = there if there is not None else msgspec.structs.replace(arg, name=piece.name)
        self.args[name] = msgspec.structs.replace(base, values=tuple(values))
        self.lists[name] = values


def _checked(  # noqa: PLR0913  # what a launch is read with, once for each version
    written: _Written,
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
        arguments=tuple(_carried(written, way, lang)),
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
) -> Iterator[Refused]:
    """Say what the target version would not take, as far as the catalog tells."""
    known = catalog(way.framework)
    target = f"{way.framework} {way.new.version}"
    lives = known.contents.commands.get(now.command)
    if lives is not None and not known.mask(lives) & known.of(way.new.version):
        reason = NO_COMMAND.in_(lang).format(target=target, command=now.command)
        yield Refused(given=now.command, reason=reason)
        return
    strangers = {plain(arg.name) for arg in before.unknown_flags}
    for arg in after.unknown_flags:
        if plain(arg.name) not in strangers:
            yield Refused(given=flag(arg.name, arg.values), reason="unknown argument")
    told = {item.reason for item in before.unread}
    for item in after.unread:
        if item.reason not in told:
            yield Refused(given=item.text, reason=item.reason)


def _carried(written: _Written, way: Way, lang: Lang) -> Iterator[Carried]:
    target = f"{way.framework} {way.new.version}"
    source = f"{way.framework} {way.old.version}"
    for index, (arg, step) in enumerate(written.steps):
        pieces = [
            (number, piece)
            for number, piece in enumerate(step.pieces)
            if (index, number) not in written.skipped
        ]
        why = "" if step.note is None else step.note.in_(lang)
        why = why.replace("{target}", target).replace("{version}", source)
        outcome = step.outcome
        if step.pieces and not pieces:
            name = step.pieces[0].name
            lost = step.pieces[0].how == "number"
            outcome = "missing" if lost else "dropped"
            why = why if lost else SAID_ALREADY.in_(lang).format(name=name)
        if outcome == "missing" and not why:
            why = REMOVED.in_(lang).format(target=target)
        yield Carried(
            given=flag(arg.name, arg.values, file=arg.via == "config"),
            name=arg.name,
            outcome=outcome,
            now=tuple(_shown(piece, arg, written) for _, piece in pieces),
            canonical=step.canonical,
            why=why,
            source=step.source,
            origin=arg.origin,
            changes=tuple(_changes(arg, [p for _, p in pieces], outcome, step, written)),
        )


def _shown(piece: Piece, arg: RawArg, written: _Written) -> str:
    if piece.kind == "env":
        return f"{piece.name}={shlex.quote(' '.join(piece.values or ()))}"
    values = arg.values if piece.values is None else piece.values
    if piece.how != "set":
        values = tuple(written.lists.get(plain(piece.name), ()))
    return flag(piece.name, values, file=arg.via == "config")


def flag(name: str, values: Sequence[str] | None, *, file: bool = False) -> str:
    """Write an argument as a shell or a YAML file has it; an unknown value is `...`."""
    words = ["..."] if values is None else [shlex.quote(value) for value in values]
    if not file:
        return " ".join((f"--{name}", *words))
    plain_words = ["..."] if values is None else list(values)
    if len(plain_words) > 1:
        return f"{name}: [{', '.join(plain_words)}]"
    return f"{name}: {plain_words[0] if plain_words else 'true'}"


def _changes(
    arg: RawArg, pieces: Sequence[Piece], outcome: str, step: Step, written: _Written
) -> Iterator[Change]:
    """Give the edits: the first plain piece takes the argument's place, others are added."""
    if outcome in ("kept", "stranger"):
        return
    own = arg.origin.line is not None and arg.via in ("arg", "config")
    left = not any(piece.how == "set" and piece.kind == "arg" for piece in pieces)
    if left and own:
        yield _change(arg, Piece(arg.name, arg.values), "remove", step)
    placed = left
    for piece in pieces:
        if piece.how == "set":
            first = piece.kind == "arg" and not placed
            placed = placed or piece.kind == "arg"
            yield _change(arg, piece, "switch" if first else "add", step)
        else:
            values = tuple(written.lists.get(plain(piece.name), ()))
            yield _change(arg, piece._replace(values=values), "set", step)


def _change(arg: RawArg, piece: Piece, action: str, step: Step) -> Change:
    file = arg.via == "config"
    old = flag(arg.name, arg.values, file=file)
    words = arg.values if piece.values is None else piece.values
    to: str | None = " ".join(words or ())
    spelled = _spelled(piece, words, file=file)
    if action == "remove":
        to = None
    elif action == "switch" and words == arg.values and piece.name != arg.name:
        # only the name changes: the value stays as written, variables and all
        to, spelled = piece.name, piece.name
        old = f"{'' if file else '--'}{arg.name}"
    kind = "env" if piece.kind == "env" else ("config_file" if file else "arg")
    return Change(
        kind=kind,
        param=piece.name,
        canonical=step.canonical,
        action=action,  # type: ignore[arg-type]
        from_=old if action in ("switch", "remove") else None,
        now="set" if action in ("switch", "remove") else "unset",
        to=to,
        spelled=spelled,
        at=arg.origin,
    )


def _spelled(piece: Piece, words: Sequence[str] | None, *, file: bool) -> str:
    if piece.kind == "env":
        return f"{piece.name}={shlex.quote(' '.join(words or ()))}"
    return flag(piece.name, words, file=file)


def text_of(launch: RawLaunch, added: Mapping[str, str] | None = None) -> str:
    """Write a launch as a command, one argument per line, variables that are new in front."""
    lines = [f"{name}={shlex.quote(value)} \\" for name, value in (added or {}).items()]
    head = _head(launch)
    rest = [flag(arg.name, arg.values) for arg in launch.args]
    return "\n".join((*lines, " \\\n    ".join((head, *launch.configs, *rest))))


def _head(launch: RawLaunch) -> str:
    commands = {"ms-swift": "swift {}", "llamafactory": "llamafactory-cli {}", "trl": "trl {}"}
    if launch.command.startswith("megatron "):
        return launch.command
    pattern = commands.get(launch.framework)
    return pattern.format(launch.command) if pattern else (launch.program or launch.command)


def nowhere(text: str) -> Origin:
    """Give the origin of something that stands in no file."""
    return Origin(source=text)


__all__ = ["Moved", "Side", "Version2", "exact", "flag", "move", "text_of", "written_for"]
