"""Which of the failures a log shows still stand: a job that makes steps again has overcome them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from trainrx.collect.sources import FollowedSource
from trainrx.model.facts import Origin
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.knowledge import Family, Symptom
from trainrx.model.result import SymptomSeen
from trainrx.model.text import Lang

LASTING: frozenset[Family] = frozenset({"nan_loss", "growing_memory", "slow", "rank_imbalance"})
"""What goes wrong while the job goes on."""
AGAIN = 2
"""Logged steps behind a failure by which a job shows that it goes on."""
LATER = 30.0
"""Seconds by which other files have to outlive one that logs no steps itself."""
QUOTED = 2
MOST = 8


class Going(NamedTuple):
    """How a job goes on: when it made its last step, and how far apart logged steps are."""

    stepped_at: float | None
    spacing: float
    usual: float | None


def is_fatal(symptom: Symptom | None) -> bool:
    """Tell whether something ends a job."""
    return symptom is not None and symptom.is_failure and symptom.family not in LASTING


def still_standing(
    seen: Iterable[SymptomHits],
    symptoms: Mapping[str, Symptom],
    sources: Mapping[str, FollowedSource],
    going: Going,
) -> tuple[SymptomHits, ...]:
    """Give the failures the job has not overcome."""
    return tuple(
        item
        for item in seen
        if is_fatal(symptoms.get(item.symptom))
        and any(not _is_overcome(hit, sources.get(hit.source), going) for hit in item.hits)
    )


def _is_overcome(hit: Hit, source: FollowedSource | None, going: Going) -> bool:
    if source is None:
        return False
    step = source.series.step
    if step is None:
        if going.stepped_at is None:
            return False
        return going.stepped_at - source.at > LATER + AGAIN * (going.usual or 0.0)
    if hit.step is None:
        return step > 0 and hit.phase != "end"
    return step < hit.step or step - hit.step >= AGAIN * max(1.0, going.spacing)


def has_ended(
    seen: Sequence[SymptomHits],
    symptoms: Mapping[str, Symptom],
    sources: Mapping[str, FollowedSource],
    going: Going,
) -> bool:
    """Tell whether a log says that the job came to its end, and no new start follows."""
    ends = [
        hit
        for item in seen
        if (found := symptoms.get(item.symptom)) is not None and found.role == "success"
        for hit in item.hits[-1:]
    ]
    return any(not _is_overcome(hit, sources.get(hit.source), going) for hit in ends)


def shown(
    seen: Iterable[SymptomHits],
    standing: Sequence[SymptomHits],
    symptoms: Mapping[str, Symptom],
    lang: Lang,
) -> tuple[SymptomSeen, ...]:
    """Give what was seen to go wrong, what stands first, what is vague or an echo last."""

    def order(item: SymptomHits) -> tuple[bool, bool, bool]:
        symptom = symptoms[item.symptom]
        return (item not in standing, symptom.vague, symptom.role == "echo")

    wrong = [i for i in seen if i.symptom in symptoms and symptoms[i.symptom].is_failure]
    return tuple(
        SymptomSeen(
            id=item.symptom,
            title=symptoms[item.symptom].title.in_(lang),
            family=symptoms[item.symptom].family,
            evidence=tuple(
                Origin(source=hit.source, line=hit.line, text=hit.text)
                for hit in item.hits[:QUOTED]
            ),
            count=item.count,
            ranks=item.ranks,
            phase=next((hit.phase for hit in item.hits if hit.phase), None),
        )
        for item in sorted(wrong, key=order)[:MOST]
    )
