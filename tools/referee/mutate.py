"""Make launches that are wrong, or merely written otherwise, out of good ones.

usage: mutate.py --bases GOOD.jsonl --fields ms-swift==3.2.1=FIELDS.json [...] [--seed 7]
                 [--per-kind 10] [--first 1] [--only KIND] > launches.jsonl

GOOD holds launches the framework takes (rows of `mutate_bases.py` that `judge.py` found accepted),
FIELDS what its own parser takes (`mutate_fields.py`). The same seed gives the same launches. What a
launch is meant to be is its `kind`; whether the framework refuses it, only `judge.py` tells.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutate_conflicts import LLAMAFACTORY, SWIFT, Conflict
from mutate_kinds import HARMLESS, KINDS, YAML_HARMLESS, YAML_KINDS, Maker
from mutate_launch import read_shell, read_yaml
from mutate_values import VALUES

Row = dict[str, Any]


def main() -> int:
    """Write the launches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--fields", action="append", default=[])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--per-kind", type=int, default=10)
    parser.add_argument("--first", type=int, default=1, help="number of the first launch")
    parser.add_argument("--only", action="append", default=[], help="kinds to make, all when none")
    options = parser.parse_args()
    bases = [json.loads(line) for line in options.bases.read_text().splitlines()]
    named = dict(item.rsplit("=", 1) for item in options.fields)
    fields = {key: json.loads(Path(path).read_text()) for key, path in named.items()}
    number = options.first - 1
    for key in fields:
        chance = random.Random(f"{options.seed} {key}")  # noqa: S311 - no secret
        own = [row for row in bases if f"{row['framework']}=={row['version']}" == key]
        seen: set[str] = set()
        if not own:
            continue
        for row in _made(key, own, fields, chance, options.per_kind):
            text = json.dumps(row["files"])
            wanted = not options.only or row["kind"].split(":")[0] in options.only
            if text not in seen and wanted:
                seen.add(text)
                number += 1
                print(json.dumps({"id": f"{number:04}", **row}, ensure_ascii=False))
    return 0


def _made(
    key: str, bases: list[Row], fields: dict[str, Any], chance: random.Random, most: int
) -> Iterator[Row]:
    """Give all launches of a release: the good ones, and each kind of mutation of them."""
    swift = key.startswith("ms-swift")
    for base in chance.sample(bases, min(len(bases), 10)):
        yield _row(base, "base", base["files"])
    others = {name: item for name, item in fields.items() if name != key}
    kinds = KINDS if swift else YAML_KINDS
    harmless = HARMLESS if swift else YAML_HARMLESS
    for name, make in {**kinds, **harmless, **VALUES}.items():
        wanted = max(2, most // 3) if name in harmless else most
        yield from _of_kind(name, make, bases, (fields[key], others), chance, wanted)
    for conflict in SWIFT if swift else LLAMAFACTORY:
        yield from _conflicting(conflict, key, bases, chance)


def _of_kind(
    name: str,
    make: Maker,
    bases: list[Row],
    fields: tuple[Any, Any],
    chance: random.Random,
    wanted: int,
) -> Iterator[Row]:
    made = tried = 0
    while made < wanted and tried < wanted * 4:
        tried += 1
        base = chance.choice(bases)
        launch = read_yaml(base["files"]) if "train.yaml" in base["files"] else None
        launch = launch or read_shell(base["files"]["launch.sh"])
        own = fields[0].get(launch.command) or fields[0]["rlhf" if "rlhf" in fields[0] else "train"]
        changed = make(launch, own, fields[1], chance)
        if changed is not None:
            made += 1
            yield _row(base, name, changed)


def _conflicting(
    conflict: Conflict, key: str, bases: list[Row], chance: random.Random
) -> Iterator[Row]:
    major = key.split("==")[1][0]
    fit = [row for row in bases if _fits(row, conflict)]
    if major not in conflict.majors or not fit:
        return
    base = chance.choice(fit)
    launch = read_yaml(base["files"]) if "train.yaml" in base["files"] else None
    launch = launch or read_shell(base["files"]["launch.sh"])
    for name, value in conflict.set.items():
        launch = launch.without(name) if value is None else launch.given(name, value)
    for name, value in conflict.env.items():
        launch = launch.with_env(name, value)
    yield _row(base, f"conflict:{conflict.name}", launch.files())


def _fits(row: Row, conflict: Conflict) -> bool:
    text = row["files"].get("train.yaml")
    if text is not None:
        return f"stage: {conflict.command}\n" in text
    launch = read_shell(row["files"]["launch.sh"])
    if conflict.command in {"sft", "rlhf"}:
        return launch.command == conflict.command
    return launch.value("rlhf_type") == conflict.command


def _row(base: Row, kind: str, files: dict[str, str]) -> Row:
    kept = {name: base[name] for name in ("framework", "version")}
    extra = {name: text for name, text in base["files"].items() if name not in files}
    return {**kept, "kind": kind, "base": base["base"], "files": {**files, **extra}}


if __name__ == "__main__":
    sys.exit(main())
