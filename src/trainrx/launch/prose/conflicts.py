"""Where something else was given or printed than a note states: it counts, and that is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.launch.prose.hardware import family
from trainrx.launch.prose.statements import Stated
from trainrx.model.facts import STATED, Fact, Facts
from trainrx.model.findings import Unread
from trainrx.model.job import NOTE
from trainrx.model.pattern import late
from trainrx.model.text import Lang, Text

CARD, MEMORY, SEEN = "hardware.gpu", "hardware.gpu_gib", "oom.card_gib"
COMPARED = (
    *(CARD, MEMORY, "hardware.gpus", "hardware.nodes", "launch.task", "tuner.type"),
    *("parallel.zero_stage", "train.micro_batch", "train.max_length"),
)
SAME = 0.06
"""Share by which two figures of one card's memory differ at most."""
NOT_TOLD = ("default", "assumed")
NOT_SO = Text(
    en="the note says {said}, but {at} says {now}, which counts",
    zh="描述中说 {said}，但 {at} 表明是 {now}，以后者为准",
)
_PART = late(r"[.\-_+]")


def overruled(
    stated: Stated, known: Facts, versions: Mapping[str, str], lang: Lang
) -> Iterator[Unread]:
    """Say what of the statements gives way, and to what.

    Args:
        stated: what the notes state.
        known: the facts of the job.
        versions: the versions that count, by package.
        lang: the language of the text.
    """
    said = {item.kind.removeprefix(STATED): item for item in stated.facts}
    for kind in COMPARED:
        now = known.get(kind)
        if kind == MEMORY and now is None:
            now = known.get(SEEN)
        if kind in said and now is not None and _differs(kind, said[kind], now):
            yield _unread(said[kind], kind, now, lang)
            if kind == CARD:
                said.pop(MEMORY, None)
    for package, version in stated.versions.items():
        now_version = versions.get(package, version)
        if not _goes_on(version, now_version):
            text = NOT_SO.in_(lang).format(said=f"{package} {version}", at=package, now=now_version)
            yield Unread(source=NOTE, reason=text)


def _differs(kind: str, said: Fact, now: Fact) -> bool:
    if now.how in NOT_TOLD or any(at.source == NOTE for at in now.origins):
        return False
    if kind == CARD:
        return family(str(said.value)) != family(str(now.value))
    if kind == MEMORY and isinstance(said.value, float) and isinstance(now.value, (int, float)):
        return abs(now.value - said.value) > SAME * now.value
    return said.value != now.value


def _goes_on(one: str, other: str) -> bool:
    """Tell whether one version is the other, or its beginning (3.5, 3.5.3)."""
    parts = sorted((_PART.split(one.lower()), _PART.split(other.lower())), key=len)
    return parts[1][: len(parts[0])] == parts[0]


def _unread(said: Fact, kind: str, now: Fact, lang: Lang) -> Unread:
    origin = said.origins[0]
    place = str(now.origins[0]) if now.origins else kind
    text = NOT_SO.in_(lang).format(said=f"{kind} {said.value}", at=place, now=now.value)
    return Unread(source=origin.source, line=origin.line, text=origin.text, reason=text)
