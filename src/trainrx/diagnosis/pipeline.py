"""From what was given to all that an answer is made of: read, parse, detect, derive, reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from trainrx.catalog.names import framework_facts, name_facts
from trainrx.diagnosis.conclusion import Conclusion
from trainrx.diagnosis.repairs import repairs
from trainrx.diagnosis.replied import disagreements, with_looked
from trainrx.evidence.arguments import Dump, logged_arguments
from trainrx.evidence.collectives import (
    GroupVerdict,
    collective_facts,
    drift_symptom,
    given_up_symptom,
    group_verdicts,
)
from trainrx.evidence.detector import detector_of
from trainrx.evidence.launches import embedded_launches
from trainrx.evidence.ranks.failures import RankFailures, rank_failures, stacks_of
from trainrx.evidence.ranks.standing import (
    JobStanding,
    job_standing,
    stall_symptom,
    standing_facts,
)
from trainrx.evidence.readers import read_evidence
from trainrx.evidence.series.memory import forecast_facts, leading_memory, memory_facts
from trainrx.evidence.series.symptoms import growth
from trainrx.evidence.snapshots import snapshot_facts, snapshot_symptom
from trainrx.facts.all import (
    RELEASES,
    derive,
    failure_facts,
    failure_kinds,
    log_versions,
    symptom_facts,
)
from trainrx.facts.collectives import carried_facts
from trainrx.facts.compare import changed_facts
from trainrx.facts.contrasts import contrast_facts
from trainrx.facts.operands import operand_facts
from trainrx.facts.packages import package_facts
from trainrx.facts.refusals import owner_facts
from trainrx.facts.refused import RefusalContext, refused_arguments, refused_facts
from trainrx.facts.symbols import symbol_facts
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.owners import without_origins
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.launch.choice import LaunchChoice, name_of
from trainrx.launch.given import Given
from trainrx.launch.images import image_versions
from trainrx.launch.job import (
    Launch,
    argument_facts,
    dumped_launch,
    find_choice,
    find_launch,
    launch_facts,
    pasted_launch,
    printed_launch,
    settle,
    without_claims,
)
from trainrx.launch.prose.conflicts import overruled
from trainrx.model.curves import Curve
from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.findings import Unread
from trainrx.model.job import NOTE, Detection, Input, SymptomHits
from trainrx.model.progress import begin
from trainrx.model.ranks import Reading
from trainrx.model.refusal import RefusedArgument
from trainrx.model.text import Lang
from trainrx.models.facts import shape_of
from trainrx.reason.conditions import Situation
from trainrx.reason.protocols import votes
from trainrx.reason.reasoner import reasoner_of
from trainrx.reason.stage import EngineName

GROWING = {"growing_memory"}
"""Failures after which a job runs on."""
ASSUMED = ("default", "assumed")


def conclude(
    given: Given, loaded: LoadedKnowledge, lang: Lang = "en", engine: EngineName = "durable"
) -> Conclusion:
    """Work out all that an answer is made of."""
    knowledge = loaded.whole
    inputs = (*given.logs, *given.outputs, *given.notes)
    found = loaded.made(detector_of).detect(inputs, dumps=True)
    seen = with_looked(found, given, knowledge)
    reading = read_evidence((*given.evidence, *given.logs, *given.outputs), found.dumps)
    begin("weighing")
    printed = log_versions(seen.facts)
    versions = {**given.stated.versions, **given.replied, **printed, **_stated(given)}
    dumps = logged_arguments(given.logs)
    choice = _as_ran(find_choice(given, dumps), seen)
    versions = {**image_versions(choice.launch), **versions}
    launch, problems = _launch(choice, given, versions, knowledge, dumps)
    named = _named(given, seen, launch)
    versions = framework_of(named).own_versions(versions)
    seen = msgspec.structs.replace(seen, facts=tuple(without_origins(seen.facts, named)))
    versions = _or_as_traced(versions, seen.facts, launch)
    facts = _facts(given, seen, launch, versions, knowledge)
    facts.add(*reading.facts)
    world = _world(facts)
    collectives = tuple(group_verdicts(reading, world))
    facts.add(*collective_facts(reading, collectives))
    shape = None if launch is None else launch.shape
    facts.add(*carried_facts(facts, shape or shape_of(facts, knowledge.models)))
    failures = rank_failures(reading.ends, seen.symptoms, knowledge.symptoms, world)
    standing = _standing(reading, failures, collectives, knowledge, world)
    facts.add(*standing_facts(standing))
    seen = _with_sighting(seen, given_up_symptom(reading))
    if failures.first is None:  # else the others wait for a rank that is gone
        drifted = None if standing.is_stuck is False else drift_symptom(collectives)
        seen = _with_sighting(seen, stall_symptom(standing) or drifted)
    seen = _with_growth(seen, reading.curves)
    seen = _with_sighting(seen, snapshot_symptom(reading.snapshots))
    facts.add(*snapshot_facts(reading.snapshots, knowledge.symptoms))
    facts.add(*memory_facts(reading.curves))
    sighted = symptom_facts(seen.symptoms)
    refused = _refused(Facts((*facts, *sighted)), launch, versions, knowledge)
    facts.add(*refused_facts(refused), *symbol_facts(facts, sighted, versions))
    kinds = failure_kinds(seen.symptoms, knowledge.symptoms)
    facts.add(*(fact("failure.family", kind, how="derived") for kind in kinds[:1]))
    if set(kinds) <= GROWING and facts.value("log.finished") is not True:
        facts.add(*forecast_facts((*seen.curves, *reading.curves), facts))
    raw = None if launch is None else launch.raw
    facts.add(*operand_facts(given.logs, raw))
    facts.add(*repairs(given, facts, kinds, raw, versions))
    framework = facts.text("launch.framework") or ""
    known = Situation(Facts((*facts, *sighted)), versions, knowledge.symptoms)
    reasoning = loaded.made(reasoner_of, engine).reason(known)
    answered = tuple(votes(knowledge.protocols.values(), reasoning.facts))
    return Conclusion(
        given=given,
        loaded=loaded,
        symptoms=seen.symptoms,
        curves=(*seen.curves, *reading.curves),
        reading=reading,
        collectives=collectives,
        standing=standing,
        failures=failures,
        reasoning=msgspec.structs.replace(
            reasoning, suggestions=(*reasoning.suggestions, *answered)
        ),
        style="config" if launch is not None and launch.style == "config" else "arg",
        launch=raw,
        resolved=None if launch is None else launch.resolved,
        shape=shape,
        alternatives=tuple(name_of(item, choice.alternatives) for item in choice.alternatives),
        refused=refused,
        unread=tuple(
            dict.fromkeys(
                (
                    *given.unread,
                    *problems,
                    *seen.unread,
                    *reading.unread,
                    *_overruled(given, framework),
                    *disagreements(given, facts, printed),
                    *overruled(given.stated, facts, versions, lang),
                )
            )
        ),
        lang=lang,
    )


def _world(facts: Facts) -> int | None:
    """Give the number of ranks: one for each card where only those were named, else as logged."""
    cards = facts.get("hardware.gpus")
    named = facts.whole("hardware.gpus") if cards is not None and cards.how == "given" else None
    return facts.whole("parallel.world_size") or named or facts.whole("log.world_size")


def _standing(
    reading: Reading,
    failures: RankFailures,
    collectives: Sequence[GroupVerdict],
    knowledge: Knowledge,
    world: int | None,
) -> JobStanding:
    """Say where the ranks stand by their stacks, or else by where they gave up."""
    accused = (failures.first.rank,) if failures.first is not None else ()
    return job_standing(
        reading.stacks or stacks_of(failures),
        knowledge.states.values(),
        world if reading.stacks else None,
        gave_up=failures.waiting,
        accused=accused or next((one.culprits for one in collectives), ()) or failures.silent,
    )


def _with_sighting(seen: Detection, found: SymptomHits | None) -> Detection:
    """Add that the job stands still, where its stacks, its collectives or a watchdog show it."""
    if found is None or found.symptom in {item.symptom for item in seen.symptoms}:
        return seen
    return msgspec.structs.replace(seen, symptoms=(*seen.symptoms, found))


def _with_growth(seen: Detection, curves: Sequence[Curve]) -> Detection:
    """Add that memory grows, where only readings of cards show it."""
    memory = leading_memory(curves)
    if memory is None or "memory-grows" in {item.symptom for item in seen.symptoms}:
        return seen
    return msgspec.structs.replace(seen, symptoms=(*seen.symptoms, *growth(memory)))


def _stated(given: Given) -> dict[str, str]:
    """Give the versions the inputs state, without those that were only replied."""
    return {name: text for name, text in given.versions.items() if name not in given.replied}


def _named(given: Given, seen: Detection, launch: Launch | None) -> str:
    """Give the framework, as the launch, the log or the user names it."""
    if launch is not None:
        return launch.raw.framework
    claimed = given.named.name if given.named is not None else ""
    logged = None if framework_of(claimed).fork_of else Facts(seen.facts).text("launch.framework")
    return logged or claimed


def _claims(given: Given, launch: Launch | None) -> tuple[Fact, ...]:
    """Say which framework the user names; one that is only installed runs no program of others."""
    choice = given.named
    if choice is None or (choice.listed and launch is not None and not launch.raw.framework):
        return ()
    return (choice.fact(),)


def _overruled(given: Given, framework: str) -> tuple[Unread, ...]:
    """Say it where the user names one framework and the inputs are another's."""
    if given.framework is None:
        return ()
    named = given.framework.fact()
    if named.kind != "launch.framework" or named.value == framework:
        return ()
    reason = f"the launch or the log is of {framework}, so it is read as that"
    return (Unread(source="--framework", text=str(named.value), reason=reason),)


def _as_ran(choice: LaunchChoice, seen: Detection) -> LaunchChoice:
    """Take a command whose log tells of several ranks for one that something else has started."""
    launch = choice.launch
    if launch is None or not launch.alone:
        return choice
    ranks = (hit.rank or 0 for found in seen.symptoms for hit in found.hits)
    world = Facts(seen.facts).number("log.world_size") or 1
    if max(ranks, default=0) < 1 and world < 2:
        return choice
    return choice._replace(launch=msgspec.structs.replace(launch, alone=False))


def _launch(
    choice: LaunchChoice,
    given: Given,
    versions: dict[str, str],
    knowledge: Knowledge,
    dumps: Sequence[Dump],
) -> tuple[Launch | None, tuple[Unread, ...]]:
    raw, unread = choice.launch, choice.unread
    if raw is None:
        raw, further = pasted_launch(given.logs)
        unread += further
    if raw is None:
        raw = printed_launch(embedded_launches(given.logs)) or dumped_launch(dumps)
    if raw is None:
        return None, unread
    raw = without_claims(raw, ran=bool(given.logs or given.notes))
    launch = settle(raw, given, versions=versions, knowledge=knowledge, dumps=dumps)
    defects = tuple(
        Unread(source=d.source, line=d.line, text=d.text, reason=d.message) for d in raw.defects
    )
    return launch, (*unread, *defects, *launch.unread)


def _or_as_traced(
    versions: dict[str, str], logged: Iterable[Fact], launch: Launch | None
) -> dict[str, str]:
    """Add the releases whose files a traceback names, where nothing says more of a package."""
    ranges = log_versions(logged, RELEASES)
    if launch is not None and launch.resolved.version is not None:
        ranges.pop(launch.raw.framework, None)
    return {**ranges, **versions}


def _refused(
    facts: Facts, launch: Launch | None, versions: dict[str, str], knowledge: Knowledge
) -> tuple[RefusedArgument, ...]:
    known = launch.resolved if launch is not None else None
    around = RefusalContext(
        launch=None if launch is None else launch.raw,
        strangers=() if known is None else known.unknown_flags,
        versions=versions,
        params=knowledge.params,
        releases=None if known is None else known.version,
        traced=log_versions(facts, RELEASES),
    )
    return refused_arguments(facts, around)


def _facts(
    given: Given,
    seen: Detection,
    launch: Launch | None,
    versions: dict[str, str],
    knowledge: Knowledge,
) -> Facts:
    """Collect facts: given on the command line, then log, launch, note, defaults, what follows."""
    own: tuple[Fact, ...] = ()
    if launch is not None:
        names = name_facts(launch.raw, launch.resolved, knowledge.params, versions)
        spoken_of = argument_facts(launch, knowledge.arguments)
        own = (*launch_facts(launch, versions), *names, *spoken_of)
    # what a note tells in passing gives way to what is set, and goes before what is assumed
    noted = [item for item in seen.facts if any(at.source == NOTE for at in item.origins)]
    shown = [item for item in seen.facts if item not in noted]
    tried = contrast_facts(given.notes, knowledge.params)
    set_ = [item for item in own if item.how not in ASSUMED]
    stage = failure_facts(seen.symptoms, knowledge.symptoms)
    replied, said = given.replies.facts, given.stated.facts
    told = (*replied, *_claims(given, launch), *said, *tried, *noted)
    known = Facts((*given.facts, *shown, *stage, *set_, *told, *own))
    known.add(*framework_facts(known, versions))
    if known.text("launch.framework") is None:
        known.add(*owner_facts(symptom_facts(seen.symptoms)))
    shape = None if launch is None else launch.shape
    facts = derive(known, knowledge, shape, torch=versions.get("torch", ""))
    facts.add(*package_facts(facts, versions))
    if given.good is not None:
        facts.add(*_changed(given.good, given, facts, knowledge))
    return facts


def _changed(good: Input, given: Given, now: Facts, knowledge: Knowledge) -> tuple[Fact, ...]:
    """Say what a launch that worked sets otherwise; it ran where nothing of this job holds."""
    alone = Given(
        scripts=(good,),
        configs=(good,) if good.kind == "config" else (),
        beside=given.beside,
        model_config=given.model_config,
    )
    raw, _ = find_launch(alone)
    if raw is None:
        return ()
    launch = settle(raw, alone, versions={}, knowledge=knowledge)
    before = derive(launch_facts(launch, {}), knowledge, launch.shape)
    return changed_facts(now, before, knowledge.params)
