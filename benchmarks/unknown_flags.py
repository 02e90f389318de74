"""Share of flags in a framework's own example scripts that we would call unknown, by release.

    python benchmarks/unknown_flags.py CHECKOUT.git --package ms-swift [--tags v3*] [--show 40]

CHECKOUT is a git repository with its release tags (a bare clone will do); nothing is checked out
and nothing of it is run. Each launch of each shell script and each YAML of a framework that takes
them is resolved at the release its tag names. What remains unknown is either a mistake of the
examples or a gap of the catalog: every name is listed with where it stands.
"""

from __future__ import annotations

import argparse
import fnmatch
import io
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch
from trainrx.parse.arguments import STYLES, read_given
from trainrx.parse.catalog import catalog, catalog_command, signature
from trainrx.parse.config import read_config
from trainrx.parse.config_kinds import classify_config
from trainrx.parse.launch import find_launches
from trainrx.parse.shell import read_script

CONFIGURED = {"llamafactory": "train", "axolotl": "train"}
"""Frameworks started with a YAML, and the command it is for."""


class Use(NamedTuple):
    """A name nobody takes at a release."""

    name: str
    command: str
    release: str
    place: str


class Tally:
    """What was looked at, and what was unknown."""

    def __init__(self) -> None:
        self.files = 0
        self.launches = 0
        self.names = 0
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
        for path, text in _files(options.repository, tag):
            _look(options.package, str(_release(tag)), path, text, tally)
    seconds = time.perf_counter() - start
    print(f"{options.package}: {len(used)} of {len(tags)} tags are releases of the catalog")
    print(f"files {tally.files}  launches {tally.launches}  names {tally.names}")
    share = len(tally.unknown) / max(tally.names, 1)
    print(f"unknown {len(tally.unknown)} ({share:.4%})  seconds {seconds:.1f}")
    grouped = Counter((use.name, use.command) for use in tally.unknown)
    for (name, command), count in grouped.most_common(options.show):
        uses = [use for use in tally.unknown if (use.name, use.command) == (name, command)]
        releases = sorted({Version(use.release) for use in uses})
        span = f"{releases[0]}..{releases[-1]}"
        print(f"  {count:5d}  {command:15s} --{name:40s} {span:18s} {uses[0].place}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--package", required=True)
    parser.add_argument("--tags", default="*")
    parser.add_argument("--show", type=int, default=40)
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


def _files(repository: Path, tag: str) -> Iterator[tuple[str, str]]:
    command = ["git", "-C", str(repository), "archive", "--format=tar", tag]
    archive = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.isfile() and member.name.endswith((".sh", ".yaml", ".yml")):
                held = tar.extractfile(member)
                if held is not None and member.size < 200_000:
                    yield member.name, held.read().decode("utf-8", "replace")


def _look(package: str, release: str, path: str, text: str, tally: Tally) -> None:
    if path.endswith(".sh"):
        launches = [
            one for one in find_launches(read_script(text, path)) if one.framework == package
        ]
        tally.files += bool(launches)
        for launch in launches:
            _count(launch, (), release, tally)
    elif package in CONFIGURED and classify_config(text) == package:
        tally.files += 1
        args, _ = read_config(text, path)
        origin = Origin(source=path)
        launch = RawLaunch(
            framework=package, command=CONFIGURED[package], args=(), env=(), origin=origin
        )
        _count(launch, args, release, tally)


def _count(launch: RawLaunch, configs: tuple[RawArg, ...], release: str, tally: Tally) -> None:
    owner = launch.framework
    bits = catalog(owner).of(release)
    taken = signature(owner, catalog_command(owner, launch.command), bits)
    given = read_given(launch.args, configs, taken, STYLES.get(owner, "hf"))
    tally.launches += 1
    tally.names += len(launch.args) + len(configs)
    for arg in given.strangers:
        place = f"{arg.origin.source}:{arg.origin.line}"
        tally.unknown.append(Use(arg.name, launch.command, release, place))


if __name__ == "__main__":
    sys.exit(main())
