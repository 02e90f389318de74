"""Files a launch names, where they are at hand: given by the user, or beside the script."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec

from trainrx.catalog.catalog import catalog
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.saved import FILES
from trainrx.launch.hydra import (
    Composition,
    FoundFile,
    compose,
    is_hydra_program,
    start_file,
)
from trainrx.launch.program_settings import is_own_program
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawArg, RawLaunch
from trainrx.model.pattern import late

MAX_CONFIG = 4 << 20
MOST_ENTRIES = 3000
MOST_DEPTH = 4
MOST_FILES = 64
_CONFIGS = (".yaml", ".yml", ".json")
_NAMING = late(
    r"(?:^|\.)(?:deepspeed|deepspeed_config|deepspeed_config_file|ds_config|fsdp|fsdp_config"
    r"|accelerate_config|config_file)$"
)
"""Arguments whose value may be the path of a further file."""
MOST_ABOVE = 6
_ROOTS = (".git", "pyproject.toml", "setup.py", "requirements.txt")
"""What lies in the root of a repository: jobs are mostly started there."""
_PROJECTS = ("pyproject.toml", "setup.py")
_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "wandb", "checkpoints"})


class ConfigTexts(msgspec.Struct, frozen=True, kw_only=True):
    """Texts of configurations by the name the user knows them by.

    `places`: where the text of a file begins that the script writes itself. `found`: where the
    others lie, as seen from where the user is. `packages`: what Hydra puts in front of the keys of
    a file. `missing`: names of those that are not at hand.
    """

    texts: dict[str, str] = {}
    places: Mapping[str, Origin] = {}
    found: Mapping[str, str] = {}
    packages: Mapping[str, str] = {}
    unread: tuple[Unread, ...] = ()
    missing: tuple[str, ...] = ()


def base(name: str) -> str:
    """Give the last part of a path, however its separators are written."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def config_texts(
    raw: RawLaunch,
    given: Sequence[Input],
    beside: Path | None,
    version: str | None = None,
) -> ConfigTexts:
    """Give the texts of all configurations in play.

    What the user gave goes first, then what the script writes itself, then files in its folder:
    where the launch names them from there, from a folder above (`examples/x.yaml` beside a script
    in `examples/`), by their name, or the only such file in a folder below (`cd sub; ...`); last
    from the folders above, up to the root of the repository.
    """
    texts = {item.name: item.text or "" for item in given}
    written = {base(name): (name, text, line) for name, text, line in raw.written}
    places: dict[str, Origin] = {}
    lies: dict[str, str] = {}
    unread: list[Unread] = []
    missing: list[str] = []
    launchers = {*_naming(raw.launcher)}
    waiting = [*_named(raw), *_saved(raw, version)]
    seen: set[str] = set()
    while waiting and len(seen) < MOST_FILES:
        named = waiting.pop(0)
        if named in seen or any(base(name) == base(named) for name in texts):
            continue
        seen.add(named)
        found = written.get(base(named))
        file = None if found is not None else _read_beside(named, beside)
        text = found[1] if found is not None else None if file is None else file.text
        if text is not None:
            texts[named] = text
            if file is not None:
                lies[named] = _seen(file.path, beside)
            inside = _read_config(text, named)
            waiting += _naming(inside)
            waiting += framework_of(raw.framework).parents(inside)
        elif named in raw.configs or named in launchers:
            missing.append(named)
        if text is None and named in raw.configs:
            reason = f"{named} is not at hand: add it with --config"
            unread.append(Unread(source=raw.origin.source, line=raw.origin.line, reason=reason))
        if found is not None:
            places[named] = Origin(source=raw.origin.source, line=found[2])
    composed = _composed(raw, given, beside)
    packages: dict[str, str] = {}
    for part in composed.parts:
        place = _seen(part.file.path, beside)
        first = place if part.name != composed.start else part.name
        name = first if first not in texts else f"{place}@{part.package or '_global_'}"
        texts[name], lies[name], packages[name] = part.file.text, place, part.package
    return ConfigTexts(
        texts=texts,
        places=places,
        found=lies,
        packages=packages,
        unread=tuple(unread),
        missing=(*missing, *composed.missing),
    )


def _composed(raw: RawLaunch, given: Sequence[Input], beside: Path | None) -> Composition:
    """Compose what Hydra would of a launch of its own, or of a program that it starts."""
    framework = framework_of(raw.framework)
    if beside is None or not (framework.composed or is_own_program(raw)):
        return Composition()
    program = program_file(raw.program, beside)
    if not framework.composed and not is_hydra_program(program or ""):
        return Composition()
    start = start_file(raw, program)
    if start is None:
        return Composition()
    by_name = {base(item.name): item.text or "" for item in given}
    text = by_name.get(base(start.names[0]))
    if text is not None:
        return Composition()  # what the user gave is read as it is

    found = compose(start, raw.args, partial(_read_exact, beside=beside))
    if not found.parts and "/" not in start.names[0]:
        found = compose(start, raw.args, partial(_read_only, beside=beside))
    listed = start.stem == "" or start.stem in catalog(raw.framework).contents.commands
    if not found.parts and listed and framework.brings_file(raw):
        return Composition()
    return found


def _read_exact(named: str, beside: Path) -> FoundFile | None:
    """Read a file by its path: no other of its name will do."""
    path = Path(named)
    if path.is_absolute():
        above = [beside.resolve(), *_above(beside.resolve())]
        inside = _read_inside(path, above[-1])
        if inside is not None:
            return inside
    return found_file(named, beside, least=2) or _in_package(named, beside)


def _read_only(named: str, beside: Path) -> FoundFile | None:
    """Read a file by its path, else the only one of its name in the repository."""
    exact = _read_exact(named, beside)
    root = [beside.resolve(), *_above(beside.resolve())][-1]
    place = _below(named, root) if exact is None and "/" not in named else None
    return exact if place is None else _read_inside(place, root)


def as_path(program: str) -> str:
    """Give the file of a dotted module."""
    dotted = "/" not in program and not program.endswith(".py")
    return f"{program.replace('.', '/')}.py" if dotted else program


def program_file(program: str, beside: Path) -> str | None:
    """Read a program that is named by its path or, as it is installed, by its module."""
    path = as_path(program)
    file = found_file(path, beside) or (_in_package(path, beside) if path != program else None)
    return None if file is None else file.text


def _in_package(named: str, beside: Path) -> FoundFile | None:
    """Read a file of a package whose copy lies in the repository, to be installed from there.

    The folder with its setup.py holds the package itself, or `src` with it inside, as setuptools
    finds them: https://setuptools.pypa.io/en/latest/userguide/package_discovery.html
    """
    first = named.partition("/")[0]
    if first in ("", ".", "..", named) or "\0" in named:
        return None
    root = beside.resolve()
    above = [root, *_above(root)]
    for folder in above:
        for project, place in ((folder, folder / "src"), (folder / first, folder / first)):
            installed = any((project / name).is_file() for name in _PROJECTS)
            file = _read_inside(place / named, above[-1]) if installed else None
            if file is not None:
                return file
    return None


def _seen(path: Path, beside: Path | None) -> str:
    """Give a path as it is seen from where the folder of the script is named."""
    if beside is None:
        return path.name
    return os.path.normpath(beside / os.path.relpath(path, beside.resolve()))


def model_config(framework: str, args: Iterable[RawArg], beside: Path | None) -> str | None:
    """Give config.json of the model a launch names by a folder beside its script."""
    own = framework_of(framework).model_arguments
    named = (arg.values[0] for arg in args if arg.name in own and arg.values)
    if beside is None:
        return None
    root = beside.resolve()
    paths = (
        root / name / "config.json"
        for name in named
        if name and not name.startswith("~") and "\0" not in name
    )
    found = (_read_inside(path, root) for path in paths)
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


def _read_beside(named: str, beside: Path | None) -> FoundFile | None:
    """Read a file the launch names, relative to its script or a folder above it."""
    if beside is None or not named or named.startswith("~") or "\0" in named:
        return None
    root = beside.resolve()
    file = found_file(named, root)
    if file is None and _is_config(named) and base(named) not in FILES:
        below = _below(named, root)
        file = _read_inside(below, root) if below is not None else None
    return file


def script_file(named: str, beside: Path) -> str | None:
    """Read a script that another one sources or starts, see `found_file`."""
    file = found_file(named, beside)
    return None if file is None else file.text


def found_file(named: str, beside: Path, least: int = 1) -> FoundFile | None:
    """Read a file a script names.

    It lies in the script's folder, or where a job that is started further up finds it: at the path
    from a folder above, as far as the repository goes. Of a path of another machine what is left
    of it folder by folder will do, in the folders above with a folder at least. Nothing else is
    read.

    Args:
        named: the path, as written.
        beside: the folder of the script.
        least: parts of the path that must be left.
    """
    if not named or named.startswith("~") or "\0" in named:
        return None
    root = beside.resolve()
    own = (_read_inside(root / place, root) for place in _tails(named, least))
    above = [*_above(root)]
    started = (_read_inside(folder / named, above[-1]) for folder in (root, *above) if above)
    moved = (
        _read_inside(folder / place, above[-1])
        for folder in (above if named.startswith("/") else ())
        for place in _tails(named, max(least, 2))
    )
    return next((file for file in chain(own, started, moved) if file is not None), None)


def _above(folder: Path) -> Iterator[Path]:
    """Give the folders above one up to the root of its repository; none where there is no root."""
    above = folder.parents[:MOST_ABOVE]
    roots = [place for place in (folder, *above) if any((place / m).exists() for m in _ROOTS)]
    if roots:
        yield from above[: (folder, *above).index(roots[0])]


def _tails(named: str, fewest: int = 1) -> Iterator[str]:
    """Give a path and what is left of it folder by folder; of saved arguments never the name only.

    Which run a bare args.json beside the script is of, its name does not tell.
    """
    yield named
    parts = [part for part in named.replace("\\", "/").split("/") if part not in ("", ".")]
    least = max(fewest, 2) if parts and parts[-1] in FILES else fewest
    for start in range(1, len(parts) - least + 1):
        if ".." not in parts[start:]:
            yield "/".join(parts[start:])


def _below(named: str, root: Path) -> Path | None:
    """Find the only file of that name in the folders below, as far as a few thousand entries go."""
    wanted = base(named)
    tail = [part for part in named.split("/") if part not in ("", ".", "..")]
    found: list[Path] = []
    entries = 0
    for folder, names, files in os.walk(root, followlinks=False):
        depth = len(Path(folder).relative_to(root).parts)
        kept = sorted(n for n in names if not n.startswith(".") and n not in _SKIPPED)
        names[:] = kept if depth < MOST_DEPTH else []
        entries += len(files) + len(names)
        if wanted in files:
            found.append(Path(folder, wanted))
        if entries > MOST_ENTRIES:
            return None
    full = [path for path in found if list(path.parts[-len(tail) :]) == tail]
    fitting = full or found
    return fitting[0] if len(fitting) == 1 else None


def _read_inside(path: Path, root: Path) -> FoundFile | None:
    """Read a file that lies in a folder, links followed."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_CONFIG:
            return None
        real = path.resolve()
        if real.is_relative_to(root):
            return FoundFile(real.read_text(encoding="utf-8", errors="replace"), real)
    except (OSError, ValueError):
        return None
    return None
