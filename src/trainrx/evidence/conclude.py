"""Facts out of hits: the first in time gives them, for it is the root and not the echo."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from trainrx.evidence.frames import Frame
from trainrx.evidence.own_code import exception_of, own_facts
from trainrx.model.facts import MAX_QUOTE, Fact, Origin, Scalar, fact
from trainrx.model.job import Hit, SymptomHits
from trainrx.model.knowledge import Symptom
from trainrx.model.pattern import late
from trainrx.sanitizer.secrets import Finder

PARSED = late(r"^\s*(?:[\w./-]{1,120}: )?error: ")
"""How argparse ends a program."""
FIRST = 3
"""Hits kept per signature and rank, besides the last."""
MOST = 256
"""Ranks (or cards) told apart per signature."""

Key = tuple[int | None, Scalar | None]
"""Who a hit belongs to: its rank, and the card it names."""


class Bucket:
    """The hits of one signature by one rank."""

    __slots__ = ("count", "first", "last")

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Hit] = []
        self.last: Hit | None = None

    def wants(self) -> bool:
        """Tell whether the next hit is to be kept in full."""
        return len(self.first) < FIRST

    def hits(self) -> tuple[Hit, ...]:
        """Give the sampled hits in order."""
        return (*self.first, *((self.last,) if self.last is not None else ()))


class Tally:
    """All hits of all signatures in one log, by signature id; `repeats` are only counted."""

    def __init__(self) -> None:
        self.buckets: dict[str, dict[Key, Bucket]] = {}
        self.repeats: Counter[str] = Counter()

    def bucket(self, symptom: str, key: Key) -> Bucket:
        """Give the place for a signature's hits by one rank; ranks beyond the limit share one."""
        of_symptom = self.buckets.setdefault(symptom, {})
        found = of_symptom.get(key)
        if found is None:
            if len(of_symptom) >= MOST:
                key = (None, None)
            found = of_symptom.setdefault(key, Bucket())
        return found


def summed(tallies: list[Tally]) -> tuple[SymptomHits, ...]:
    """Put the tallies of several logs together; hits in the order of time, then of the logs."""
    found: list[SymptomHits] = []
    for symptom in dict.fromkeys(name for tally in tallies for name in tally.buckets):
        parts = [bucket for tally in tallies for bucket in tally.buckets.get(symptom, {}).values()]
        hits = sorted((hit for bucket in parts for hit in bucket.hits()), key=moment)
        ranks = sorted({hit.rank for hit in hits if hit.rank is not None})
        found.append(
            SymptomHits(
                symptom=symptom,
                count=sum(bucket.count for bucket in parts)
                + sum(tally.repeats[symptom] for tally in tallies),
                hits=tuple(hits),
                ranks=tuple(ranks),
            )
        )
    found.sort(key=lambda item: moment(item.hits[0]))
    return tuple(found)


def moment(hit: Hit) -> float:
    """Give a hit's place in time."""
    return hit.line if hit.at is None else hit.at


def quote(text: str, match: re.Match[str] | None = None) -> str:
    """Shorten a line to what may be quoted, around the match if the line is long."""
    if len(text) > MAX_QUOTE:
        start = 0 if match is None else max(0, min(match.start() - 40, len(text) - MAX_QUOTE))
        # begin with a whole word where one ends within reach
        blank = text.find(" ", max(0, start - 1), start + 40)
        start = blank + 1 if start and blank >= 0 else start
        text = _cut(text, start)
    return text.strip().replace("\0", "")


def _cut(text: str, start: int) -> str:
    """Cut a quote out of a line; a secret is hidden that would lose what says that it is one."""
    first = max(0, start - _AROUND)
    wide, begin = text[first : start + MAX_QUOTE + _AROUND], start - first
    for at, end, _ in Finder(wide).spans(wide):
        if at < begin + _AROUND or end > begin + MAX_QUOTE:
            wide = wide[:at] + "*" * (end - at) + wide[end:]
    return wide[begin : begin + MAX_QUOTE]


_AROUND = 100
"""Characters beside a secret that tell it."""
SETTINGS = ("train.", "tuner.")
"""What begins the names of facts that somebody chooses, and may compare."""
COLLATERAL = (-15, 143)
"""Exit codes of processes the launcher stopped itself."""


LOOKED_UP, NOT_RESOLVED = "ipv6-attempt-failed", "hostname-not-resolved"
"""One lookup over IPv6 that fails, as at many good starts, and a name that has no address."""
UNKNOWN_NAME = ("code", -2)
"""What the resolver answers for a name that it does not know (EAI_NONAME)."""
FEWEST_LOOKUPS = 3
LEAST_WAIT = 10
"""Seconds a client tries again and again; ranks that start together are quicker than that."""
_CLOCK = late(r"^\[[WE]\d{4} (\d\d):(\d\d):(\d\d)")
"""The time of day in front of what the C++ part of torch prints."""


def given_up_names(seen: Sequence[SymptomHits], lines: Mapping[str, int]) -> Iterator[SymptomHits]:
    """Tell a master whose name has no address: a client asks until its log ends.

    It asks again, each time later, only after IPv4 failed as well; `lines` counts those of a log.
    """
    names = {item.symptom: item for item in seen}
    if LOOKED_UP not in names or NOT_RESOLVED in names:
        return
    hits = [hit for hit in names[LOOKED_UP].hits if UNKNOWN_NAME in hit.captures]
    clocks = [clock for hit in hits if (clock := _clock(hit.text)) is not None]
    if len(clocks) < FEWEST_LOOKUPS or max(clocks) - min(clocks) < LEAST_WAIT:
        return
    if hits[-1].line >= lines.get(hits[-1].source, 0):
        told = tuple(msgspec.structs.replace(hit, symptom=NOT_RESOLVED) for hit in hits)
        yield SymptomHits(symptom=NOT_RESOLVED, count=len(told), hits=told)


def _clock(text: str) -> int | None:
    found = _CLOCK.search(text)
    return None if found is None else int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])


def signature_facts(seen: Sequence[SymptomHits], symptoms: Mapping[str, Symptom]) -> Iterator[Fact]:
    """Give the facts that entries promise, the earliest hit first.

    What somebody says of a setting in two ways ("NaN in fp16, fine in bf16") compares the two: it
    does not tell which of them this job has.
    """
    entries = [(item, symptoms[item.symptom]) for item in seen if item.symptom in symptoms]
    said = {
        (name, value)
        for _, symptom in entries
        if symptom.role == "observation"
        for name, value in symptom.facts.items()
        if name.startswith(SETTINGS)
    }
    ways = Counter(name for name, _ in said)
    for item, symptom in sorted(entries, key=lambda pair: moment(pair[0].hits[0])):
        for name, value in symptom.facts.items():
            if symptom.role != "observation" or ways[name] < 2:
                yield from _promised(name, value, item.hits)


def _promised(name: str, value: Scalar, hits: Sequence[Hit]) -> Iterator[Fact]:
    first = hits[0]
    if not isinstance(value, str) or not value.startswith("$"):
        yield fact(name, value, origin_of(first))
        return
    for hit in hits:
        captured = dict(hit.captures).get(value[1:])
        # a later hit may complete the first only when it is of the same process
        if captured is not None and hit.rank == first.rank:
            yield fact(name, captured, origin_of(hit))
            return


def crash_facts(
    seen: Sequence[SymptomHits], symptoms: Mapping[str, Symptom], ends: Iterable[Hit | None]
) -> Iterator[Fact]:
    """Derive `failure.*` of the first one: where it stands, and in which line of the user's own.

    `ends` are the tracebacks logs break off in; they are asked where no failure has one of its own.
    """
    failures = [hit for item in seen if _role(item, symptoms) == "failure" for hit in item.hits]
    hits = sorted((hit for hit in failures if hit.frame is not None), key=moment)
    hits = hits or [hit for hit in ends if hit is not None]
    if not hits:
        return
    first = hits[0]
    if first.frame is not None:
        yield from _place(Frame(*first.frame), origin_of(first))
    # a failure may be told by a line of code amid its traceback: the exception stands below
    raised = next((hit for hit in hits if exception_of(hit.text)), first)
    yield from own_facts(raised)
    error = exception_of(raised.text)
    if error:
        yield fact("failure.error", error, origin_of(raised))


def stage_facts(ends: Sequence[tuple[str, str]]) -> Iterator[Fact]:
    """Derive `log.last_phase`: the stage every log breaks off in, where they agree.

    `ends` are names of logs and the stage each is in at its end, "" where none was seen to begin.
    """
    stages = {stage for _, stage in ends}
    if len(stages) == 1 and stages.isdisjoint(("", "end")):
        origins = (Origin(source=name) for name, _ in ends[:4])
        yield fact("log.last_phase", stages.pop(), *origins, how="derived")


def _place(frame: Frame, origin: Origin) -> Iterator[Fact]:
    if frame.package:
        yield fact("failure.package", frame.package, origin, how="derived")
    yield fact("failure.file", frame.file, origin, how="derived")
    if frame.function:
        yield fact("failure.function", frame.function, origin, how="derived")


def log_facts(
    seen: Sequence[SymptomHits], symptoms: Mapping[str, Symptom], exits: Sequence[Fact]
) -> Iterator[Fact]:
    """Give `log.given`, `log.finished` and `exit.code`."""
    yield fact("log.given", True)
    ends = [_last(item) for item in seen if _role(item, symptoms) == "success"]
    if ends:
        end = max(ends, key=moment)
        failures = [_last(item) for item in seen if _role(item, symptoms) == "failure"]
        finished = all(moment(hit) <= moment(end) for hit in failures)
        yield fact("log.finished", finished, origin_of(end))
    codes = [item for item in exits if item.value not in (0, *COLLATERAL)]
    yield from (codes or list(exits))[:1]


def outlived(
    seen: Sequence[SymptomHits], symptoms: Mapping[str, Symptom]
) -> tuple[SymptomHits, ...]:
    """Leave out what a job that reached its end went on without: a package it only warned about."""
    return tuple(item for item in seen if not _is_of_packages(symptoms.get(item.symptom)))


def parsed_after(
    seen: Sequence[SymptomHits], symptoms: Mapping[str, Symptom]
) -> tuple[SymptomHits, ...]:
    """Leave out what a program went on without until its own parser ended it.

    A package that failed to load stopped nothing where the command line was read after that.
    """
    refused = (hit for item in seen for hit in item.hits if PARSED.match(hit.text))
    ends = {hit.source: moment(hit) for hit in sorted(refused, key=moment)}

    def went_on(hit: Hit) -> bool:
        return hit.source in ends and moment(hit) < ends[hit.source]

    return tuple(
        item
        for item in seen
        if not (_is_of_packages(symptoms.get(item.symptom)) and all(map(went_on, item.hits)))
    )


def _is_of_packages(symptom: Symptom | None) -> bool:
    return symptom is not None and symptom.is_failure and symptom.family == "version_conflict"


def _last(item: SymptomHits) -> Hit:
    return item.hits[-1]


def _role(item: SymptomHits, symptoms: Mapping[str, Symptom]) -> str:
    symptom = symptoms.get(item.symptom)
    return symptom.role if symptom is not None else "failure"


def origin_of(hit: Hit) -> Origin:
    """Give the place of a hit."""
    return Origin(source=hit.source, line=hit.line, text=hit.text)
