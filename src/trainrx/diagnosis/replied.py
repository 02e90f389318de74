"""What was replied of symptoms, beside what the logs show; and where inputs say otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from trainrx.evidence.conclude import signature_facts
from trainrx.knowledge.store import Knowledge
from trainrx.launch.given import NOT_SO, Given
from trainrx.launch.replies import Looked
from trainrx.model.facts import SYMPTOM, UNSEEN, Fact, Facts, Origin, fact
from trainrx.model.findings import Unread
from trainrx.model.job import Detection, Hit, SymptomHits
from trainrx.model.pattern import late

FEWEST = 2
"""Lines of an output from which it counts that something is not among them."""
SHOWN = "{name} was answered with no, but {at} shows it, which counts"
TOO_LITTLE = "shows no sign of {name}, and is too little to tell that there is none"
_REFUSED = late(
    r"command not found|is not recognized as|[Pp]ermission denied|[Nn]ot permitted|No such file"
    r"|must be root|未找到命令|权限不够|没有那个文件"
)


def with_looked(seen: Detection, given: Given, knowledge: Knowledge) -> Detection:
    """Add the symptoms somebody saw or looked for in vain; what is shown goes before."""
    shown = {item.symptom: item.hits[0] for item in seen.symptoms}
    printed = {item.name: item.text or "" for item in given.outputs}
    hits: list[SymptomHits] = []
    facts: list[Fact] = []
    unread: list[Unread] = []
    for one in given.replies.looked:
        if (hit := shown.get(one.symptom)) is not None:
            unread += _denied(one, hit)
        elif one.seen:
            hits.append(_sighting(one))
        elif one.seen is False or _is_telling(printed[one.source]):
            origin = Origin(source=one.source, text=_said(one, "no"))
            facts.append(fact(UNSEEN + one.symptom, True, origin, how="given"))
        else:
            reason = TOO_LITTLE.format(name=SYMPTOM + one.symptom)
            unread.append(Unread(source=one.source, reason=reason))
    return msgspec.structs.replace(
        seen,
        symptoms=(*seen.symptoms, *hits),
        facts=(*seen.facts, *facts, *signature_facts(hits, knowledge.symptoms)),
        unread=(*seen.unread, *unread),
    )


def _denied(one: Looked, hit: Hit) -> Iterator[Unread]:
    if one.seen is False:
        at = f"{hit.source}:{hit.line}"
        reason = SHOWN.format(name=SYMPTOM + one.symptom, at=at)
        yield Unread(source=one.source, reason=reason, text=hit.text)


def _sighting(one: Looked) -> SymptomHits:
    hit = Hit(symptom=one.symptom, source=one.source, line=1, text=_said(one, "yes"))
    return SymptomHits(symptom=one.symptom, count=1, hits=(hit,))


def _said(one: Looked, word: str) -> str:
    return f"{SYMPTOM}{one.symptom}: {word}"


def _is_telling(output: str) -> bool:
    """Tell whether it counts that something is not in an output: the command did run."""
    return len(output.split("\n")) > FEWEST and _REFUSED.search(output) is None


def disagreements(given: Given, facts: Facts, printed: Mapping[str, str]) -> Iterator[Unread]:
    """Say where the inputs say something else than was replied: they count."""
    for said in given.replies.facts:
        known = facts.get(said.kind)
        if known is not None and known.value != said.value:
            at = f" ({known.origins[0]})" if known.origins else ""
            reason = NOT_SO.format(name=f"{said.kind} {said.value}", now=f"{known.value}{at}")
            yield Unread(source=said.origins[0].source, reason=reason)
    for name, text in given.replied.items():
        if printed.get(name, text) != text:
            now = f"{printed[name]} ({name})"
            yield Unread(source="versions", reason=NOT_SO.format(name=f"{name} {text}", now=now))
