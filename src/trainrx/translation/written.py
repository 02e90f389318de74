"""The new launch put together, and the edits that lead to it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.result import Change, Kind
from trainrx.model.text import Lang, Text
from trainrx.model.translation import Carried
from trainrx.translation.steps import REMOVED
from trainrx.translation.words import Piece, Step, Way

SAID_ALREADY = Text(en="--{name} says it already", zh="--{name} 已经说明")


class TargetArguments:
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


def carried(written: TargetArguments, way: Way, lang: Lang) -> Iterator[Carried]:
    """Say of each argument what becomes of it, with the edits."""
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


def _shown(piece: Piece, arg: RawArg, written: TargetArguments) -> str:
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
    arg: RawArg, pieces: Sequence[Piece], outcome: str, step: Step, written: TargetArguments
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
    kind: Kind = "env" if piece.kind == "env" else ("config_file" if file else "arg")
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
