"""All that was concluded of a job, and what of it asks for a cause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.resolved import Resolved
from trainrx.diagnosis.foreseen import Foresight
from trainrx.evidence.collectives import GroupVerdict
from trainrx.evidence.ranks.failures import RankFailures
from trainrx.evidence.ranks.standing import JobStanding
from trainrx.fix.changes import Target
from trainrx.inputs.stream import exceptions
from trainrx.knowledge.guards import is_of_another
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.ranking import with_fit
from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.words import read_index
from trainrx.launch.given import Given
from trainrx.model.curves import Curve
from trainrx.model.facts import Facts
from trainrx.model.findings import Unread
from trainrx.model.hardware import ModelShape
from trainrx.model.job import Argument, RawLaunch, SymptomHits
from trainrx.model.knowledge import Cause
from trainrx.model.ranks import Reading
from trainrx.model.refusal import RefusedArgument
from trainrx.model.text import Lang
from trainrx.reason.echoes import echoes
from trainrx.reason.nearest import Near, nearest
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import ruled_out

SHOWN = ("failure", "echo", "observation")
SILENT = frozenset({"nan_loss", "growing_memory"})
"""Kinds of failure that a run may have and yet end well."""


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """All that the answer is made of; `alternatives`: launches of which any may have run.

    `resolved` is `launch` with every value typed and named.
    """

    given: Given
    loaded: LoadedKnowledge
    symptoms: tuple[SymptomHits, ...]
    curves: tuple[Curve, ...] = ()
    reading: Reading = Reading()
    collectives: tuple[GroupVerdict, ...] = ()
    standing: JobStanding = JobStanding()
    failures: RankFailures = RankFailures()
    reasoning: Reasoning
    style: Literal["arg", "config"]
    launch: RawLaunch | None
    resolved: Resolved | None = None
    alternatives: tuple[str, ...] = ()
    shape: ModelShape | None = None
    refused: tuple[RefusedArgument, ...] = ()
    unread: tuple[Unread, ...]
    lang: Lang

    @property
    def knowledge(self) -> Knowledge:
        """Give the knowledge it was concluded with."""
        return self.loaded.whole

    @property
    def facts(self) -> Facts:
        """Give what is known of the job."""
        return self.reasoning.facts

    @property
    def versions(self) -> Mapping[str, str]:
        """Give the versions at hand."""
        return self.reasoning.situation.versions


def nearest_causes(done: Conclusion) -> tuple[tuple[Near, Cause], ...]:
    """Give the causes whose entries are nearest to what was seen, best first.

    Compared are the note and the exceptions at the end of logs. Causes that this job rules out, and
    checks of another framework, are left out.
    """
    notes = (note.text or "" for note in done.given.notes)
    text = "\n".join((*notes, *exceptions(done.given.logs)))
    if not text.strip():
        return ()
    known = done.knowledge
    framework = done.facts.text("launch.framework") or ""
    index = done.loaded.made(read_index)
    found = ((near, known.causes[near.cause]) for near in nearest(text, index))
    return tuple(
        (near, cause)
        for near, cause in found
        if not is_of_another(cause, known.guards, framework)
        and not ruled_out(cause, done.reasoning.situation)
    )


def shown(done: Conclusion) -> tuple[list[str], dict[str, str]]:
    """Give the symptoms an answer shows, and of those that only follow from another, which."""
    roles = {ident: entry.role for ident, entry in done.knowledge.symptoms.items()}
    seen = [hits.symptom for hits in done.symptoms if roles[hits.symptom] in SHOWN]
    return seen, echoes(seen, done.knowledge.symptoms, done.reasoning)


def explaining(done: Conclusion, active: Collection[str]) -> dict[str, Cause]:
    """Give the causes that explain what was seen, or that a rule suggests behind it."""
    suggested = {vote.cause for vote in done.reasoning.suggestions}
    return {
        ident: cause
        for ident, cause in done.knowledge.causes.items()
        if ident in suggested or not set(active).isdisjoint(cause.explains)
    }


def weighed(done: Conclusion, active: Collection[str]) -> dict[str, Cause]:
    """Give the causes of a failure with the weights that labelled failures bore out.

    What is foreseen from a launch keeps its author's judgement: no case tells how often a launch
    that looks so fails.
    """
    known = done.knowledge
    return with_fit(explaining(done, active), known.fitted, known.unverified)


def foreseen(done: Conclusion, active: set[str]) -> dict[str, Cause]:
    """Give the causes that may show where nothing failed: checks of another framework do not."""
    framework = done.facts.text("launch.framework") or ""
    # a run that ended well met none of what was foreseen, but for what ruins a model in silence
    ended = done.facts.value("log.finished") is True
    return {
        ident: cause
        for ident, cause in done.knowledge.causes.items()
        if not active.isdisjoint(cause.explains)
        or (
            cause.foreseeable
            and not (ended and cause.family not in SILENT)
            and not is_of_another(cause, done.knowledge.guards, framework)
        )
    }


def roots(seen: Iterable[str], echo_of: Mapping[str, str], knowledge: Knowledge) -> set[str]:
    """Give the symptoms that ask for a cause: no echo, and nothing vague beside what is plain."""
    active = {name for name in seen if name not in echo_of}
    plain = {name for name in active if not knowledge.symptoms[name].vague}
    return plain if any(knowledge.symptoms[name].is_failure for name in plain) else active


def target(done: Conclusion) -> Target:
    """Say for whom fixes are spelled."""
    return Target(
        facts=done.facts,
        knowledge=done.knowledge,
        versions=done.versions,
        style=done.style,
        lang=done.lang,
        launch=done.launch,
        foresee=foresight(done).predicted,
        refused=done.refused,
        given=_given_arguments(done.resolved),
    )


def _given_arguments(resolved: Resolved | None) -> dict[str, Argument]:
    """Give the arguments that were set on the command line or in a file, by plain name."""
    known = {} if resolved is None else resolved.arguments
    return {plain(name): item for name, item in known.items() if item.how == "read"}


def foresight(done: Conclusion) -> Foresight:
    """Give what predicts the memory of the job under other values."""
    return Foresight(done.facts, done.knowledge, done.shape, torch=done.versions.get("torch", ""))
