"""Jobs by what they have in common: how many failed, alike or not, and what that cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import msgspec

from trainrx.fleet.across.runs import failed
from trainrx.fleet.history.store import ToldOutcome
from trainrx.fleet.record import AnswerSummary

By = Literal["cause", "user", "framework", "node", "version"]
UNKNOWN = "?"
MOST_CAUSES = 3


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that share something.

    Attributes:
        name: what they share; `?` where it is not known.
        jobs: how many there are.
        failed: how many of them failed.
        distinct: failures that are not the same launch failing the same way again.
        gpu_hours: of the failed ones, as far as known.
        uncounted: failed jobs of which the GPU hours are not known.
        causes: the most frequent ones, each with its jobs.
        solved: changes people say worked, each with how often.
    """

    name: str
    jobs: int
    failed: int
    distinct: int
    gpu_hours: float
    uncounted: int
    causes: tuple[tuple[str, int], ...] = ()
    solved: tuple[tuple[str, int], ...] = ()


def grouped(
    answers: Sequence[AnswerSummary], by: By | Literal["param"], told: Iterable[ToldOutcome] = ()
) -> tuple[Group, ...]:
    """Group jobs; a job of several nodes or versions is in several groups.

    The groups that lost most GPU hours come first, then those with most failures.
    """
    worked: dict[str, list[str]] = defaultdict(list)
    for one in told:
        if one.worked and one.param:
            worked[one.job].append(one.param)
    members: dict[str, list[AnswerSummary]] = defaultdict(list)
    for answer in answers:
        for name in dict.fromkeys(NAMES[by](answer)):
            members[name].append(answer)
    groups = (_group(name, its, worked) for name, its in members.items())
    return tuple(sorted(groups, key=lambda one: (-one.gpu_hours, -one.failed, one.name)))


def _group(
    name: str, answers: Sequence[AnswerSummary], worked: Mapping[str, Sequence[str]]
) -> Group:
    bad = [answer for answer in answers if failed(answer)]
    hours = [answer.gpu_hours for answer in bad if answer.gpu_hours is not None]
    causes = Counter(cause for answer in bad for cause in _cause(answer))
    solved = Counter(param for answer in bad for param in worked.get(answer.key, ()))
    return Group(
        name=name,
        jobs=len(answers),
        failed=len(bad),
        distinct=len({_alike(answer) for answer in bad}),
        gpu_hours=round(sum(hours), 2),
        uncounted=len(bad) - len(hours),
        causes=tuple(causes.most_common(MOST_CAUSES)),
        solved=tuple(solved.most_common(MOST_CAUSES)),
    )


def _alike(answer: AnswerSummary) -> tuple[str, str]:
    """Name what near-duplicates share: the failure, and what the launch sets."""
    return answer.fingerprint, answer.launch_digest or answer.key


def _cause(answer: AnswerSummary) -> Iterator[str]:
    """Name the cause of a job that failed; of others there is none to count."""
    if failed(answer):
        yield answer.causes[0][0] if answer.causes else UNKNOWN


def _params(answer: AnswerSummary) -> Iterator[str]:
    if failed(answer):
        yield from (param for param, _ in answer.changes)


NAMES: Mapping[str, Callable[[AnswerSummary], Iterable[str]]] = MappingProxyType(
    {
        "cause": _cause,
        "param": _params,
        "user": lambda answer: (answer.user or UNKNOWN,),
        "framework": lambda answer: (answer.framework or UNKNOWN,),
        "node": lambda answer: answer.nodes or (UNKNOWN,),
        "version": lambda answer: [f"{k} {v}" for k, v in answer.versions.items()] or (UNKNOWN,),
    }
)
"""What a job is grouped by."""
