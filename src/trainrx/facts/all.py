"""Collect what was read into one set of facts, the strongest source first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainrx.facts.engine import engine_facts, request_facts
from trainrx.facts.guards import guard_facts
from trainrx.facts.layout import layout_facts
from trainrx.facts.training import training_facts, vision_facts
from trainrx.knowledge.store import Knowledge
from trainrx.memory.facts import memory_facts, prediction_facts
from trainrx.memory.predict import predict
from trainrx.memory.workload import workload_of
from trainrx.model.facts import Fact, Facts, Origin, Scalar, fact
from trainrx.model.hardware import ModelShape
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.knowledge import Family, Symptom
from trainrx.model.memory import Refusal
from trainrx.models.facts import model_facts, shape_of

HITS_PER_SYMPTOM = 12
"""The engine pairs hits of two symptoms; beyond this more of the same adds nothing but time."""

LOG_VERSION = "log.version."
RELEASES = "log.releases."
"""Releases that have the files a traceback names, by package."""


def derive(
    given: Iterable[Fact],
    knowledge: Knowledge,
    shape: ModelShape | None = None,
    *,
    torch: str = "",
) -> Facts:
    """Add all that follows by arithmetic.

    Args:
        given: what is known of the job.
        knowledge: models and parameters.
        shape: the model's shape as its own `config.json` tells it, when that is at hand.
        torch: release of torch, "" when it is not known.
    """
    facts = derive_memory(given, knowledge, shape, torch=torch)
    facts.add(*_predicted(facts, knowledge, shape or shape_of(facts, knowledge.models)))
    facts.add(*engine_facts(facts, shape or shape_of(facts, knowledge.models)))
    facts.add(*request_facts(facts))
    facts.add(*guard_facts(facts, knowledge.relations))
    return facts


def _predicted(facts: Facts, knowledge: Knowledge, shape: ModelShape | None) -> Iterable[Fact]:
    """Predict the memory for the conditions of causes, without the training data.

    The figure of an estimate, which knows the data's lengths, is that of `estimation.run`.
    """
    found = workload_of(facts, shape, None, models=knowledge.models, datasets=knowledge.datasets)
    # the model's own limit is no length to judge a job by: samples are seldom that long
    if isinstance(found, Refusal) or (
        found[0].length.how == "cap" and facts.number("train.max_length") is None
    ):
        return ()
    said = predict(found[0], knowledge.memory)
    return () if isinstance(said, Refusal) else prediction_facts(facts, said)


def derive_memory(
    given: Iterable[Fact],
    knowledge: Knowledge,
    shape: ModelShape | None = None,
    *,
    torch: str = "",
) -> Facts:
    """Add what follows by arithmetic as far as the memory model asks for it; see `derive`."""
    facts = Facts(given)
    facts.add(*model_facts(facts, knowledge.models, shape))
    facts.add(*training_facts(facts))
    facts.add(*layout_facts(facts))
    facts.add(*vision_facts(facts))
    facts.add(*memory_facts(facts, shape or shape_of(facts, knowledge.models), torch))
    return facts


def symptom_facts(found: Iterable[SymptomHits]) -> tuple[Fact, ...]:
    """Turn hits into engine facts: the first of each rank, then more until the limit.

    `clock` says what `at` counts: seconds, or the lines of one file, which say nothing about the
    order of lines in another.
    """
    return tuple(_symptom_fact(hit) for item in found for hit in _spread(item.hits))


def _spread(hits: tuple[Hit, ...]) -> list[Hit]:
    first: dict[int | None, Hit] = {}
    for hit in hits:
        first.setdefault(hit.rank, hit)
    rest = [hit for hit in hits if hit is not first[hit.rank]]
    return [*first.values(), *rest][:HITS_PER_SYMPTOM]


def _symptom_fact(hit: Hit) -> Fact:
    fields: list[tuple[str, Scalar]] = list(hit.captures)
    taken = {name for name, _ in fields}
    more: tuple[tuple[str, Scalar | None], ...] = (
        ("rank", hit.rank),
        ("at", hit.at),
        ("clock", "wall" if hit.stamped else hit.source),
        ("step", hit.step),
        ("phase", hit.phase or None),
        ("site", hit.site or None),
    )
    fields += [(name, value) for name, value in more if value is not None and name not in taken]
    return Fact(
        kind=f"symptom.{hit.symptom}",
        fields=tuple(fields),
        origins=(Origin(source=hit.source, line=hit.line, text=hit.text),),
    )


def failure_facts(
    found: Iterable[SymptomHits], symptoms: Mapping[str, Symptom]
) -> tuple[Fact, ...]:
    """Say in which stage the first failure shows: what is likely depends on it."""
    hits = [
        hit
        for item in found
        if symptoms[item.symptom].role == "failure"
        for hit in item.hits
        if hit.phase
    ]
    if not hits:
        return ()
    first = min(hits, key=lambda hit: (hit.line if hit.at is None else hit.at, hit.line))
    origin = Origin(source=first.source, line=first.line, text=first.text)
    return (fact("failure.phase", first.phase, origin, how="derived"),)


def failure_kinds(
    found: Iterable[SymptomHits], symptoms: Mapping[str, Symptom]
) -> tuple[Family, ...]:
    """Name the kinds of failure that were seen, each once, what is vague and echoes last."""
    entries = [symptoms[item.symptom] for item in found]
    told = [entry for entry in entries if entry.is_failure and entry.family is not None]
    told.sort(key=lambda entry: (entry.role == "echo", entry.vague))
    return tuple(dict.fromkeys(entry.family for entry in told if entry.family is not None))


def log_versions(facts: Iterable[Fact], told_as: str = LOG_VERSION) -> dict[str, str]:
    """Give the package versions a log's own banners tell."""
    return {
        item.kind.removeprefix(told_as): str(item.value)
        for item in facts
        if item.kind.startswith(told_as)
    }
