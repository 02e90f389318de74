"""Compare the arguments we resolve with those a real framework made of the same launch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from trainrx.knowledge.load import load
from trainrx.launch.given import gather
from trainrx.launch.job import all_launches, settle
from trainrx.launch.request import Request
from trainrx.model.catalog import Value
from trainrx.model.job import Argument

HERE = Path(__file__).resolve().parent
NOT_LAUNCHES = ("expected.json", "explained.yaml")
TIME = "${TIME}"
PLACE = "${PWD}/"


class Compared(NamedTuple):
    """One launch: how each of the arguments of our catalog compares; names and what differs."""

    name: str
    equal: tuple[str, ...]
    unknown: tuple[str, ...]
    different: dict[str, tuple[Value, Value]]
    volatile: tuple[str, ...]
    not_in_catalog: tuple[str, ...]

    @property
    def compared(self) -> int:
        """Count the arguments compared."""
        return len(self.equal) + len(self.unknown) + len(self.different)


def launches() -> Iterator[Path]:
    """Give the folders of the recorded launches."""
    yield from sorted(path.parent for path in HERE.glob("*/*/expected.json"))


def explained(folder: Path) -> dict[str, str]:
    """Give the reasons for the arguments that may differ, of this launch and of its version."""
    found: dict[str, str] = {}
    for path in (folder.parent / "explained.yaml", folder / "explained.yaml"):
        if path.exists():
            found |= yaml.safe_load(path.read_text()) or {}
    return found


def compare(folder: Path, work: Path) -> Compared:
    """Resolve a launch in a folder that holds what its script needs; compare with the record."""
    record = json.loads((folder / "expected.json").read_text())
    expected = record["args"] | record.get("training_args", {})
    resolved = resolve(folder, work)
    equal, unknown, volatile, different = [], [], [], {}
    for name in sorted(expected.keys() & resolved.keys()):
        wanted, argument = expected[name], resolved[name]
        if TIME in json.dumps(wanted):
            volatile.append(name)
        elif not argument.known:
            unknown.append(name)
        elif same(wanted, argument.value):
            equal.append(name)
        else:
            different[name] = (wanted, argument.value)
    return Compared(
        name=f"{folder.parent.name}/{folder.name}",
        equal=tuple(equal),
        unknown=tuple(unknown),
        different=different,
        volatile=tuple(volatile),
        not_in_catalog=tuple(sorted(expected.keys() - resolved.keys())),
    )


def resolve(folder: Path, work: Path) -> dict[str, Argument]:
    """Give the arguments of the launch in a folder, as if it stood where the framework ran."""
    shutil.copytree(HERE / "files", work, dirs_exist_ok=True)
    for item in folder.iterdir():
        if item.name not in NOT_LAUNCHES:
            shutil.copy(item, work)
    request = Request(
        cmd=(str(work / "launch.sh"),), versions_file=str(folder.parent / "versions.txt")
    )
    knowledge = load()
    given = gather(request, knowledge)
    raws, _ = all_launches(given)
    assert len(raws) == 1, [raw.command for raw in raws]
    launch = settle(raws[0], given, versions=given.versions, knowledge=knowledge)
    return launch.resolved.arguments


def same(wanted: Value, found: Value) -> bool:
    """Tell whether two values are one: paths below the working folder, numbers by value."""
    if isinstance(wanted, dict) != isinstance(found, dict) and wanted and found:
        wanted, found = _structure(wanted), _structure(found)
    if isinstance(wanted, str) and isinstance(found, str):
        return wanted.removeprefix(PLACE).removeprefix("./") == found.removeprefix("./")
    if isinstance(wanted, list) and isinstance(found, list):
        pairs = zip(wanted, found, strict=False)
        return len(wanted) == len(found) and all(same(a, b) for a, b in pairs)
    if isinstance(wanted, bool) or isinstance(found, bool):
        return wanted is found
    return wanted == found


def _structure(value: Value) -> Value:
    """Read a dict given as JSON: some releases keep the text, and read it when they need it."""
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value
