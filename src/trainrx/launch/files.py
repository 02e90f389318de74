"""Files a launch names, where they are at hand: given by the user, or beside the script."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.catalog.catalog import catalog
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.saved import FILES
from trainrx.launch.places import (
    FoundFile,
    above,
    base,
    found_file,
    only_below,
    path_in,
    read_inside,
    started_in,
)
from trainrx.launch.program_settings import is_own_program
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawArg, RawLaunch, Workdir
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.launch.hydra import Composition

MOST_FILES = 64
_CONFIGS = (".yaml", ".yml", ".json")
_NAMING = late(
    r"(?:^|\.)(?:deepspeed|deepspeed_config|deepspeed_config_file|ds_config|fsdp|fsdp_config"
    r"|accelerate_config|config_file)$"
)
"""Arguments whose value may be the path of a further file."""
_PROJECTS = ("pyproject.toml", "setup.py")


class ConfigTexts(msgspec.Struct, frozen=True, kw_only=True):
    """Texts of configurations by the name the user knows them by.

    `places`: where the text of a file begins that the script writes itself. `found`: where the
    others lie, as seen from where the user is. `guessed`: those found by name only, since the
    command is started in a folder that is not at hand. `packages`: what Hydra puts in front of the
    keys of a file. `missing`: names of those that are not at hand. `absent`: names of files of one
    argument's own (DeepSpeed's) that are not: they hide nothing but what that argument is about.
    """

    texts: dict[str, str] = {}
    places: Mapping[str, Origin] = {}
    found: Mapping[str, str] = {}
    guessed: frozenset[str] = frozenset()
    packages: Mapping[str, str] = {}
    unread: tuple[Unread, ...] = ()
    missing: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def config_texts(
    raw: RawLaunch,
    given: Sequence[Input],
    beside: Path | None,
    version: str | None = None,
) -> ConfigTexts:
    """Give the texts of all configurations in play.

    What the user gave goes first, then what the script writes itself, then what lies where the
    command is started (`cd sub; ...`), then files in the script's folder:
    where the launch names them from there, from a folder above (`examples/x.yaml` beside a script
    in `examples/`), by their name, or the only such file in a folder below; last
    from the folders above, up to the root of the repository.
    """
    texts = {item.name: item.text or "" for item in given}
    written = {base(name): (name, text, line) for name, text, line in raw.written}
    places: dict[str, Origin] = {}
    lies: dict[str, str] = {}
    unread: list[Unread] = []
    missing: list[str] = []
    absent: list[str] = []
    guessed: set[str] = set()
    start = started_in(raw.workdir, beside)
    launchers, arguments = {*_naming(raw.launcher)}, {*_naming(raw.args)}
    waiting = [*_named(raw), *_saved(raw, version)]
    seen: set[str] = set()
    while waiting and len(seen) < MOST_FILES:
        named = waiting.pop(0)
        if named in seen or any(base(name) == base(named) for name in texts):
            continue
        seen.add(named)
        found = written.get(base(named))
        file = None if found is not None else _read_beside(named, beside, start)
        text = found[1] if found is not None else None if file is None else file.text
        if text is not None:
            texts[named] = text
            if file is not None:
                lies[named] = seen_from(beside, file.path)
                guessed |= {named} if is_guess(raw.workdir, start, named) else set()
            inside = _read_config(text, named)
            waiting += _naming(inside)
            waiting += framework_of(raw.framework).parents(inside)
        elif named in raw.configs or named in launchers:
            missing.append(named)
        elif named in arguments:
            absent.append(named)
        if text is None and named in raw.configs:
            reason = f"{named} is not at hand: add it with --config"
            unread.append(Unread(source=raw.origin.source, line=raw.origin.line, reason=reason))
        if found is not None:
            places[named] = Origin(source=raw.origin.source, line=found[2])
    composed = _composed(raw, given, beside)
    packages: dict[str, str] = {}
    for part in composed.parts if composed is not None else ():
        place = seen_from(beside, part.file.path)
        guessed |= {place} if start is None and raw.workdir.is_elsewhere else set()
        first = place if composed is None or part.name != composed.start else part.name
        name = first if first not in texts else f"{place}@{part.package or '_global_'}"
        texts[name], lies[name], packages[name] = part.file.text, place, part.package
    return ConfigTexts(
        texts=texts,
        places=places,
        found=lies,
        guessed=frozenset(name for name, place in lies.items() if {name, place} & guessed),
        packages=packages,
        unread=tuple(unread),
        missing=(*missing, *(() if composed is None else composed.missing)),
        absent=tuple(absent),
    )


def _composed(raw: RawLaunch, given: Sequence[Input], beside: Path | None) -> Composition | None:
    """Compose what Hydra would of a launch of its own, or of a program that it starts."""
    framework = framework_of(raw.framework)
    if beside is None or not (framework.composed or is_own_program(raw)):
        return None
    # most launches are composed of nothing
    from trainrx.launch.hydra import compose, is_hydra_program, start_file

    from_start = started_in(raw.workdir, beside)
    program = program_file(raw.program, beside, from_start)
    if not framework.composed and not is_hydra_program(program or ""):
        return None
    start = start_file(raw, program)
    if start is None:
        return None
    texts = {base(item.name): item.text or "" for item in given}
    text = texts.get(base(start.names[0]))
    if text is not None:
        return None  # what the user gave is read as it is

    root = [beside.resolve(), *above(beside.resolve())][-1]
    by_path = partial(_read_exact, beside=beside, start=from_start, root=root)
    found = compose(start, raw.args, by_path)
    if not found.parts and "/" not in start.names[0]:
        by_name = partial(_read_only, beside=beside, start=from_start, root=root)
        found = compose(start, raw.args, by_name)
    listed = start.stem == "" or start.stem in catalog(raw.framework).contents.commands
    if not found.parts and listed and framework.brings_file(raw):
        return None
    return found


def _read_exact(named: str, beside: Path, start: Path | None, root: Path) -> FoundFile | None:
    """Read a file by its path: no other of its name will do."""
    path = Path(named)
    if path.is_absolute():
        inside = read_inside(path, root)
        if inside is not None:
            return inside
    return found_file(named, beside, least=2, start=start) or _in_package(named, beside)


def _read_only(named: str, beside: Path, start: Path | None, root: Path) -> FoundFile | None:
    """Read a file by its path, else the only one of its name in the repository `root`."""
    exact = _read_exact(named, beside, start, root)
    place = only_below(named, root) if exact is None and "/" not in named else None
    return exact if place is None else read_inside(place, root)


def as_path(program: str) -> str:
    """Give the file of a dotted module."""
    dotted = "/" not in program and not program.endswith(".py")
    return f"{program.replace('.', '/')}.py" if dotted else program


def program_file(program: str, beside: Path, start: Path | None = None) -> str | None:
    """Read a program that is named by its path or, as it is installed, by its module."""
    path = as_path(program)
    file = found_file(path, beside, start=start)
    file = file or (_in_package(path, beside) if path != program else None)
    return None if file is None else file.text


def is_guess(workdir: Workdir, start: Path | None, named: str) -> bool:
    """Tell whether a file that was found may not be the one meant: its command starts elsewhere."""
    return workdir.is_elsewhere and named[:1] != "/" and path_in(start, named) is None


def _in_package(named: str, beside: Path) -> FoundFile | None:
    """Read a file of a package whose copy lies in the repository, to be installed from there.

    The folder with its setup.py holds the package itself, or `src` with it inside, as setuptools
    finds them: https://setuptools.pypa.io/en/latest/userguide/package_discovery.html
    """
    first = named.partition("/")[0]
    if first in ("", ".", "..", named) or "\0" in named:
        return None
    root = beside.resolve()
    around = [root, *above(root)]
    for folder in around:
        for project, place in ((folder, folder / "src"), (folder / first, folder / first)):
            installed = any((project / name).is_file() for name in _PROJECTS)
            file = read_inside(place / named, around[-1]) if installed else None
            if file is not None:
                return file
    return None


def seen_from(beside: Path | None, path: Path) -> str:
    """Give a path as it is seen from where the folder of the script is named."""
    if beside is None:
        return path.name
    return os.path.normpath(beside / os.path.relpath(path, beside.resolve()))


def model_config(raw: RawLaunch, args: Iterable[RawArg], beside: Path | None) -> str | None:
    """Give config.json of the model a launch names by a folder where it starts or beside it."""
    own = framework_of(raw.framework).model_arguments
    named = (arg.values[0] for arg in args if arg.name in own and arg.values)
    if beside is None:
        return None
    root = beside.resolve()
    start = started_in(raw.workdir, beside)
    paths = [
        f"{name}/config.json"
        for name in named
        if name and not name.startswith("~") and "\0" not in name
    ]
    found = (path_in(start, path) or read_inside(root / path, root) for path in paths)
    return next((file.text for file in found if file is not None), None)


def _read_config(text: str, named: str) -> tuple[RawArg, ...]:
    # most launches name no file
    from trainrx.inputs.config import read_config

    return read_config(text, named)[0]


def _named(raw: RawLaunch) -> Iterator[str]:
    yield from raw.configs
    yield from _naming((*raw.args, *raw.launcher))


def _naming(args: Iterable[RawArg]) -> Iterator[str]:
    for arg in args:
        value = arg.values[0] if arg.values else ""
        if _is_config(value) and not value.startswith("{") and _NAMING.search(arg.name):
            yield value


def _is_config(name: str) -> bool:
    return name.lower().endswith(_CONFIGS)


def _saved(raw: RawLaunch, version: str | None) -> Iterator[str]:
    """Give where the arguments lie that a launch takes back from an earlier run."""
    for folder in framework_of(raw.framework).run_folders(raw, version):
        yield from (f"{folder.rstrip('/')}/{name}" for name in FILES)


def _read_beside(named: str, beside: Path | None, start: Path | None) -> FoundFile | None:
    """Read a file the launch names, relative to its script or a folder above it."""
    if beside is None or not named or named.startswith("~") or "\0" in named:
        return None
    root = beside.resolve()
    file = found_file(named, root, start=start)
    if file is None and _is_config(named) and base(named) not in FILES:
        below = only_below(named, root)
        file = read_inside(below, root) if below is not None else None
    return file
