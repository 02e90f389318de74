"""Read what a launch sets: names and values of every input, the effective one first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.spellbook import Spellbook, SpellbookEntry, Via
from trainrx.catalog.values import read_value
from trainrx.model.facts import Origin, Scalar
from trainrx.model.findings import Unread
from trainrx.model.job import EnvVar, RawArg, Setting

_RANK: dict[str, int] = {"dump": -1, "launcher": 1, "arg": 2, "config": 3, "env": 4, "log": 5}
_FIRST = 0


class SeenSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting somewhere in the inputs; the smallest `order` takes effect."""

    setting: Setting
    order: tuple[int, int, int]


class SettingsReader:
    """Collects settings; problems go to `unread`, names nobody knows to `unknown`."""

    def __init__(self, book: Spellbook, command: str) -> None:
        self.book = book
        self.command = command
        self.seen: list[SeenSetting] = []
        self.unknown: list[RawArg] = []
        self.unread: list[Unread] = []

    def read_args(self, args: Iterable[RawArg], via: Via) -> None:
        """Read arguments of the command line, a config file or the launcher in front."""
        for arg in args:
            self._read_arg(arg, via)

    def read_dump(self, args: Iterable[RawArg]) -> None:
        """Read arguments as the framework itself wrote them down: what really took effect."""
        for arg in args:
            via: Via = "env" if arg.via == "env" else "config"
            live = self._live(arg.name, via)
            if live:
                self._add(live, arg, via, dumped=True)

    def read_env(self, env: Iterable[EnvVar]) -> None:
        """Read environment variables; those that mean nothing here are no complaint."""
        for variable in env:
            values = None if variable.value is None else (variable.value,)
            live = self._live(variable.name, "env")
            if live:
                arg = RawArg(name=variable.name, values=values, origin=variable.origin)
                self._add(live, arg, "env")

    def effective(self) -> tuple[dict[str, Setting], tuple[Setting, ...]]:
        """Give the settings in effect by canonical name, and the ones they hide."""
        winners: dict[str, Setting] = {}
        hidden: list[Setting] = []
        for item in sorted(self.seen, key=lambda seen: seen.order):
            current = winners.setdefault(item.setting.canonical, item.setting)
            if current is item.setting:
                continue
            if current.via == "log" and current.value == item.setting.value:
                # the framework confirms what stands here: this is where it can be changed
                winners[item.setting.canonical] = item.setting
            else:
                hidden.append(item.setting)
        return winners, tuple(hidden)

    def _read_arg(self, arg: RawArg, via: Via) -> None:
        live = self._live(arg.name, via)
        if live:
            self._add(live, arg, via)
            return
        if plain(arg.name).startswith("no_") and arg.values == ():
            positive = self._live(plain(arg.name)[3:], via)
            if positive and positive[0].param.type == "bool":
                self._add(positive, msgspec.structs.replace(arg, values=("false",)), via)
                return
        if via != "launcher":
            self.unknown.append(arg)

    def _live(self, name: str, via: Via) -> tuple[SpellbookEntry, ...]:
        """Give the entries a name has at the versions the job may run, one per parameter."""
        found: dict[str, SpellbookEntry] = {}
        for entry in self.book.find(name, via, self.command):
            if self.book.live(entry):
                found.setdefault(entry.param.id, entry)
        return tuple(found.values())

    def _add(
        self, entries: Sequence[SpellbookEntry], arg: RawArg, via: Via, *, dumped: bool = False
    ) -> None:
        for entry in entries:
            value, text, says_nothing = self._value(entry, arg, via)
            if says_nothing:
                continue
            setting = Setting(
                canonical=entry.param.id,
                value=value,
                text=text,
                spelled_as=arg.name,
                via="log" if dumped else via,
                how="read",
                origins=(arg.origin,),
            )
            rank = _RANK["dump"] if dumped else self._rank(entry, via)
            order = (rank, entry.place, -len(self.seen))
            self.seen.append(SeenSetting(setting=setting, order=order))

    def _value(
        self, entry: SpellbookEntry, arg: RawArg, via: Via
    ) -> tuple[Scalar | None, str, bool]:
        """Give the value (None: set, but not known), its text, and whether it says nothing."""
        if arg.values is None:
            # what Megatron loads is a folder of checkpoints, whatever it is called
            named = entry.param.id == "model.name" and arg.shown and arg.name != "load"
            word = arg.shown if named else _unresolved(arg)
            self._complain(arg, via, f"{word or 'its value'} is not set in the script")
            return None, word, False
        reading = read_value(entry.param, entry.spelling, arg.values)
        if reading.problem is not None:
            self._complain(arg, via, reading.problem)
        silent = reading.value is None and reading.problem is None
        return reading.value, " ".join(arg.values), silent

    def _rank(self, entry: SpellbookEntry, via: Via) -> int:
        """An environment variable that is listed first is the knob itself: it decides."""
        return _FIRST if via == "env" and self._is_main(entry) else _RANK[via]

    def _is_main(self, entry: SpellbookEntry) -> bool:
        own = [e for e in self.book.by_param[entry.param.id] if e.owner == entry.owner]
        return entry.owner not in {"any", "launcher"} and any(e.spelling.arg for e in own)

    def _complain(self, arg: RawArg, via: Via, why: str) -> None:
        shown = f"--{arg.name}" if via == "arg" and arg.via == "arg" else arg.name
        self.unread.append(_unread(arg.origin, f"{shown}: {why}"))


def _unresolved(arg: RawArg) -> str:
    """Find the word behind a flag in its line, e.g. `$MAX_LEN`."""
    pattern = rf"--?{re.escape(arg.name)}[= \t]+(\S{{1,80}})"
    found = re.search(pattern, arg.origin.text)
    if found is not None:
        return found[1].strip("\"'")
    found = re.search(r"\$\{?\w{1,60}\}?|\$\(", arg.origin.text)
    return found[0] if found is not None and found[0] != "$(" else ""


def _unread(origin: Origin, reason: str) -> Unread:
    return Unread(source=origin.source, reason=reason, line=origin.line, text=origin.text)
