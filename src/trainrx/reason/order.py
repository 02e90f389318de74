"""Candidates into an order, and an order into a verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from trainrx.model.knowledge import Cause
from trainrx.model.result import Verdict
from trainrx.model.text import Lang
from trainrx.reason.certainty import LIKELY, SUSPECTED, bounded
from trainrx.reason.reasoner import Reasoning
from trainrx.reason.score import Scored, ruled_out, score

POSSIBLE = 0.02
FORESEEN = 0.5


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """Causes something speaks for, best first; `open` are the others that explain what was seen."""

    causes: tuple[Scored, ...]
    open: tuple[Scored, ...]
    effects: dict[str, tuple[str, ...]]


def rank(
    causes: Mapping[str, Cause],
    reasoning: Reasoning,
    *,
    active: Collection[str],
    failed: bool,
    lang: Lang,
) -> Ranking:
    """Order the causes of the active symptoms.

    A cause is named when a vote for it holds and it is possible; one that is only common behind
    such a symptom stays open. Without a failure only causes a launch alone can show are named, and
    only when they are more likely than not.
    """
    scored = candidates(causes, reasoning, active=active, failed=failed, lang=lang)
    floor = POSSIBLE if failed else FORESEEN
    named = [item for item in scored if item.supported and item.probability >= floor]
    effects = _explained_away(named, reasoning)
    hidden = {effect for found in effects.values() for effect in found}
    kept = [item for item in named if item.cause.id not in hidden]
    rest = sorted((item for item in scored if item not in named), key=_order) if failed else []
    return Ranking(causes=tuple(sorted(kept, key=_order)), open=tuple(rest), effects=effects)


def candidates(
    causes: Mapping[str, Cause],
    reasoning: Reasoning,
    *,
    active: Collection[str],
    failed: bool,
    lang: Lang,
) -> list[Scored]:
    """Weigh every cause that can be behind the active symptoms and is not ruled out.

    Votes that hold only alone are left out while another cause is at least as likely as what is
    suspected; some symptoms all but name their cause, whether or not anything else speaks for it.
    What only a rule suggests, and too little to suspect it, is left out while another cause is
    likely.
    """
    possible = [
        cause
        for cause in causes.values()
        if _is_candidate(cause, reasoning, active, failed=failed)
        and not ruled_out(cause, reasoning.situation)
    ]
    scored = [score(cause, reasoning, lang, failed=failed, alone=False) for cause in possible]
    scored = bounded(scored, reasoning)
    standing = {item.cause.id for item in scored if item.probability >= SUSPECTED}
    likely = {item.cause.id for item in scored if item.probability >= LIKELY}
    kept = [
        score(item.cause, reasoning, lang, failed=failed)
        if _has_alone(item.cause) and not standing - {item.cause.id}
        else item
        for item in scored
        if not (likely - {item.cause.id} and failed and _is_vaguely_suggested(item, active))
    ]
    return bounded(kept, reasoning)


def _is_vaguely_suggested(item: Scored, active: Collection[str]) -> bool:
    """Tell whether no symptom asks for a cause, and too little speaks for it to suspect it."""
    asked = any(symptom in active for symptom in item.cause.explains)
    return not asked and item.probability < SUSPECTED


def _is_suspected(item: Scored) -> bool:
    return item.supported and item.probability >= SUSPECTED


def _has_alone(cause: Cause) -> bool:
    return any(vote.alone for vote in cause.evidence.supports)


def verdict(ranking: Ranking, *, failed: bool, finished: bool, log_given: bool) -> Verdict:
    """Say how sure the answer is as a whole."""
    if ranking.causes:
        best = ranking.causes[0]
        if not any(map(_is_suspected, ranking.causes)):
            return "unknown"
        return "diagnosed" if failed and best.probability >= LIKELY else "suspected"
    if not failed and log_given and finished:
        return "healthy"
    return "unknown"


def word(item: Scored) -> str:
    """Give the verdict word of one cause."""
    return "likely" if item.probability >= LIKELY else "possible"


def _order(item: Scored) -> tuple[float, float, str]:
    return (-item.score, -item.unbounded, item.cause.id)


def _is_candidate(
    cause: Cause, reasoning: Reasoning, active: Collection[str], *, failed: bool
) -> bool:
    if any(symptom in active for symptom in cause.explains):
        return True
    if failed:
        return any(vote.cause == cause.id and vote.weight > 0 for vote in reasoning.suggestions)
    return cause.foreseeable


def _explained_away(named: Sequence[Scored], reasoning: Reasoning) -> dict[str, tuple[str, ...]]:
    """Give the causes a rule calls the consequence of a stronger named one, by that one."""
    standing = {item.cause.id: item.score for item in named}
    out: dict[str, list[str]] = {}
    for link in reasoning.explanations:
        effect, by = link.effect, link.by
        if link.effect_fact is None and {effect, by} <= set(standing):
            weaker = standing[by] >= standing[effect]
            out.setdefault(by, []).extend([effect] if weaker else [])
    return {by: tuple(sorted(set(found))) for by, found in out.items()}
