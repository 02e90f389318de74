"""Ask for public threads on jobs that hang, and say how often the rank or the cause is right.

    python benchmarks/hangs.py [tests/evidence/threads] [--half development|measured] [--misses]

What the labels mean says the README of the folder. Printed are for each half, and for both

    culprits  of the threads whose machine-printed lines tell who is waited for: exactly they named
    cause@k   of the threads whose cause is known: it, or one that holds too, is among the first k
    right     of the threads that tell a rank or a cause: one of the two is right (cause@1)
    silent    of the others: nobody is named, and no cause is called likely
    sure      answers called likely whose first cause is wrong, and ranks named that are not it;
              that a rank died or went silent contradicts no label
    unknown   no cause is named
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from trainrx import diagnose
from trainrx.catalog.framework_choice import known_names
from trainrx.model.result import Diagnosis

THREADS = Path(__file__).resolve().parents[1] / "tests" / "evidence" / "threads"
HALVES = ("development", "measured")
LAST_RESORT = "rank-silent-or-dead"
TOP = 5


class ThreadOutcome(NamedTuple):
    """How an answer fits the label of a thread; None: the label says nothing."""

    case: str
    half: str
    ranks: tuple[int, ...]
    causes: tuple[str, ...]
    culprits_right: bool | None
    hits: tuple[bool, bool] | None
    sure_and_wrong: bool

    @property
    def decides(self) -> bool:
        """Tell whether a rank or a cause is to be found."""
        return self.culprits_right is not None or self.hits is not None

    @property
    def right(self) -> bool:
        """Tell whether one of them is; of a thread that tells nothing, that nothing is made up."""
        if not self.decides:
            return not self.ranks and not self.sure_and_wrong
        return bool(self.culprits_right) or (self.hits is not None and self.hits[0])


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=THREADS)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--misses", action="store_true", help="each thread that is not right")
    given = parser.parse_args()
    cases = [case for case in read_threads(given.folder) if given.half in (None, half(case))]
    outcomes = [outcome(case, answer(case)) for case in cases]
    print("\n".join(table(outcomes)))
    if given.misses:
        print("\n".join(misses(outcomes)))
    return 0


def read_threads(folder: Path = THREADS) -> list[dict[str, Any]]:
    """Read the labelled threads."""
    paths = sorted(folder.glob("*.yaml"))
    return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths]


def half(case: dict[str, Any]) -> str:
    """Say which half a thread belongs to."""
    digest = hashlib.sha1(case["source"].encode(), usedforsecurity=False)
    return HALVES[int(digest.hexdigest(), 16) % 2]


def answer(case: dict[str, Any]) -> Diagnosis:
    """Ask with what was pasted, and the settings told with it."""
    given = {key: case[key] for key in ("gpus", "nodes", "note", "cmd") if key in case}
    if case["framework"] in known_names():
        given["framework"] = case["framework"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in (("train.log", case["log"]), *(case.get("config") or {}).items()):
            folder.joinpath(file).write_text(text, encoding="utf-8")
        if case.get("versions"):
            lines = (f"{package}=={version}\n" for package, version in case["versions"].items())
            folder.joinpath("versions.txt").write_text("".join(lines), encoding="utf-8")
        return diagnose(str(folder), top=TOP, **given)


def outcome(case: dict[str, Any], found: Diagnosis) -> ThreadOutcome:
    """Compare an answer with the label."""
    report = found.ranks
    ranks = () if report is None else tuple(sorted({*report.culprits, *report.missing}))
    causes = tuple(cause.id for cause in found.causes)
    wanted = case.get("culprits") or []
    holding = {case["cause"], *case.get("also", ())} if case["cause"] else set()
    likely = bool(found.causes) and found.causes[0].verdict == "likely"
    wrong = likely and causes[0] not in {*holding, LAST_RESORT}
    return ThreadOutcome(
        case=case["id"],
        half=half(case),
        ranks=ranks,
        causes=causes,
        culprits_right=list(ranks) == wanted if wanted else None,
        hits=_hits(causes, holding) if holding else None,
        sure_and_wrong=wrong or (bool(ranks) and "culprits" in case and list(ranks) != wanted),
    )


def _hits(causes: Sequence[str], holding: set[str]) -> tuple[bool, bool]:
    return not holding.isdisjoint(causes[:1]), not holding.isdisjoint(causes[:3])


def table(outcomes: Sequence[ThreadOutcome]) -> Iterator[str]:
    """Give the figures of each half and of both."""
    names = ("threads", "culprits", "cause@1", "cause@3", "right", "silent", "sure", "unknown")
    yield f"{'':12}" + "".join(f"{name:>10}" for name in names)
    for name in (*HALVES, "both"):
        part = [one for one in outcomes if name in (one.half, "both")]
        yield f"{name:12}{len(part):10}" + "".join(f"{cell:>10}" for cell in _cells(part))


def figures(outcomes: Iterable[ThreadOutcome]) -> dict[str, tuple[int, int]]:
    """Count what is right, and of how many."""
    held = list(outcomes)
    named = [one.culprits_right for one in held if one.culprits_right is not None]
    known = [one.hits for one in held if one.hits is not None]
    deciding = [one.right for one in held if one.decides]
    others = [one.right for one in held if not one.decides]
    return {
        "culprits": (sum(named), len(named)),
        "cause@1": (sum(hit[0] for hit in known), len(known)),
        "cause@3": (sum(hit[1] for hit in known), len(known)),
        "right": (sum(deciding), len(deciding)),
        "silent": (sum(others), len(others)),
        "sure": (sum(one.sure_and_wrong for one in held), len(held)),
        "unknown": (sum(not one.causes for one in held), len(held)),
    }


def _cells(outcomes: Iterable[ThreadOutcome]) -> Iterator[str]:
    return (f"{some}/{many}" for some, many in figures(outcomes).values())


def misses(outcomes: Iterable[ThreadOutcome]) -> Iterator[str]:
    """Give each thread of which something is wrong."""
    for one in outcomes:
        if not one.right or one.sure_and_wrong:
            mark = "sure and wrong" if one.sure_and_wrong else ""
            ranks = ",".join(map(str, one.ranks)) or "-"
            yield f"{one.half[:3]} {one.case}: {ranks} {', '.join(one.causes[:3]) or '-'} {mark}"


if __name__ == "__main__":
    sys.exit(main())
