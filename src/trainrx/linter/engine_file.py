"""The DeepSpeed file of a launch, with the places of its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from trainrx.linter.job import LintedJob
from trainrx.linter.places import LineRange
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg

_MAX_TEXT = 300_000
_MOST_LEVELS = 4


class EngineFile(msgspec.Struct, frozen=True):
    """A DeepSpeed file: its values by dotted key, its sections, and keys that stand there twice."""

    name: str
    values: dict[str, object]
    root: dict[str, object]
    twice: tuple[str, ...] = ()

    def section(self, key: str) -> object:
        """Give what stands under a dotted key; "" is the whole."""
        found: object = self.root
        for part in key.split(".") if key else ():
            found = found.get(part) if isinstance(found, dict) else None
        return found


def engine_file(job: LintedJob) -> EngineFile | None:
    """Read the DeepSpeed file a launch names, or that is given alone; None without one."""
    setting = job.resolved.settings.get("parallel.deepspeed")
    named = setting.text if setting is not None else ""
    if job.launch.framework == "deepspeed":
        named = "".join(job.launch.configs[:1])
    elif not named.endswith(".json"):
        return None
    base = named.replace("\\", "/").rpartition("/")[2]
    for name, content in job.files.items():
        if name.replace("\\", "/").rpartition("/")[2] == base and len(content) < _MAX_TEXT:
            return _read(name, content)
    return None


def _read(name: str, content: str) -> EngineFile | None:
    import json  # few launches bring a file of their own

    twice: list[str] = []

    def joined(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        names = [key for key, _ in pairs]
        twice.extend(key for key in found if names.count(key) > 1)
        return found

    try:
        read = json.loads(content, object_pairs_hook=joined)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    return EngineFile(name, dict(_flat(read)), read, tuple(twice))


def _flat(node: dict[str, object], front: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    for key, value in node.items():
        if isinstance(value, dict) and depth < _MOST_LEVELS:
            yield from _flat(value, f"{front}{key}.", depth + 1)
        else:
            yield f"{front}{key}", value


def key_place(key: str, job: LintedJob, file: EngineFile) -> LineRange:
    """Find a key in the file: the first line that holds it behind those it lies in."""
    start = 0
    lines = job.texts.lines(file.name)
    for part in key.split("."):
        for number in range(start, len(lines)):
            if f'"{part}"' in lines[number]:
                start = number
                break
    origin = Origin(source=file.name, line=start + 1)
    last = key.rpartition(".")[2]
    return job.texts.flag(RawArg(name=last, values=None, origin=origin, via="config"))
