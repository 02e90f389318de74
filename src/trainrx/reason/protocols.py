"""Which steps of a protocol apply to a failure, and what their outcomes would say of its causes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from trainrx.model.facts import ANSWERED, Fact, Facts
from trainrx.model.knowledge import Family
from trainrx.model.protocols import Protocol, ProtocolStep, StepOutcome
from trainrx.model.text import Text
from trainrx.reason.conclusions import Suggested
from trainrx.reason.conditions import Situation, decide
from trainrx.reason.information import Shifts

POINTS = 2.0
"""What an outcome says for a cause that shows so (nats)."""
SHOWS = 3.5
"""The same where no other cause shows so."""
FOLLOWING = 0.3
"""What it says less for each that stands behind another."""


class OpenStep(NamedTuple):
    """A step that applies, under the id of its question."""

    id: str
    step: ProtocolStep


def steps(
    protocols: Iterable[Protocol], families: Collection[Family], known: Situation
) -> Iterator[OpenStep]:
    """Give the steps for some kinds of failure in their authors' order, each question once.

    A protocol with a condition goes before one without: it is for something special.
    """
    fitting = [one for one in protocols if _applies(one, families, known)]
    fitting.sort(key=lambda one: (one.when is None, one.id))
    given: set[str] = set()
    for protocol in fitting:
        for step in protocol.steps:
            ident = protocol.question(step)
            if ident not in given and _holds(step, known):
                given.add(ident)
                yield OpenStep(ident, step)


def _holds(one: Protocol | ProtocolStep, known: Situation) -> bool:
    if one.when is not None and decide(one.when, known) is not True:
        return False
    return one.unless is None or decide(one.unless, known) is not True


def shifts_of(outcomes: Sequence[StepOutcome]) -> tuple[Shifts, ...]:
    """Give what each outcome says for the causes it names."""
    return tuple(
        {
            cause: max(0.0, _points(outcome) - FOLLOWING * at)
            for at, cause in enumerate(outcome.causes)
        }
        for outcome in outcomes
    )


def _points(outcome: StepOutcome) -> float:
    return SHOWS if len(outcome.causes) == 1 else POINTS


def _applies(protocol: Protocol, families: Collection[Family], known: Situation) -> bool:
    return not set(families).isdisjoint(protocol.families) and _holds(protocol, known)


def votes(protocols: Iterable[Protocol], facts: Facts) -> Iterator[Suggested]:
    """Give what the outcomes somebody found say for the causes they name."""
    for protocol in protocols:
        for ident, step in protocol.own.items():
            found = facts.get(ANSWERED + ident)
            for outcome in step.outcomes if found is not None else ():
                if found is not None and outcome.id == found.value:
                    yield from _votes(ident, step, outcome, found)


def _votes(
    ident: str, step: ProtocolStep, outcome: StepOutcome, found: Fact
) -> Iterator[Suggested]:
    asked = step.question or outcome.reads
    why = Text(en=f"{asked.en} {outcome.reads.en}", zh=f"{asked.zh}{outcome.reads.zh}")
    (shifts,) = shifts_of((outcome,))
    for cause, weight in shifts.items():
        yield Suggested(
            rule=ident, cause=cause, weight=weight, why=why, group=ident, facts=(found,)
        )
