"""Match the values of two jobs: by meaning, by what replaced what, by name."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from trainrx.catalog.catalog import plain
from trainrx.knowledge.catalogs import read_renames
from trainrx.model.catalog import Rename, Value
from trainrx.model.inspection import InspectedJob, Item, Pair

_WEIGHTY = frozenset(
    {"model", "data", "tuner", "batch", "memory", "parallel", "rlhf", "vision", "optimizer"}
)
_WEIGHTLESS = frozenset(
    {
        "model.type",
        "nccl.debug",
        "parallel.master_addr",
        "parallel.master_port",
        "parallel.node_rank",
        "train.output_dir",
        "train.resume",
        "train.dataloader_workers",
        "train.preprocess_workers",
    }
)
"""Places, helpers, and what newer releases find out by themselves."""
_ALL_LINEAR = frozenset({"all", "all_linear", "all-linear"})
_SAME_FILE = frozenset({"model.name"})
"""Paths that mean the same thing wherever it lies."""


class ShownValue(NamedTuple):
    """A value as shown, and as compared; an argument of a canonical meaning has two forms."""

    item: Item
    value: Value
    known: bool


class Paired(NamedTuple):
    """The pairs of two jobs, by what came of comparing them (see `Comparison`)."""

    changes: list[Pair]
    lone: list[Pair]
    open: list[Pair]
    renamed: list[Pair]
    defaults: list[Pair]
    same: int


def pair_values(good: InspectedJob, bad: InspectedJob) -> Paired:
    """Compare every value of two jobs."""
    before, after = _held(good), _held(bad)
    same_framework = good.framework == bad.framework
    moved = _moves(before, after, good.framework if same_framework else None)
    out = Paired([], [], [], [], [], 0)
    same = 0
    for key, held in before.items():
        other = moved.get(key, key)
        found = after.pop(other, None)
        rename = _rename(held, found, good.framework)
        same += _compare(held, found, out, bad, rename=rename)
    for held in after.values():
        same += _compare(None, held, out, good, rename=None)
    return out._replace(same=same)


def compare_facts(good: InspectedJob, bad: InspectedJob) -> Iterator[Pair]:
    """Give the derived values that both sides have and that differ."""
    before = {item.name: item for item in good.facts if item.topic in _WEIGHTY}
    for item in bad.facts:
        old = before.get(item.name)
        if old is not None and not _equal(old.value, item.value, item.name):
            yield Pair(topic=item.topic, name=item.name, canonical=item.name, good=old, bad=item)


def _held(job: InspectedJob) -> dict[str, ShownValue]:
    """Give every value of a job by its meaning, or by its name where it has none."""
    found: dict[str, ShownValue] = {}
    arguments = {item.name: item for item in job.arguments}
    variables = {item.name: item for item in job.env}
    used: set[str] = set()
    for setting in job.settings:
        shown = arguments.get(setting.name) if setting.via != "env" else None
        shown = shown or variables.get(setting.name) or setting
        if setting.via == "computed" or (shown.known is False and setting.known):
            shown = setting
        found[setting.canonical] = ShownValue(shown, setting.value, setting.known)
        used.add(setting.name)
    for item in (*job.arguments, *job.env):
        if item.name in used:
            continue
        if not item.canonical:
            found.setdefault(
                f"{_room(item)}{plain(item.name)}", ShownValue(item, item.value, item.known)
            )
        elif item.canonical not in found:
            found[item.canonical] = ShownValue(item, item.value, item.known)
    return found


def _room(item: Item) -> str:
    return "" if item.via in ("arg", "config", "log", "default", "computed") else f"{item.via}:"


def _moves(
    before: dict[str, ShownValue], after: dict[str, ShownValue], framework: str | None
) -> dict[str, str]:
    """Say under which name a value of the good side stands on the bad side."""
    if framework is None:
        return {}
    pairs: dict[str, list[str]] = {}
    for item in read_renames():
        if item.package == framework and item.new:
            pairs.setdefault(plain(item.old), []).append(plain(item.new))
            pairs.setdefault(plain(item.new), []).append(plain(item.old))
    found: dict[str, str] = {}
    for key in before:
        if key in after or "." in key:
            continue
        seen, front = {key}, [key]
        while front and key not in found:
            front = [new for old in front for new in pairs.get(old, ()) if new not in seen]
            seen.update(front)
            now = next((new for new in front if new in after and new not in before), None)
            if now is not None:
                found[key] = now
    return found


def _rename(good: ShownValue, bad: ShownValue | None, framework: str | None) -> Rename | None:
    """Find the rename between two spellings: it may turn the value round."""
    if bad is None or plain(good.item.name) == plain(bad.item.name):
        return None
    wanted = (plain(good.item.name), plain(bad.item.name))
    return next(
        (
            item
            for item in read_renames()
            if item.package == framework and (plain(item.old), plain(item.new)) == wanted
        ),
        None,
    )


def _compare(
    good: ShownValue | None,
    bad: ShownValue | None,
    out: Paired,
    other: InspectedJob,
    *,
    rename: Rename | None,
) -> int:
    """Put a pair where it belongs; give 1 when both sides are equal and go by one name."""
    pair = _pair(good, bad)
    given = any(held is not None and held.item.given for held in (good, bad))
    if good is None or bad is None:
        _one_sided(pair, out, other, given=given)
        return 0
    if not (good.known and bad.known):
        if given or (pair.canonical and pair.matters):
            out.open.append(pair)
        return 0
    value = _carried(good.value, rename)
    if _equal(value, bad.value, pair.canonical) or _equal(good.value, bad.value, pair.canonical):
        if given and plain(good.item.name) != plain(bad.item.name):
            out.renamed.append(pair)
            return 0
        return 1
    out.changes.append(pair)
    return 0


def _one_sided(pair: Pair, out: Paired, other: InspectedJob, *, given: bool) -> None:
    item = pair.good or pair.bad
    if item is None or not given:
        out.defaults.append(pair)
    elif item.via in ("env", "launcher", "container") or not other.arguments:
        # nothing keeps the other side from setting it: it does not
        out.changes.append(pair)
    else:
        out.lone.append(pair)


def _pair(good: ShownValue | None, bad: ShownValue | None) -> Pair:
    first, last = (None if held is None else held.item for held in (good, bad))
    sides = [item for item in (last, first) if item is not None]
    # a pair goes by the name somebody wrote
    shown = next((item for item in sides if item.given), sides[0])
    canonical = next((item.canonical for item in sides if item.canonical), "")
    given = shown.given
    at_rest = not given and all(item.known and not item.value for item in sides)
    weighty = (bool(canonical) and not at_rest) or (given and shown.topic in _WEIGHTY)
    return Pair(
        topic=shown.topic,
        name=shown.name,
        canonical=canonical,
        matters=weighty and _matters(shown, canonical),
        good=first,
        bad=last,
    )


def _matters(item: Item, canonical: str) -> bool:
    if canonical in _WEIGHTLESS:
        return False
    if item.topic == "environment":
        return canonical != ""
    return item.topic in _WEIGHTY


def _carried(value: Value, rename: Rename | None) -> Value:
    """Say what a value of the old name is under the new one."""
    if rename is None:
        return value
    if rename.inverted and isinstance(value, bool):
        return not value
    return rename.values.get(str(value), value)


def _equal(good: Value, bad: Value, canonical: str) -> bool:
    a, b = _normal(good), _normal(bad)
    if a == b:
        return isinstance(a, bool) == isinstance(b, bool) or canonical != ""
    if canonical in _SAME_FILE and isinstance(a, str) and isinstance(b, str):
        return _base(a) == _base(b)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9)
    return canonical == "tuner.targets" and {str(a), str(b)} <= _ALL_LINEAR


def _normal(value: Value) -> object:
    """Give the form two values are compared in: numbers are floats, a list of one its content."""
    if isinstance(value, list) and len(value) <= 1:
        return _normal(value[0]) if value else None
    if isinstance(value, str):
        return {"none": None, "": None, "true": True, "false": False}.get(
            value.lower(), value.strip().lower()
        )
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if abs(value) < 1e300 else str(value)
    return value


def _base(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
