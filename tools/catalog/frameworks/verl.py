"""verl: hydra configurations; the arguments are the dotted names of their leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import yaml

from catalog.sources import Sources
from catalog.tables import REQUIRED, Argument, Command
from trainrx.model.catalog import Value

_FOLDER = PurePosixPath("verl/trainer/config")
_ELSEWHERE = "verl/experimental/*/config/*.yaml"
"""Programs with a configuration of their own, which finds the others on hydra's search path."""
_COMMAND = re.compile(r"^(?!_).*(?:_trainer|_trainer_engine)$|^(?:generation|evaluation)$")
_DEEP = 12
_SETTINGS = ("defaults", "hydra", "_target_")
"""Keys that steer hydra and mean nothing on a command line."""

Tree = dict[str, Value]


class _Loader(yaml.SafeLoader):
    """Reads `1e-6` as a number, as OmegaConf does and YAML 1.1 does not."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+0123456789."),
)


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read each trainer's configuration; the file's name is the command."""
    out: dict[str, Command] = {}
    for path in sources.glob(f"{_FOLDER}/*.yaml"):
        place = PurePosixPath(path)
        if place.parent == _FOLDER and _COMMAND.match(place.stem):
            out[place.stem] = _command(sources, place)
    for path in sources.glob(_ELSEWHERE):
        place = PurePosixPath(path)
        if place.parent.name == "config" and _COMMAND.match(place.stem):
            out.setdefault(place.stem, _command(sources, place))
    for engine in _engines(sources) if "ppo_trainer" in out else ():
        # what `model_engine=NAME` makes of the trainer
        chosen = {"model_engine": engine}
        table = _command(sources, _FOLDER / "ppo_trainer.yaml", chosen)
        out.setdefault(f"ppo_{engine}_trainer", table)
    return out


def _command(
    sources: Sources, place: PurePosixPath, chosen: Mapping[str, str] | None = None
) -> Command:
    """Read what a configuration takes: the leaves of its tree, and the choices of files."""
    tree, groups = compose(sources, place, chosen)
    table = {name: _argument(value) for name, value in _leaves(tree)}
    made = {k: _filled(v, groups) for k, v in _choices(sources, place).items()}
    return Command({k: Argument("str", groups.get(k, v)) for k, v in made.items()} | table)


def _choices(sources: Sources, place: PurePosixPath, depth: int = 0) -> dict[str, str]:
    """Give the groups a configuration picks files from, under the names hydra takes for them."""
    entries = _load(sources, place).get("defaults")
    found: dict[str, str] = {}
    for entry in entries if isinstance(entries, list) and depth < _DEEP else ():
        folder, package, name = _entry(entry)
        if not folder and name != "_self_":
            found |= _choices(sources, place.parent / f"{name}.yaml", depth + 1)
        elif folder and not folder.startswith("override "):
            found[f"{folder}@{package}" if package else folder] = name
    return found


def _engines(sources: Sources) -> list[str]:
    places = [PurePosixPath(path) for path in sources.glob(f"{_FOLDER}/model_engine/*.yaml")]
    return [place.stem for place in places if place.stem != "dp"]


def compose(
    sources: Sources, place: PurePosixPath, chosen: Mapping[str, str] | None = None
) -> tuple[Tree, dict[str, str]]:
    """Put a configuration together from the files it names; give the tree and the choices.

    A choice such as `model_engine: dp` picks files and can be made on the command line.
    """
    return _compose(sources, place, chosen or {}, 0)


def _compose(
    sources: Sources, place: PurePosixPath, chosen: Mapping[str, str], depth: int
) -> tuple[Tree, dict[str, str]]:
    own = _load(sources, place)
    groups: dict[str, str] = dict(chosen)
    entries = own.get("defaults")
    entries = list(entries) if isinstance(entries, list) else []
    groups.update(_overrides(entries))
    tree: Tree = {}
    if "_self_" not in entries:
        entries.append("_self_")
    for entry in entries if depth < _DEEP else ["_self_"]:
        if entry == "_self_":
            _merge(tree, {k: v for k, v in own.items() if k not in _SETTINGS})
            continue
        folder, package, name = _entry(entry)
        if folder and "@" not in str(entry) and not folder.startswith("override "):
            groups.setdefault(folder, name)
            name = groups[folder]
            package = package or folder
        name = _filled(name, groups)
        beside = _place(place.parent, folder, name)
        if str(beside) not in sources:
            beside = _place(_FOLDER, folder, name)
        below, more = _compose(sources, beside, groups, depth + 1)
        groups |= {k: v for k, v in more.items() if k not in groups}
        _merge(tree, _nested("" if _is_global(sources, beside) else package, below))
    return tree, groups


def _filled(name: str, groups: Mapping[str, str]) -> str:
    """Put the choices made into a name such as `${model_engine}_actor`."""
    return re.sub(r"\$\{(\w+)\}", lambda match: groups.get(match[1], ""), name)


def _overrides(entries: list[Value]) -> dict[str, str]:
    """Give the choices a file makes for the files it names: `override model_engine: megatron`."""
    found: dict[str, str] = {}
    for entry in entries:
        for key, value in entry.items() if isinstance(entry, dict) else ():
            if str(key).startswith("override "):
                found[str(key).removeprefix("override ").strip()] = str(value)
    return found


def _entry(entry: Value) -> tuple[str, str, str]:
    """Take `folder@package: name` apart; a plain text names a file beside."""
    if isinstance(entry, dict) and entry:
        key, value = next(iter(entry.items()))
        folder, _, package = str(key).partition("@")
        return folder, package, str(value)
    name, _, package = str(entry).partition("@")
    return "", package, name


def _is_global(sources: Sources, place: PurePosixPath) -> bool:
    return sources.read(str(place)).startswith("# @package _global_")


def _place(beside: PurePosixPath, folder: str, name: str) -> PurePosixPath:
    parts: list[str] = []
    for part in (beside / folder / f"{name}.yaml").parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def _load(sources: Sources, place: PurePosixPath) -> Tree:
    read = yaml.load(sources.read(str(place)), Loader=_Loader)  # noqa: S506 - a safe loader
    return read if isinstance(read, dict) else {}


def _nested(package: str, tree: Tree) -> Tree:
    for part in reversed(package.split(".") if package else []):
        tree = {part: tree}
    return tree


def _merge(into: Tree, tree: Tree) -> None:
    for key, value in tree.items():
        known = into.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            _merge(known, value)
        else:
            into[key] = _copied(value)


def _copied(value: Value) -> Value:
    return {k: _copied(v) for k, v in value.items()} if isinstance(value, dict) else value


def _leaves(tree: Tree, prefix: str = "") -> Iterator[tuple[str, Value]]:
    for key, value in tree.items():
        if key in _SETTINGS:
            continue
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{name}.")
        else:
            yield name, value


def _argument(value: Value) -> Argument:
    if value == "???":
        return Argument("", REQUIRED)
    if isinstance(value, str) and "${" in value:
        return Argument("", {"expr": value})
    return Argument("" if value is None else type(value).__name__, value)
