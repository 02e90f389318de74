"""Nodes, versions and images on which more jobs fail than elsewhere, and how sure that is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from trainrx.fleet.across.exact import Stratum, hypotheses_that_count, least_tail, stands_out, tail
from trainrx.fleet.across.runs import ANY, AXES, Axis, RanJob, runs_of, subjects
from trainrx.fleet.record import AnswerSummary

LEVEL = 0.05
"""How often anything may be suspected of a fleet in which nothing is to blame."""
DEVIATIONS = 1.5
"""Fewer failures than this above what is expected are no suspicion, and cost no exact test."""
MOST_KINDS = 20
MOST_SUSPECTS = 10
MOST_CAUSES = 3


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A node, version or image on which more jobs fail than on the rest.

    `kind` is the cause of which there are too many, "" for failures of any. `expected`: failures
    that chance puts there, given whose jobs ran there. `p` is the probability of so many by chance,
    `corrected` after all that was tested. `together`: others that ran in exactly the same jobs.
    """

    axis: Axis
    name: str
    kind: str
    jobs: int
    failed: int
    other_jobs: int
    other_failed: int
    expected: float
    p: float
    corrected: float
    together: tuple[str, ...] = ()
    causes: tuple[tuple[str, int], ...] = ()


class Hypothesis(NamedTuple):
    """That one subject has a part in failures of a kind; `within` is what it is compared with."""

    within: str
    subject: str
    kind: str


def suspects(answers: Sequence[AnswerSummary]) -> tuple[Suspect, ...]:
    """Name those suspected, of each axis, the surest first.

    What is left of a suspicion once the jobs of a surer one are set aside counts: a node is not
    suspected for having run beside a bad one.
    """
    runs = runs_of(answers)
    found = [one for axis in AXES for one in _suspects_of(runs, axis)]
    return tuple(sorted(found, key=lambda one: (one.corrected, one.axis, one.name)))


def _suspects_of(runs: Sequence[RanJob], axis: Axis) -> Iterator[Suspect]:
    left, tested = list(runs), 0
    for _ in range(MOST_SUSPECTS):
        strata = _hypotheses(left, axis)
        least = map(least_tail, strata.values())
        tested = tested or len(AXES) * hypotheses_that_count(least, LEVEL / len(AXES))
        p, hypothesis = min(_probabilities(strata), default=(1.0, None))
        if hypothesis is None or p * tested > LEVEL:
            return
        on = [_is_on(run, axis, hypothesis) for run in left]
        yield msgspec.structs.replace(
            _suspect(left, on, axis, hypothesis),
            expected=round(sum(one.expected for one in strata[hypothesis]), 2),
            p=p,
            corrected=min(1.0, p * tested),
        )
        left = [run for run, is_on in zip(left, on, strict=True) if not is_on]


def _probabilities(
    strata: Mapping[Hypothesis, Sequence[Stratum]],
) -> Iterator[tuple[float, Hypothesis]]:
    for hypothesis, of in strata.items():
        if stands_out(of, DEVIATIONS):
            yield tail(of), hypothesis


def _hypotheses(runs: Sequence[RanJob], axis: Axis) -> Mapping[Hypothesis, list[Stratum]]:
    """Count, for each subject and kind of failure, the jobs of each user on it and elsewhere."""
    jobs: Counter[tuple[str, str]] = Counter()
    failures: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    on: Counter[tuple[str, str, str]] = Counter()
    failures_on: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    kinds = _kinds(runs)
    for run in runs:
        user = run.answer.user
        its = () if run.kind is None else tuple(k for k in (ANY, run.kind) if k in kinds)
        of = list(subjects(run, axis))
        for within in dict.fromkeys(within for within, _ in of):
            jobs[within, user] += 1
            for kind in its:
                failures[within, user][kind] += 1
        for within, subject in of:
            on[within, subject, user] += 1
            for kind in its:
                failures_on[within, subject, user][kind] += 1
    found: dict[Hypothesis, list[Stratum]] = defaultdict(list)
    for (within, subject, user), count in on.items():
        total, failed_on = jobs[within, user], failures_on[within, subject, user]
        if count < total:
            for kind, failed in failures[within, user].items():
                stratum = Stratum(total, failed, count, failed_on[kind])
                found[Hypothesis(within, subject, kind)].append(stratum)
    return found


def _kinds(runs: Sequence[RanJob]) -> frozenset[str]:
    """Give the kinds of failure that are looked at: any, and those there are most of."""
    counted = Counter(run.kind for run in runs if run.kind is not None)
    return frozenset({ANY, *(kind for kind, _ in counted.most_common(MOST_KINDS))})


def _suspect(
    runs: Sequence[RanJob], on: Sequence[bool], axis: Axis, hypothesis: Hypothesis
) -> Suspect:
    within, subject, kind = hypothesis
    among = [any(w == within for w, _ in subjects(run, axis)) for run in runs]
    its = [run for run, is_on in zip(runs, on, strict=True) if is_on]
    others = [
        run for run, is_on, is_among in zip(runs, on, among, strict=True) if is_among and not is_on
    ]
    causes = Counter(run.kind for run in its if run.kind is not None)
    return Suspect(
        axis=axis,
        name=_named(within, subject),
        kind=kind,
        jobs=len(its),
        failed=_count(its, kind),
        other_jobs=len(others),
        other_failed=_count(others, kind),
        expected=0.0,
        p=1.0,
        corrected=1.0,
        together=_together(runs, on, axis, hypothesis),
        causes=tuple(causes.most_common(MOST_CAUSES)),
    )


def _count(runs: Sequence[RanJob], kind: str) -> int:
    return sum(run.kind is not None and kind in (ANY, run.kind) for run in runs)


def _is_on(run: RanJob, axis: Axis, hypothesis: Hypothesis) -> bool:
    return (hypothesis.within, hypothesis.subject) in subjects(run, axis)


def _together(
    runs: Sequence[RanJob], on: Sequence[bool], axis: Axis, hypothesis: Hypothesis
) -> tuple[str, ...]:
    """Name what of the axis ran in the same jobs and no others: nothing tells them apart."""
    inside: Counter[tuple[str, str]] = Counter()
    outside: set[tuple[str, str]] = set()
    for run, is_on in zip(runs, on, strict=True):
        if is_on:
            inside.update(subjects(run, axis))
        else:
            outside.update(subjects(run, axis))
    same = {one for one, count in inside.items() if count == sum(on)} - outside
    same -= {(hypothesis.within, hypothesis.subject)}
    return tuple(sorted(_named(*one) for one in same))


def _named(within: str, subject: str) -> str:
    return f"{within} {subject}".strip()
