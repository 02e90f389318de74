"""How a fit does on threads newer than all it was fitted on: a rolling split by date."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from accuracy import Names, judge
from accuracy_table import Outcome, figures

from fit.collect import concluded_in
from fit.pair import Pair
from fit.ranking import fitted, fitting
from fit.report import bins, expected_error
from trainrx.diagnosis.conclusion import Conclusion, foreseen, roots, shown, target, weighed
from trainrx.fix.plan import plan
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.model.errors import UsageError
from trainrx.model.fitted import Fitted
from trainrx.reason.order import rank, word
from trainrx.reason.score import Scored

CUTS = ("2025-07-01", "2025-10-01", "2026-01-01", "2026-04-01", "2026-07-01")
"""Where a block of newer threads begins; each holds 60 to 100 of them."""
JUDGED = 3
"""How many causes a fix that worked is looked for in."""
NOTHING = {"verdict": "unknown", "symptoms": [], "causes": []}

Case = dict[str, Any]


class Block(NamedTuple):
    """Cases from `since` until before the next block, and how many older ones were fitted on."""

    since: str
    older: int
    outcomes: list[Outcome]


def date(case: Case) -> str:
    """Give the date of a thread; one without is older than all others."""
    return str(case.get("date") or "")


def older_than(found: Iterable[Pair], cases: Sequence[Case], cut: str) -> list[Pair]:
    """Give the pairs of cases strictly older than a date."""
    return [pair for pair in found if date(cases[pair.case]) < cut]


def within(cases: Iterable[Case], since: str, until: str) -> list[Case]:
    """Give the cases of a date or later, and before another."""
    return [case for case in cases if since <= date(case) < until]


def rolling(
    found: Sequence[Pair], cases: Sequence[Case], asked: Sequence[Case], knowledge: Knowledge
) -> Iterator[Block]:
    """Judge each block of the cases asked by a fit of the strictly older ones among `cases`."""
    for since, until in itertools.pairwise((*CUTS, "9999")):
        older = older_than(found, cases, since)
        newer = within(asked, since, until)
        if older and newer:
            number = sum(date(case) < since for case in cases)
            record = fitted(older, fitting(older), number)
            yield Block(since, number, judged(newer, knowledge, record))


def judged(cases: Iterable[Case], knowledge: Knowledge, ranking: Fitted | None) -> list[Outcome]:
    """Diagnose cases by a ranking; None: as authors judged."""
    names = Names()
    weighed = LoadedKnowledge.of(msgspec.structs.replace(knowledge, fitted=ranking))
    return [judge(case, _answer(case, weighed), names) for case in cases]


def _answer(case: Case, loaded: LoadedKnowledge) -> dict[str, Any]:
    """Give of an answer what is judged here: its first causes; questions take a second each."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = concluded_in(Path(folder), case, loaded)
        except UsageError:
            return NOTHING
        best = _ranked(done)[:JUDGED]
        job = target(done)
        plans = [plan(item.cause, job) for item in best]
    causes = [
        {
            "id": item.cause.id,
            "family": item.cause.family,
            "verdict": word(item),
            "probability": round(item.probability, 2),
            "fixes": msgspec.to_builtins(made.fixes),
        }
        for item, made in zip(best, plans, strict=True)
    ]
    return {**NOTHING, "causes": causes}


def _ranked(done: Conclusion) -> Sequence[Scored]:
    seen, echo_of = shown(done)
    active = roots(seen, echo_of, done.knowledge)
    failed = any(done.knowledge.symptoms[name].is_failure for name in active)
    weighty = weighed(done, active) if failed else foreseen(done, active)
    return rank(weighty, done.reasoning, active=active, failed=failed, lang=done.lang).causes


def rows(blocks: Sequence[Block], examined: str) -> Iterator[tuple[str, ...]]:
    """Give the figures of each block, of all, and of the set that nothing was learnt from."""
    for block in blocks:
        yield row(f"since {block.since}", block.outcomes, str(block.older))
    yield from totals(
        "all of them", [item for block in blocks for item in block.outcomes], examined
    )


def totals(title: str, items: Sequence[Outcome], examined: str) -> Iterator[tuple[str, ...]]:
    """Give the figures of cases, and of those that nothing was learnt from."""
    yield row(title, items)
    unread = [item for item in items if item.set == examined]
    if unread:
        yield row(f"of these, set `{examined}`", unread)


def row(title: str, items: Sequence[Outcome], older: str = "") -> tuple[str, ...]:
    """Write the figures of cases."""
    f = figures(items)
    said = np.array([item.probability for item in items])
    held = np.array([float(item.hit[0]) for item in items])
    error = expected_error(bins(said, held))
    numbers = (f"{value:.3f}" for value in (f.hit1, f.hit3, f.brier, error))
    return title, older, str(f.cases), str(f.likely), str(f.right), f.precision, *numbers
