"""Where `kb/` and `rules/` lie, and all they hold as one record."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from trainrx.model.constants import JUDGED, Constants
from trainrx.model.fitted import Fitted
from trainrx.model.hardware import Dataset, Gpu, ModelShape
from trainrx.model.knowledge import Cause, FactEntry, Fix, Rule, Symptom
from trainrx.model.levers import Guard, Lever
from trainrx.model.lint import LintRule
from trainrx.model.packages import RangeEntry
from trainrx.model.parts import Param, Relation
from trainrx.model.protocols import Protocol
from trainrx.model.states import ThreadState

Entry = (
    Symptom
    | Cause
    | Param
    | FactEntry
    | Rule
    | Guard
    | RangeEntry
    | LintRule
    | Fix
    | Lever
    | Protocol
    | ThreadState
)


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known, by id; `symptoms` and `causes` hold what `guards` and `ranges` add to them.

    `arguments` are those (`arg.NAME`) that some condition or fix speaks of; `words` is the encoded
    `WordIndex` of the causes, empty where it was not made yet; `unverified` are causes that nothing
    compared with a source as they stand.
    """

    symptoms: dict[str, Symptom]
    causes: dict[str, Cause]
    params: dict[str, Param]
    facts: dict[str, FactEntry]
    rules: dict[str, Rule]
    ranges: dict[str, RangeEntry]
    gpus: tuple[Gpu, ...]
    models: tuple[ModelShape, ...]
    datasets: tuple[Dataset, ...] = ()
    guards: dict[str, Guard] = {}
    levers: dict[str, Lever] = {}
    protocols: dict[str, Protocol] = {}
    states: dict[str, ThreadState] = {}
    fitted: Fitted | None = None
    memory: Constants = JUDGED
    arguments: tuple[str, ...] = ()
    words: bytes = b""
    unverified: frozenset[str] = frozenset()
    digest: str = ""

    @property
    def relations(self) -> dict[str, Relation]:
        """Give what facts that compare others are made of, by their names."""
        return relations_of(self.facts)


def relations_of(facts: Mapping[str, FactEntry]) -> dict[str, Relation]:
    """Give what facts that compare others are made of, by their names."""
    return {name: e.relation for name, e in facts.items() if e.relation is not None}


class LaunchKnowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to read a launch: the part of `Knowledge` that says nothing of failures."""

    params: dict[str, Param]
    facts: dict[str, FactEntry]
    gpus: tuple[Gpu, ...]
    models: tuple[ModelShape, ...]
    datasets: tuple[Dataset, ...] = ()
    guards: dict[str, Guard] = {}
    levers: dict[str, Lever] = {}
    memory: Constants = JUDGED
    digest: str = ""

    def alone(self) -> Knowledge:
        """Give it as knowledge without symptoms, causes and rules."""
        return Knowledge(
            symptoms={},
            causes={},
            params=self.params,
            facts=self.facts,
            rules={},
            ranges={},
            gpus=self.gpus,
            models=self.models,
            datasets=self.datasets,
            guards=self.guards,
            levers=self.levers,
            memory=self.memory,
            digest=self.digest,
        )
