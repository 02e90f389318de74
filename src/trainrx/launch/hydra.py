"""What Hydra composes of a launch: the file it starts from and those its `defaults:` list names.

Each file gets a package, the place its keys take in the whole; the decisive one comes last. Read
statically: what a resolver works out, and what lies in an installed package, is not at hand.
https://hydra.cc/docs/advanced/defaults_list/ and hydra/_internal/defaults_list.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from trainrx.launch.places import FoundFile
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.pattern import late

_PATH, _DIR, _NAME = ("config_path", "cp"), ("config_dir", "cd"), ("config_name", "cn")
_FILES = (".yaml", ".yml")
_DECORATED = late(r"@hydra\.main\b|(?m:^[ \t]*@main\()")
_DECLARED = late(r"\b(config_path|config_name)[ \t]*=[ \t]*(?:[rf]?[\"']([^\"'\n]*)[\"']|(None)\b)")
_HEADER = late(r"(?m)^#[ \t]*@package[ \t]+(\S+)[ \t]*$")
_ENTRY = late(r"(?:(?P<kind>optional|override)[ \t]+)?(?P<group>[^@\s]+)(?:@(?P<package>\S*))?")
_PKG, _FILE = "pkg://", "file://"
_SELF = "_self_"
MOST_PARTS = 48
MOST_DEPTH = 12


class HydraPart(NamedTuple):
    """A file of the composition; `package` is what stands in front of its keys, dotted."""

    name: str
    file: FoundFile
    package: str


class Composition(NamedTuple):
    """What was composed, the decisive last; `missing` are files that are not at hand.

    `start` is the name of the file Hydra starts from.
    """

    parts: tuple[HydraPart, ...] = ()
    missing: tuple[str, ...] = ()
    start: str = ""


class StartFile(NamedTuple):
    """The file Hydra starts from: where it may lie, and further folders of its search path.

    `stem` is its name where the command gives it, without the ending.
    """

    names: tuple[str, ...]
    folders: tuple[str, ...]
    stem: str = ""


Read = Callable[[str], FoundFile | None]


def is_hydra_program(text: str) -> bool:
    """Tell whether a Python program is started by Hydra."""
    return "hydra" in text and _DECORATED.search(text) is not None


def start_file(raw: RawLaunch, program: str | None) -> StartFile | None:
    """Give the file a launch starts from; None where none is named.

    Flags go before what the program declares. A relative folder is one beside the program, and
    the folder the job is started in is tried as well.

    Args:
        raw: the launch.
        program: the text of the program, where it is at hand.
    """
    given = {arg.name: arg.values for arg in raw.args if arg.name in (*_PATH, *_DIR, *_NAME)}
    named = {name: values[0] for name, values in given.items() if values and len(values) == 1}
    if any(name in given and name not in named for name in _NAME):
        return None
    declared = _declared(program or "")
    name = _first(named, _NAME) or declared.get("config_name")
    if not name:
        return None
    file = name if name.lower().endswith(_FILES) else f"{name}.yaml"
    own = _folder_of(raw.program)
    path = _first(named, _PATH)
    folders = [] if path is None else [path.removeprefix(_FILE)]
    folders += [f"{own}/{path}"] if path is not None and own and not path.startswith("/") else []
    if path is None and declared.get("config_path") is not None:
        folders += [f"{own}/{declared['config_path']}" if own else declared["config_path"]]
    further = [place for place in (_first(named, _DIR),) if place]
    candidates = [f"{place.rstrip('/')}/{file}" for place in (*folders, *further) if place != "."]
    if "." in folders or not candidates:
        candidates.append(f"{own}/{file}" if own else file)
    if any(name not in named for name in given):  # a folder nobody can tell: by its name alone
        candidates = [file]
    stem = (_first(named, _NAME) or "").removesuffix(".yaml").removesuffix(".yml")
    return StartFile(tuple(dict.fromkeys(candidates)), tuple(further), stem)


def _first(named: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((named[name] for name in names if name in named), None)


def _declared(program: str) -> dict[str, str]:
    """Read what `@hydra.main(config_path=..., config_name=...)` of a program declares."""
    at = _DECORATED.search(program)
    if at is None:
        return {}
    call = program[at.start() : at.start() + 400].partition("\ndef ")[0]
    return {name: text for name, text, none in _DECLARED.findall(call) if not none}


def _folder_of(program: str) -> str:
    """Give the folder of a script or of a dotted module."""
    text = program.replace("\\", "/")
    if "/" not in text and not text.endswith(".py"):
        text = text.replace(".", "/")
    return text.rpartition("/")[0]


def compose(start: StartFile, args: Sequence[RawArg], read: Read) -> Composition:
    """Follow the `defaults:` lists from the file Hydra starts from, with what the words choose.

    Args:
        start: where it may lie.
        args: the words of the command: those that pick or take out a file of a group.
        read: reads a file by the path a launch names it by.
    """
    for name in start.names:
        found = read(name)
        if found is not None:
            composer = _Composer(args, read, found.path.parent, start.folders)
            composer.primary(name, found)
            missing = tuple(dict.fromkeys(composer.missing))
            return Composition(tuple(composer.parts), missing, name)
    return Composition(missing=start.names[:1])


_Place = tuple[str, str | None, str]
"""The package of the file that lists an entry, the one the entry names, the one it has else."""


class _Default(NamedTuple):
    """An entry of a list: `options` of a group, or one file beside (`group` is "")."""

    group: str
    package: str | None
    options: tuple[str, ...]
    optional: bool = False


class _Composer:
    def __init__(
        self, args: Sequence[RawArg], read: Read, root: Path, further: Sequence[str]
    ) -> None:
        self.parts: list[HydraPart] = []
        self.missing: list[str] = []
        self._root, self._further, self._read_named = root, [*further], read
        self._words = {
            arg.name.lstrip("~"): (arg.sign, arg.values)
            for arg in args
            if "." not in arg.name.partition("@")[0]
            and (len(arg.values or ()) == 1 or arg.sign == "~")
        }
        self._overrides: dict[str, tuple[str, ...]] = {}
        self._left = MOST_PARTS

    def primary(self, name: str, found: FoundFile) -> None:
        """Compose from the first file; then what words add (`+group=option`)."""
        entries = self._listed(found)
        self._further += self._search_path(found)
        self._note_overrides(entries, "")
        self._add(name, found, "", "", 0)
        used = {(part.name, part.package) for part in self.parts}
        for group, (sign, values) in self._words.items():
            if sign not in ("+", "++") or not values:
                continue
            option = f"{group.partition('@')[0]}/{values[0]}"
            file = self._file(option)
            name, at, said = group.partition("@")
            place = ("", said if at else None, name.replace("/", "."))
            if file is not None and (option, said or place[2]) not in used:
                self._take(option, name, place, 0)

    def _note_overrides(self, entries: Sequence[_Default | str], group: str) -> None:
        """Keep what `override group: option` says, wherever it stands."""
        for entry in entries:
            if isinstance(entry, _Default) and entry.group.startswith("override "):
                name = _absolute(entry.group.removeprefix("override "), group)
                self._overrides.setdefault(_keyed(name, entry.package), entry.options)

    def _add(self, name: str, file: FoundFile, group: str, package: str, depth: int) -> None:
        self._left -= 1
        if self._left < 0 or depth > MOST_DEPTH:
            return
        entries = self._listed(file)
        if depth:
            self._note_overrides(entries, group)
        own = HydraPart(name, file, package)
        placed = False
        for entry in entries:
            if entry == _SELF:
                self.parts.append(own)
                placed = True
            elif isinstance(entry, _Default) and not entry.group.startswith("override "):
                self._follow(entry, group, package, depth)
        if not placed:
            self.parts.append(own)

    def _follow(self, entry: _Default, group: str, package: str, depth: int) -> None:
        if not entry.group:  # a file beside
            for option in entry.options:
                place = _absolute(option, group)
                inside = group if not option.startswith("/") else place.rpartition("/")[0]
                self._take(place, inside, (package, entry.package, ""), depth, entry.optional)
            return
        name = _absolute(entry.group, group)
        relative = entry.group.lstrip("/").replace("../", "").replace("/", ".")
        at = (package, entry.package, relative)
        final = _under(package, relative if entry.package is None else entry.package)
        keyed = name if final == name.replace("/", ".") else f"{name}@{final or '_global_'}"
        sign, values = self._words.get(keyed, ("", None))
        if sign == "~":
            return
        options = self._overrides.get(keyed, entry.options)
        if values:
            options = tuple(values[0].strip("[]").split(","))
        for option in options:
            if option not in ("null", "~", ""):
                self._take(f"{name}/{option.strip()}", name, at, depth, entry.optional)

    def _take(self, place: str, group: str, at: _Place, depth: int, optional: bool = False) -> None:
        file = None if "$" in place else self._file(place)
        if file is not None:
            parent, said, usual = at
            header = _HEADER.search(file.text[:400])
            own = usual
            if header is not None and header[1] != "_group_":  # it is meant from the root
                own = f"_global_.{header[1].removeprefix('_global_').lstrip('.')}".rstrip(".")
            self._add(place, file, group, _under(parent, own if said is None else said), depth + 1)
        elif not optional and place != "hydra" and not place.startswith("hydra/"):
            self.missing.append(f"{place.removesuffix('.yaml')}.yaml")

    def _file(self, place: str) -> FoundFile | None:
        """Find a file of the search path: of the first folder that has it."""
        name = place if place.lower().endswith(_FILES) else f"{place}.yaml"
        here = self._read_named(str(self._root / name))
        if here is not None:
            return here
        found = (self._read_named(f"{folder.rstrip('/')}/{name}") for folder in self._further)
        return next((file for file in found if file is not None), None)

    def _listed(self, file: FoundFile) -> list[_Default | str]:
        # most launches name no file, and PyYAML costs 10 ms
        from trainrx.inputs.config_yaml import list_under

        found: list[_Default | str] = []
        for item in list_under(file.text, "defaults"):
            if isinstance(item, str):
                found.append(_SELF if item == _SELF else _plain(item))
            else:
                found += (_grouped(key, options) for key, options in item)
        return found

    def _search_path(self, file: FoundFile) -> Iterator[str]:
        from trainrx.inputs.config_yaml import list_under

        for item in list_under(file.text, "hydra", "searchpath"):
            if isinstance(item, str) and item.startswith(_FILE):
                yield item.removeprefix(_FILE)
            elif isinstance(item, str) and item.startswith(_PKG):
                yield item.removeprefix(_PKG).replace(".", "/")


def _plain(text: str) -> _Default:
    optional = text.startswith("optional ")
    name, _, package = text.removeprefix("optional ").strip().partition("@")
    return _Default("", package or None, (name,), optional)


def _grouped(key: str, options: tuple[str, ...]) -> _Default:
    match = _ENTRY.fullmatch(key)
    if match is None:
        return _Default(key, None, options)
    front = "override " if match["kind"] == "override" else ""
    return _Default(front + match["group"], match["package"], options, match["kind"] == "optional")


def _absolute(name: str, group: str) -> str:
    """Give a group or file by its path from the root of the search path."""
    if name.startswith("/"):
        return name.lstrip("/")
    parts = group.split("/") if group else []
    for part in name.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _keyed(group: str, package: str | None) -> str:
    return group if package is None else f"{group}@{package}"


def _under(parent: str, package: str) -> str:
    """Give a package inside another one; `_global_` begins anew, `_here_` is the other one."""
    inside = package.removeprefix("_here_").lstrip(".")
    whole = ".".join(part for part in (parent, inside) if part)
    begun = re.split(r"_global_\.?", whole)
    return begun[-1]
