"""Share of flags in a framework's own example scripts that we would call unknown, by release.

    python benchmarks/unknown_flags.py CHECKOUT.git --package ms-swift [--tags v3*] [--docs]

CHECKOUT is a git repository with its release tags (a bare clone will do); nothing is checked out
and nothing of it is run. Each launch of each shell script and each YAML of a framework that takes
them is resolved at the release its tag names; with --docs also the commands in code blocks of
documents and of the comments on top of programs. What remains unknown is either a mistake of the
examples or a gap of the catalog. The mistakes are listed, with their proof, in
`unknown_flags.jsonl`; the last line counts what no entry explains, and any of it is exit status 1.
"""

from __future__ import annotations

import argparse
import fnmatch
import io
import re
import subprocess
import sys
import tarfile
import textwrap
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from packaging.version import InvalidVersion, Version

from trainrx.catalog.arguments import read_given
from trainrx.catalog.catalog import catalog
from trainrx.catalog.signature import signature
from trainrx.catalog.tables import judges, tables_of
from trainrx.frameworks import framework_of
from trainrx.inputs.config import read_config
from trainrx.launch.config_kinds import classify_config
from trainrx.launch.find import find_launches
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch
from trainrx.shell import read_script

MISTAKES = Path(__file__).with_suffix(".jsonl")
SCRIPTS = (".sh", ".yaml", ".yml")
DOCUMENTS = (".md", ".mdx", ".rst", ".py")
_BLOCK = re.compile(
    r"^[ \t]*```[ \t]*(?:bash|shell|sh|console|zsh)?[ \t]*\n(.*?)^[ \t]*```",
    re.DOTALL | re.MULTILINE,
)

_HYDRA_MAIN = re.compile(
    r"@hydra\.main\(config_path=\"(?P<path>[^\"]+)\",\s*config_name=\"(?P<name>[^\"]+)\""
)
PROGRAMS = {"verl": (".py",)}
"""Programs are read for the name of the configuration hydra starts them with."""

CONFIGURED = {"llamafactory": "train", "axolotl": "train"}
"""Frameworks started with a YAML, and the command it is for."""


class Mistake(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name in upstream's examples that its program does not take.

    `name` and `command` may hold `*`; `proof` says what shows it, with the file at a release.
    """

    package: str
    command: str
    name: str
    since: str
    until: str
    proof: str

    def explains(self, package: str, use: Use) -> bool:
        """Tell whether a name is this mistake."""
        return (
            package == self.package
            and fnmatch.fnmatchcase(use.command, self.command)
            and fnmatch.fnmatchcase(use.name, self.name)
            and Version(self.since) <= Version(use.release) <= Version(self.until)
        )


class Use(NamedTuple):
    """A name nobody takes at a release."""

    name: str
    command: str
    release: str
    place: str


class Place(NamedTuple):
    """A file of a release."""

    package: str
    release: str
    path: str


class Tally:
    """What was looked at, and what was unknown."""

    def __init__(self) -> None:
        self.files = 0
        self.launches = 0
        self.names = 0
        self.unjudged = 0
        self.unknown: list[Use] = []


def main() -> int:
    """Print the figures."""
    options = _options()
    tally = Tally()
    start = time.perf_counter()
    tags = [tag for tag in _tags(options.repository) if fnmatch.fnmatch(tag, options.tags)]
    known = set(catalog(options.package).releases)
    used = [tag for tag in tags if _release(tag) in known]
    for tag in used:
        wanted = (*SCRIPTS, *DOCUMENTS) if options.docs else SCRIPTS
        files = _files(options.repository, tag, (*wanted, *PROGRAMS.get(options.package, ())))
        for path, text in files.items():
            if path.endswith(wanted):
                _look(Place(options.package, str(_release(tag)), path), text, files, tally)
    seconds = time.perf_counter() - start
    print(f"{options.package}: {len(used)} of {len(tags)} tags are releases of the catalog")
    print(f"files {tally.files}  launches {tally.launches}  names {tally.names}", end="")
    print(f"  of programs no release holds {tally.unjudged}")
    share = len(tally.unknown) / max(tally.names, 1)
    print(f"unknown {len(tally.unknown)} ({share:.4%})  seconds {seconds:.1f}")
    mistakes = msgspec.json.Decoder(Mistake).decode_lines(MISTAKES.read_bytes())
    left = [
        use
        for use in tally.unknown
        if not any(mistake.explains(options.package, use) for mistake in mistakes)
    ]
    _show(left, options.show)
    print(f"unexplained: {len(left)}")
    return 1 if left else 0


def _show(uses: list[Use], count: int) -> None:
    grouped: dict[tuple[str, str], list[Use]] = {}
    for use in uses:
        grouped.setdefault((use.name, use.command), []).append(use)
    for (name, command), held in sorted(grouped.items(), key=lambda item: -len(item[1]))[:count]:
        releases = sorted({Version(use.release) for use in held})
        span = f"{releases[0]}..{releases[-1]}"
        print(f"  {len(held):5d}  {command:15s} --{name:40s} {span:18s} {held[0].place}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--package", required=True)
    parser.add_argument("--tags", default="*")
    parser.add_argument("--show", type=int, default=40)
    parser.add_argument("--docs", action="store_true")
    return parser.parse_args()


def _tags(repository: Path) -> list[str]:
    done = subprocess.run(
        ["git", "-C", str(repository), "tag"], capture_output=True, text=True, check=True
    )
    return [tag for tag in done.stdout.split() if _release(tag) is not None]


def _release(tag: str) -> str | None:
    try:
        return str(Version(tag.removeprefix("v")))
    except InvalidVersion:
        return None


def _files(repository: Path, tag: str, wanted: tuple[str, ...]) -> dict[str, str]:
    command = ["git", "-C", str(repository), "archive", "--format=tar", tag]
    archive = subprocess.run(command, capture_output=True, check=True).stdout
    found: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.isfile() and member.name.endswith(wanted) and member.size < 200_000:
                held = tar.extractfile(member)
                if held is not None:
                    found[member.name] = held.read().decode("utf-8", "replace")
    return found


def _look(place: Place, text: str, files: Mapping[str, str], tally: Tally) -> None:
    if place.path.endswith((".yaml", ".yml")):
        _look_at_config(place, text, tally)
        return
    for one in [text] if place.path.endswith(".sh") else list(_blocks(text)):
        found = find_launches(read_script(one, place.path))
        mine = [launch for launch in found if launch.framework == place.package]
        tally.files += bool(mine)
        for launch in mine:
            configs = _own_config(launch, files) if place.package == "verl" else ()
            _count(launch, configs, place.release, tally)


def _blocks(text: str) -> Iterator[str]:
    """Give the code blocks of a document."""
    for match in _BLOCK.finditer(text):
        yield textwrap.dedent(match[1])


def _own_config(launch: RawLaunch, files: Mapping[str, str]) -> tuple[RawArg, ...]:
    """Read a configuration that is in the repository and in no wheel.

    It stands beside the program of a recipe, or somewhere under a name of its own.
    """
    args = {arg.name: arg.values[0] for arg in launch.args if arg.values}
    program = launch.program.removesuffix(".py").replace(".", "/") + ".py"
    main = _HYDRA_MAIN.search(files.get(program, ""))
    name = args.get("config_name", main["name"] if main else "").removesuffix(".yaml")
    path = ""
    if main is not None:
        folder = args.get("config_path", main["path"]).rpartition("/")[2]
        path = f"{program.rpartition('/')[0]}/{folder}/{name}.yaml"
    if path not in files:
        path = next((held for held in files if held.endswith(f"/{name}.yaml")), "")
    shipped = path.startswith("verl/")
    return () if shipped else read_config(files.get(path, ""), path)[0]


def _look_at_config(place: Place, text: str, tally: Tally) -> None:
    package = place.package
    if package in CONFIGURED and classify_config(text) == package:
        tally.files += 1
        args, _ = read_config(text, place.path, whole=package == "llamafactory")
        origin = Origin(source=place.path)
        launch = RawLaunch(
            framework=package, command=CONFIGURED[package], args=(), env=(), origin=origin
        )
        _count(launch, args, place.release, tally)


def _count(launch: RawLaunch, configs: tuple[RawArg, ...], release: str, tally: Tally) -> None:
    owner = launch.framework
    bits = catalog(owner).of(release)
    tables = tables_of(launch, configs)
    taken = signature(owner, tables.command, bits, None, tables.beside)
    closed = judges(tables, owner, bits)
    style = framework_of(owner).parser
    given = read_given(launch.args, configs, taken, style, closed=closed)
    tally.launches += 1
    tally.names += len(launch.args) + len(configs)
    tally.unjudged += 0 if closed else len(launch.args) + len(configs)
    for arg in given.strangers:
        place = f"{arg.origin.source}:{arg.origin.line}"
        tally.unknown.append(Use(arg.name, tables.command, release, place))


if __name__ == "__main__":
    sys.exit(main())
