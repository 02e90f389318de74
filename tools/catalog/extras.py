"""What ms-swift ships besides arguments: DeepSpeed presets, model types, environment variables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from catalog.ranges import changes, spans
from catalog.registry import Registry, Variable, read_registry
from catalog.sources import Sources
from trainrx.model.catalog import EnvironmentVariable, ModelTypeRename, Preset, Value

PRESETS = ("swift/llm/ds_config/*.json", "swift/config/*.json")


class Extras(NamedTuple):
    """What one release ships."""

    presets: dict[str, dict[str, Value]]
    registry: Registry


def read_extras(sources: Sources) -> Extras:
    """Read a release of ms-swift."""
    presets = {
        path.rpartition("/")[2].removesuffix(".json"): _settings(json.loads(sources.read(path)))
        for path in sources.glob(*PRESETS)
    }
    return Extras(presets, read_registry(sources))


def _settings(section: dict[str, Value]) -> dict[str, Value]:
    """Leave out what a configuration says to its readers (`_description`)."""
    return {
        name: _settings(value) if isinstance(value, dict) else value
        for name, value in section.items()
        if not name.startswith("_")
    }


def write_extras(reads: Mapping[str, Extras]) -> dict[str, bytes]:
    """Write the files of what all releases ship (ascending)."""
    return {
        "presets-ms-swift.jsonl": _lines(_presets(reads)),
        "model-types.jsonl": _lines(_model_types(reads)),
        "environment-ms-swift.jsonl": _lines(_environment(reads)),
    }


def _lines(records: Sequence[msgspec.Struct]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def _presets(reads: Mapping[str, Extras]) -> list[Preset]:
    releases = list(reads)
    names = sorted({name for read in reads.values() for name in read.presets})
    found: list[Preset] = []
    for name in names:
        held = [(r, read.presets[name]) for r, read in reads.items() if name in read.presets]
        life = spans(releases, {r for r, _ in held})
        found.append(Preset(name=name, spans=life, contents=changes(held)))
    return found


def _model_types(reads: Mapping[str, Extras]) -> list[ModelTypeRename]:
    """Pair the types that end with those that hold their models afterwards."""
    releases = list(reads)
    found: list[ModelTypeRename] = []
    since = dict.fromkeys(reads[releases[0]].registry.models, releases[0])
    for before, after in pairwise(releases):
        old, new = reads[before].registry.models, reads[after].registry.models
        holders: dict[str, set[str]] = {}
        for kind, ids in new.items():
            for identifier in ids:
                holders.setdefault(identifier, set()).add(kind)
        for kind in sorted(old.keys() - new.keys()):
            heirs = {heir for identifier in old[kind] for heir in holders.get(identifier, ())}
            found.append(
                ModelTypeRename(old=kind, since=since[kind], until=after, new=tuple(sorted(heirs)))
            )
        for kind in new.keys() - old.keys():
            since[kind] = after
    return sorted(found, key=lambda r: (r.old, releases.index(r.until)))


def _environment(reads: Mapping[str, Extras]) -> list[EnvironmentVariable]:
    """Write each variable once for all, and once for the models that treat it alike."""
    releases = list(reads)
    read: dict[tuple[str, str], dict[str, Value]] = {}
    for release, extras in reads.items():
        for model, variables in extras.registry.variables.items():
            for name, default in _settled(variables).items():
                read.setdefault((name, model), {})[release] = default
    alike: dict[tuple[str, bytes], list[str]] = {}
    records: dict[tuple[str, bytes], EnvironmentVariable] = {}
    for (name, model), defaults in sorted(read.items()):
        lived = [r for r in releases if not model or model in reads[r].registry.models]
        record = EnvironmentVariable(
            name=name,
            spans=spans(lived, set(defaults)),
            defaults=changes([(r, defaults[r]) for r in releases if r in defaults]),
        )
        key = (name, msgspec.json.encode((not model, record)))
        alike.setdefault(key, []).append(model)
        records[key] = record
    return [
        msgspec.structs.replace(records[key], models=tuple(m for m in models if m))
        for key, models in sorted(alike.items(), key=lambda x: (x[0][0], x[1]))
    ]


def _settled(variables: Sequence[Variable]) -> dict[str, Value]:
    """Give one default per variable; several different ones are not a constant."""
    found: dict[str, list[Value]] = {}
    for variable in variables:
        found.setdefault(variable.name, []).append(variable.default)
    return {name: _one(values) for name, values in found.items()}


def _one(values: Sequence[Value]) -> Value:
    known = [value for value in values if value is not None]
    kept: Sequence[Value] = known or values
    same = all(value == kept[0] and type(value) is type(kept[0]) for value in kept)
    return kept[0] if same else {"expr": "computed"}
