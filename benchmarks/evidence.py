"""Ask about the real jobs of `tests/evidence`, of all they left and of each kind of it alone.

    python benchmarks/evidence.py [--source NAME]... [--misses] [NAME ...]

Printed are, for logs, stacks, recorder and all together with the launch, of how many stuck or dead
jobs the rank is right that the others wait for (or that failed first) and its place, of how many
the cause that comes first, and how many healthy jobs raise an alarm. What is right was written down
before any of them was asked about. Alone, a source is given with the number of ranks.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from trainrx import api
from trainrx.model.errors import UsageError
from trainrx.model.result import Diagnosis, RankReport

EVIDENCE = Path(__file__).resolve().parents[1] / "tests" / "evidence"
SOURCES: dict[str, tuple[str, ...]] = {
    "logs": ("logs",),
    "stacks": ("stacks",),
    "recorder": ("recorder",),
    "all": ("launch", "logs", "stacks", "recorder"),
}
RANKS = 3


class Judged(NamedTuple):
    """What is right of an answer; None: not asked for."""

    ranks: bool | None
    place: bool | None
    cause: bool | None
    alarm: bool | None
    said: str


def answer(name: str, label: Mapping[str, Any], source: str) -> Diagnosis | None:
    """Diagnose one job by one source; None where it left nothing of that kind."""
    folders = [EVIDENCE / kind / name for kind in SOURCES[source]]
    there = [str(folder) for folder in folders if folder.exists()]
    if not there or (source == "all" and there == [str(folders[0])]):
        return None
    try:
        return api.diagnose(there, gpus=label.get("world", RANKS))
    except UsageError:
        return None


def judged(label: Mapping[str, Any], found: Diagnosis) -> Judged:
    """Compare an answer with what is right."""
    ranks = found.ranks or RankReport()
    causes = [cause.id for cause in found.causes[:1]]
    said = f"culprits {list(ranks.culprits)} missing {list(ranks.missing)}"
    said += f" first_failed {ranks.first_failed} stuck {ranks.stuck} causes {causes}"
    if not label:
        failures = [item.id for item in found.symptoms]
        alarm = bool(failures) or ranks.stuck is True or found.verdict in ("diagnosed", "suspected")
        return Judged(None, None, None, alarm, f"{said} {failures} {found.verdict}")
    right = (*label["culprits"], *label.get("missing", ()))
    named = sorted({*ranks.culprits, *ranks.missing})
    place, places = None, functions(ranks)
    if "function" in label:
        place = label["function"] in places
    cause = None if "cause" not in label else causes[:1] != [] and causes[0] in wanted(label)
    return Judged(named == sorted(right), place, cause, None, f"{said} at {sorted(places)}")


def wanted(label: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the causes that are right first."""
    return (label["cause"], *label.get("or", ()))


def functions(ranks: RankReport) -> set[str]:
    """Name the functions that the culprits stand in, or all ranks where there are none."""
    held = [one for one in ranks.places if one.rank in (ranks.culprits or range(99))]
    frames = [one.frame for one in held]
    if ranks.collective is not None and not held:
        frames.append(ranks.collective.frame)
    return {re.split(r"[ .]", frame)[-1] for frame in frames if frame}


def rows(source: str, names: list[str]) -> Iterator[tuple[str, Judged]]:
    """Ask about each job that left something of a source."""
    labels = yaml.safe_load((EVIDENCE / "situations.yaml").read_text(encoding="utf-8"))
    for name in names or sorted(labels):
        found = answer(name, labels[name], source)
        if found is not None:
            yield name, judged(labels[name], found)


def share(values: list[bool]) -> str:
    """Write how many are true."""
    right = sum(values)
    return f"{right}/{len(values)} ({right / len(values):.0%})" if values else "-"


def main() -> None:
    """Print the figures of each source."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--source", action="append", choices=tuple(SOURCES))
    parser.add_argument("--misses", action="store_true", help="name each answer that is wrong")
    asked = parser.parse_args()
    for source in asked.source or SOURCES:
        found = list(rows(source, asked.names))
        stuck = [one for _, one in found if one.alarm is None]
        figures = {
            "ranks": [one.ranks is True for one in stuck],
            "ranks and place": [
                one.ranks is True and one.place is not False
                for one in stuck
                if one.place is not None
            ],
            "cause first": [one.cause for one in stuck if one.cause is not None],
            "alarms on healthy": [one.alarm for _, one in found if one.alarm is not None],
        }
        print(f"{source:9}", "   ".join(f"{name} {share(one)}" for name, one in figures.items()))
        for name, one in found if asked.misses else ():
            wrong = [what for what in ("ranks", "place", "cause") if getattr(one, what) is False]
            if wrong or one.alarm:
                print(f"    {name}: {', '.join(wrong) or 'alarm'}: {one.said}")


if __name__ == "__main__":
    main()
