"""Put the answer together from what was concluded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from trainrx.diagnosis.conclusion import (
    Conclusion,
    explaining,
    foreseen,
    nearest_causes,
    roots,
    shown,
    target,
    weighed,
)
from trainrx.diagnosis.ranks import rank_report
from trainrx.facts.all import failure_kinds
from trainrx.fix.plan import Plan, plan
from trainrx.knowledge.packages import range_votes
from trainrx.launch.choice import WHICH
from trainrx.model import __version__
from trainrx.model.facts import Origin
from trainrx.model.knowledge import Cause, Family
from trainrx.model.result import (
    Ask,
    CauseOut,
    Diagnosis,
    DifferentialItem,
    Neighbour,
    ReferenceOut,
    SymptomSeen,
    Tool,
    Verdict,
    job_summary,
)
from trainrx.model.text import Text
from trainrx.reason.asks import MOST as MOST_ASKS
from trainrx.reason.asks import Inquiry, asks
from trainrx.reason.differential import close, differential, less_if_open
from trainrx.reason.nearest import of_kind
from trainrx.reason.order import Ranking, candidates, rank, verdict, word
from trainrx.reason.score import Scored

LOOKED_AT = 5
"""Causes that may be as good as the best one."""
QUOTED = 3
MOST_NEIGHBOURS = 5
SPECIFIC = ("rank_imbalance", "growing_memory")
UNSPECIFIC = "crash_other"


def answer(done: Conclusion, top: int | None = None, *, near: bool = False) -> Diagnosis:
    """Rank, plan the fixes, phrase the questions.

    With `near`, entries in the words of what was seen are named to read, where no cause is likely.
    """
    roles = {ident: entry.role for ident, entry in done.knowledge.symptoms.items()}
    seen, echo_of = shown(done)
    active = roots(seen, echo_of, done.knowledge)
    failed = any(done.knowledge.symptoms[name].is_failure for name in active)
    ranking = rank(
        weighed(done, active) if failed else foreseen(done, active),
        done.reasoning,
        active=active,
        failed=failed,
        lang=done.lang,
    )
    finished = done.facts.value("log.finished") is True
    log_given = done.facts.value("log.given") is True
    overall = verdict(ranking, failed=failed, finished=finished, log_given=log_given)
    only_echoes = bool(active) and all(roles[name] == "echo" for name in active)
    open_ = near and overall not in ("diagnosed", "healthy") and not only_echoes
    job = target(done)
    plans = _consistent([plan(item.cause, job) for item in ranking.causes[:top]])
    is_open = overall in ("unknown", "suspected")
    possible = _possible(done, ranking, active, overall) if failed else [*ranking.causes]
    questions = asks(
        possible,
        Inquiry(
            reasoning=done.reasoning,
            loaded=done.loaded,
            families=_families(done, active) if is_open else (),
            answered=done.given.replies.ids,
            only_echoes=not ranking.causes and any(roles[name] == "echo" for name in seen),
            silent=log_given and overall == "unknown" and not seen,
            lang=done.lang,
        ),
    )
    return Diagnosis(
        tool=_tool(done),
        verdict=overall,
        job=job_summary(done.facts),
        lang=done.lang,
        symptoms=_symptoms(done, seen, echo_of),
        ranks=rank_report(done.standing, done.collectives, done.failures, done.lang),
        causes=tuple(
            _cause(item, made, ranking, echo_of, done)
            for item, made in zip(ranking.causes, plans, strict=False)
        ),
        differential=_differential(done, possible, overall) if failed else (),
        neighbours=_neighbours(done, ranking, active) if open_ else (),
        asks=() if overall == "healthy" else (*_which(done), *questions)[:MOST_ASKS],
        unread=done.unread,
        inputs=done.given.inputs,
        facts={f.kind: f.value for f in done.facts if f.value is not None},
        warnings=_warnings(done, plans),
    )


def _which(done: Conclusion) -> Iterator[Ask]:
    """Ask which of several launches ran, where nothing shows it."""
    entry = done.knowledge.facts.get(WHICH)
    if not done.alternatives or entry is None or entry.question is None or entry.ask is None:
        return
    yield Ask(
        id=WHICH,
        what=entry.question.in_(done.lang),
        how=entry.ask.in_(done.lang),
        answer="value",
        reading=done.alternatives,
        values=done.alternatives,
    )


def _possible(
    done: Conclusion, ranking: Ranking, active: set[str], overall: Verdict
) -> list[Scored]:
    """Give all causes that may be behind a failure.

    Where nobody can name it the priors are their authors': which causes the labelled failures had
    says more of where people write than of how often jobs fail so.
    """
    if overall != "unknown":
        return [*ranking.causes, *ranking.open]
    behind = explaining(done, active)
    scored = candidates(behind, done.reasoning, active=active, failed=True, lang=done.lang)
    return [less_if_open(item, done.reasoning.situation) for item in scored]


def _differential(
    done: Conclusion, possible: Sequence[Scored], overall: Verdict
) -> tuple[DifferentialItem, ...]:
    """Name what may be behind a failure that is not diagnosed: all, or those that stand close."""
    if overall == "unknown":
        return differential(possible, done.facts, done.lang)
    return differential(close(possible), done.facts, done.lang) if overall == "suspected" else ()


def _families(done: Conclusion, active: Collection[str]) -> set[Family]:
    """Give the kinds of failure that ask for a cause."""
    entries = (done.knowledge.symptoms[name] for name in active)
    return {entry.family for entry in entries if entry.family is not None and entry.is_failure}


def _neighbours(
    done: Conclusion, ranking: Ranking, active: Collection[str]
) -> tuple[Neighbour, ...]:
    """Name the nearest entries that are no cause here."""
    families = _families(done, active)
    named = {item.cause.id for item in ranking.causes}
    found = (
        Neighbour(id=cause.id, title=cause.title.in_(done.lang), words=near.words)
        for near, cause in nearest_causes(done)
        if cause.id not in named and of_kind(cause, families)
    )
    return tuple(islice(found, MOST_NEIGHBOURS))


def _consistent(plans: Sequence[Plan]) -> list[Plan]:
    """Call nothing already right that a fix of the same answer changes."""
    changed = {c.canonical for made in plans for fix in made.fixes for c in fix.changes}
    return [
        msgspec.structs.replace(
            made,
            already_right=tuple(
                item for item in made.already_right if changed.isdisjoint(item.canonical)
            ),
        )
        for made in plans
    ]


def _tool(done: Conclusion) -> Tool:
    return Tool(
        name="trainrx",
        version=__version__,
        kb=done.knowledge.digest,
        engine=done.reasoning.engine_name,
    )


def _symptoms(
    done: Conclusion, seen: Sequence[str], echo_of: Mapping[str, str]
) -> tuple[SymptomSeen, ...]:
    """List what was seen, roots first, in order of appearance."""
    shown = [
        SymptomSeen(
            id=hits.symptom,
            title=done.knowledge.symptoms[hits.symptom].title.in_(done.lang),
            family=done.knowledge.symptoms[hits.symptom].family,
            evidence=tuple(
                Origin(source=hit.source, line=hit.line, text=hit.text)
                for hit in hits.hits[:QUOTED]
            ),
            count=hits.count,
            ranks=hits.ranks,
            phase=next((hit.phase for hit in hits.hits if hit.phase), None),
            echo_of=echo_of.get(hits.symptom),
        )
        for hits in done.symptoms
        if hits.symptom in seen
    ]
    vague = {name for name in seen if done.knowledge.symptoms[name].vague}
    return tuple(sorted(shown, key=lambda item: (item.echo_of is not None, item.id in vague)))


def _cause(
    item: Scored, made: Plan, ranking: Ranking, echo_of: Mapping[str, str], done: Conclusion
) -> CauseOut:
    cause, lang = item.cause, done.lang
    effects = [name for name, root in echo_of.items() if root in cause.explains]
    # releases that are not installed, or of which nobody knows, would bury the rest
    silent = range_votes(cause)
    return CauseOut(
        id=cause.id,
        title=cause.title.in_(lang),
        summary=cause.summary.in_(lang).strip(),
        family=_family(cause, done, echo_of),
        verdict="likely" if word(item) == "likely" else "possible",
        score=round(item.score, 2),
        probability=round(item.probability, 2),
        prior=item.prior,
        reasons=tuple(r for r in item.reasons if r.holds or r.id not in silent),
        effects=(*effects, *ranking.effects.get(cause.id, ())),
        fixes=made.fixes,
        already_right=made.already_right,
        not_offered=made.not_offered,
        references=_references(item, made),
    )


def _family(cause: Cause, done: Conclusion, echo_of: Mapping[str, str]) -> Family:
    """Give the kind of failure the cause shows as in this job.

    One cause has many faces: an image that is too large ends in an OOM, or is seen as one full
    card. The face that says more goes first, then the one the entry is filed under.
    """
    symptoms = (
        done.knowledge.symptoms[hits.symptom]
        for hits in done.symptoms
        if hits.symptom in cause.explains and hits.symptom not in echo_of
    )
    shown = [(entry.family, entry.vague) for entry in symptoms if entry.family is not None]
    plain = [family for family, vague in shown if not vague]
    specific = [family for family in plain if family in SPECIFIC]
    if specific:
        return specific[0]
    if plain:
        return cause.family if cause.family in plain else plain[0]
    # "it crashes" says nothing of the kind; the class of an exception says a little
    hinted = [family for family, _ in shown if family != UNSPECIFIC]
    if not hinted and cause.family == UNSPECIFIC:
        # what a rule suggests behind any failure shows as that failure
        hinted = list(failure_kinds(done.symptoms, done.knowledge.symptoms))
    return hinted[0] if hinted and cause.family == UNSPECIFIC else cause.family


def _references(item: Scored, made: Plan) -> tuple[ReferenceOut, ...]:
    """Give the sources of what is said here: of the votes that hold and of the fixes offered."""
    holding = {reason.id for reason in item.reasons if reason.holds}
    offered = {fix.id for fix in made.fixes}
    evidence = item.cause.evidence
    votes = (*evidence.supports, *evidence.contradicts)
    used = {vote.ref for vote in votes if vote.id in holding}
    used |= {fix.ref for fix in item.cause.fixes if fix.id in offered}
    return tuple(
        ReferenceOut(url=ref.url, says=ref.says)
        for ref in item.cause.references
        if ref.url and ref.id in used
    )


FELL_BACK = Text(en="engine", zh="推理引擎")


def _warnings(done: Conclusion, plans: Sequence[Plan]) -> tuple[str, ...]:
    notes = [f"{FELL_BACK.in_(done.lang)}: {note}" for note in done.reasoning.notes]
    notes += [why for made in plans for why in made.left_out]
    return tuple(dict.fromkeys(notes))
