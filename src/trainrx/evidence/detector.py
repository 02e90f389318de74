"""What the logs of a job say: symptoms, facts, and what could not be read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os import SEEK_END
from typing import Literal, NamedTuple

import msgspec

from trainrx.evidence.blocks import clean_blocks
from trainrx.evidence.conclude import (
    crash_facts,
    given_up_names,
    log_facts,
    moment,
    outlived,
    parsed_after,
    signature_facts,
    stage_facts,
    summed,
)
from trainrx.evidence.denial import clauses_of, is_unsaid
from trainrx.evidence.engine import engine_gate, kept_gate
from trainrx.evidence.matcher import Gate, needle_gate
from trainrx.evidence.out_of_memory import oom_facts
from trainrx.evidence.readers import PrintedDumps, joined
from trainrx.evidence.scan import Sampling, Scan, Signatures, sampling, size_of
from trainrx.evidence.series.facts import curves_of, series_facts
from trainrx.evidence.series.history import Series
from trainrx.evidence.series.symptoms import series_symptoms
from trainrx.evidence.shares import shared_out
from trainrx.evidence.stored import read_metrics
from trainrx.frameworks.common.owners import without_origins
from trainrx.inputs.stream import chunks
from trainrx.inputs.wrappers.unwrap import LineTimes
from trainrx.knowledge.store import Knowledge
from trainrx.knowledge.wording import read_wording, told_by_words
from trainrx.model.facts import UNSEEN, Fact, Facts, Origin, fact
from trainrx.model.findings import Unread
from trainrx.model.job import Detection, Hit, Input, SymptomHits
from trainrx.model.knowledge import Symptom
from trainrx.model.progress import advance, begin
from trainrx.model.ranks import Reading

SMALL = 1 << 17
"""Bytes of log below which plain searches (0.1 s) beat making the linear engine (seconds); once it
is made, it is loaded for logs of any size."""
PACKED = 12
"""How much larger an unpacked log is taken to be when only its packed size is known."""
FEW = 8192
"""Packed bytes that may hold any amount: repetition packs a thousandfold."""
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"

SKIPPED = "loss-scale-minimum"
"""The symptom whose lines say that loss scaling skipped a step."""

Engine = Literal["auto", "needles", "linear"]
"""`linear`: made also for a small log; `auto`: where it is not made yet, only for a larger one."""


class _Read(NamedTuple):
    """What one input says, what of it could not be read, and what is printed into it."""

    scan: Scan
    unread: tuple[Unread, ...]
    dumps: Reading | None


def _read(
    item: Input,
    signatures: Signatures,
    gate: Gate,
    most: Sampling | None = None,
    *,
    dumps: bool = False,
) -> _Read:
    """Scan one input, and look for dumps in the same pass."""
    times = LineTimes()
    unread: list[Unread] = []
    scan = Scan(item.name, signatures, gate, times, most=most)
    printed = PrintedDumps(item.name) if dumps else None
    pieces = chunks(item, unread.append, times=times)
    for block in clean_blocks(pieces if printed is None else _seen(pieces, printed)):
        scan.feed(block)
        advance(block.size)
    scan.end()
    if not scan.bytes and not unread:
        unread.append(Unread(source=item.name, reason="is empty"))
    return _Read(scan, tuple(unread), None if printed is None else printed.reading())


def _seen(pieces: Iterable[bytes], dumps: PrintedDumps) -> Iterator[bytes]:
    """Show pieces of a log to the readers of dumps on their way."""
    for piece in pieces:
        dumps.feed(piece)
        yield piece


class Detector:
    """Signatures made ready once, for any number of jobs."""

    def __init__(self, symptoms: Sequence[Symptom], *, engine: Engine = "auto") -> None:
        self.symptoms = {symptom.id: symptom for symptom in symptoms}
        # people describe what they saw, or paste the message itself
        said = [symptom for symptom in symptoms if symptom.role in ("observation", "failure")]
        printed = [symptom for symptom in symptoms if symptom.role != "observation"]
        self._notes = Signatures(said, notes=True)
        self._logs = Signatures(printed)
        self._said = needle_gate(self._notes.patterns)
        self._engine: Engine = engine
        self._linear: Gate | None = None
        self._needles = needle_gate(self._logs.patterns)

    def detect(self, inputs: Sequence[Input], *, dumps: bool = False) -> Detection:
        """Scan logs, outputs, metrics and notes; inputs of other kinds are passed over.

        Args:
            inputs: what was read; never raises, whatever its bytes.
            dumps: whether the dumps that are printed into logs and outputs are read, too.
        """
        logs = [item for item in inputs if item.kind == "log"]
        unread: list[Unread] = []
        size = sum(_size(item) for item in logs)
        begin("reading", size)
        gate = self._gate(size, unread)
        most = sampling(len(logs))

        def read_log(item: Input) -> _Read:
            # the first is that of rank 0 or the only one: the others mostly repeat its steps
            kept = None if item is logs[0] else most
            return _read(item, self._logs, gate, kept, dumps=dumps)

        read = shared_out(logs, read_log)
        # outputs are quoted by people, and few
        beside = [
            _read(item, self._logs, gate, dumps=dumps) for item in inputs if item.kind == "output"
        ]
        said = [item for item in inputs if item.kind == "note"]
        notes = [_read(item, self._notes, self._said) for item in said]
        unread += [one for each in (*read, *beside, *notes) for one in each.unread]
        metrics = [read_metrics(item, unread.append) for item in inputs if item.kind == "metrics"]
        found = self._conclude(
            [one.scan for one in read],
            (
                [one.scan for one in beside],
                [one.scan for one in notes],
                [(item.name, item.text or "") for item in said],
            ),
            metrics,
            unread,
        )
        if not dumps:
            return found
        printed = joined(one.dumps for one in (*read, *beside) if one.dumps is not None)
        return msgspec.structs.replace(found, dumps=printed)

    def follow(self, name: str, times: LineTimes) -> Scan:
        """Give the scan of a log that grows: whoever follows it feeds it."""
        return Scan(name, self._logs, self._gate(SMALL, []), times)

    def seen(self, scans: Iterable[Scan], metrics: Iterable[Series] = ()) -> Detection:
        """Say what logs that are followed have shown so far."""
        return self._conclude(list(scans), ([], [], ()), list(metrics), [])

    def _gate(self, size: int, unread: list[Unread]) -> Gate:
        if self._engine == "needles":
            return self._needles
        found = self._linear or kept_gate(self._logs.patterns)
        if found is None and (self._engine == "linear" or size >= SMALL):
            found = engine_gate(self._logs.patterns)
            if found is None:
                reason = "hyperscan cannot be imported: scanned with plain searches, slower"
                unread.append(Unread(source="hyperscan", reason=reason))
        self._linear = found
        return found or self._needles

    def _failed(self, seen: Iterable[SymptomHits]) -> bool:
        entries = (self.symptoms.get(item.symptom) for item in seen)
        return any(entry is not None and entry.is_failure for entry in entries)

    def _denied(self, texts: Iterable[tuple[str, str]], seen: Collection[str]) -> Iterator[Fact]:
        """Say of the trouble that a note denies, and nothing shows, that it was not so."""
        own = [one for one in self._notes.patterns[: self._notes.first_probe] if one.told]
        for source, text in texts:
            origin = Origin(source=source, line=1, text=" ".join(text.split()))
            for pattern in own:
                name = self._notes.symptoms[pattern.symptom].id
                if name not in seen and pattern.is_denied(text):
                    yield fact(UNSEEN + name, True, origin, how="given")

    def _standing(self, text: str) -> str:
        """Leave out of a note the trouble nobody has, and the clauses that ask about it."""
        places = [at for pattern in self._notes.patterns for at in pattern.ruled_out(text)]
        for start, end in places:
            text = text[:start] + " " * (end - start) + text[end:]
        parts = (text[start:end] for start, end in clauses_of(text))
        return " ".join(part for part in parts if not is_unsaid(part))

    def _conclude(
        self,
        scans: list[Scan],
        said: tuple[list[Scan], list[Scan], Sequence[tuple[str, str]]],
        metrics: list[Series],
        unread: list[Unread],
    ) -> Detection:
        outputs, notes, texts = said
        series = [*(one for scan in scans for one in scan.all_series()), *metrics]
        seen = ordered(summed([scan.tally for scan in scans]))
        shown = (
            *seen,
            *series_symptoms(series, {item.symptom for item in seen}),
            *given_up_names(seen, {scan.name: scan.lines for scan in scans}),
        )
        facts = Facts()
        if scans or metrics:
            exits = [item for scan in scans for item in scan.exits]
            facts.add(*log_facts(shown, self.symptoms, exits))
        if facts.value("log.finished") is True:
            shown = outlived(shown, self.symptoms)
        shown = parsed_after(shown, self.symptoms)
        printed_beside = _beside(shown, outputs)
        shown = (*shown, *printed_beside)
        # what a note repeats of the logs is no second failure
        printed = {item.symptom for item in shown}
        told = summed([scan.tally for scan in notes])
        observed = [item for item in told if item.symptom not in printed]
        if texts and not self._failed((*shown, *observed)) and not facts.value("log.finished"):
            standing = [(name, self._standing(text), text) for name, text in texts]
            observed += by_words(standing, self.symptoms)
        promised = [f for part in (shown, observed) for f in signature_facts(part, self.symptoms)]
        facts.add(*without_origins(promised))
        facts.add(*self._denied(texts, {item.symptom for item in (*shown, *told, *observed)}))
        facts.add(*oom_facts((*seen, *printed_beside, *observed), self.symptoms, facts))
        if facts.value("log.finished") is not True:
            facts.add(*crash_facts(seen, self.symptoms, (scan.ending() for scan in scans)))
            facts.add(*crash_facts(printed_beside, self.symptoms, ()))
            facts.add(*stage_facts([(scan.name, scan.phase) for scan in scans]))
        worlds = [scan.world for scan in scans if scan.world is not None]
        if worlds:
            facts.add(max(worlds, key=size_of))
        skipped = [hit.line for item in seen if item.symptom == SKIPPED for hit in item.hits]
        facts.add(*series_facts(series, skipped))
        return Detection(
            symptoms=(*shown, *observed),
            facts=tuple(facts),
            curves=curves_of(series),
            unread=tuple(unread),
            lines=sum(scan.lines for scan in scans),
            bytes=sum(scan.bytes for scan in scans),
        )


def _beside(shown: Iterable[SymptomHits], outputs: list[Scan]) -> tuple[SymptomHits, ...]:
    """Give what stands in outputs alone; their lines are no time of the job."""
    printed = {item.symptom for item in shown}
    found = summed([scan.tally for scan in outputs])
    return tuple(item for item in found if item.symptom not in printed)


def by_words(
    notes: Iterable[tuple[str, str, str]], symptoms: Mapping[str, Symptom]
) -> list[SymptomHits]:
    """Give the failure that the words of notes tell of all in all.

    Args:
        notes: the name of each, the part that is to be read, and the whole, which is quoted.
        symptoms: all there are.
    """
    wording = read_wording()
    if wording is None:
        return []
    found = [(name, text, told_by_words(read, wording)) for name, read, text in notes]
    told = [(name, text, told) for name, text, told in found if told is not None]
    if not told:
        return []
    name, text, best = max(told, key=lambda item: item[2].probability)
    face = wording.faces[best.family]
    if face not in symptoms or not symptoms[face].is_failure:
        return []
    quoted = f"[~ {', '.join(best.words)}] {' '.join(text.split())}"
    return [
        SymptomHits(
            symptom=face, hits=(Hit(symptom=face, source=name, line=1, text=quoted),), count=1
        )
    ]


def detector_of(knowledge: Knowledge) -> Detector:
    """Make the signatures of some knowledge ready."""
    return Detector(tuple(knowledge.symptoms.values()))


def _size(item: Input) -> int:
    """Give the bytes a log holds, for a packed one as far as it tells; 0 when it cannot be read."""
    if item.path is None:
        return len(item.text or "")
    try:
        size = item.path.stat().st_size
        with item.path.open("rb") as handle:
            magic = handle.read(4)
            if magic.startswith(GZIP) and size > 18:
                handle.seek(-4, SEEK_END)
                # the trailer states the unpacked size modulo 4 GiB (RFC 1952)
                return max(int.from_bytes(handle.read(4), "little"), size)
    except OSError:
        return 0
    return max(size * PACKED, SMALL if size > FEW else 0) if magic == ZSTD else size


def ordered(seen: Sequence[SymptomHits]) -> tuple[SymptomHits, ...]:
    """Order the hits of several logs by time (seconds since the first) if all are stamped.

    Else by line: within one log the order of the lines is surer than the clocks of its ranks.
    """
    hits = [hit for item in seen for hit in item.hits]
    stamps = [hit.at for hit in hits if hit.at is not None]
    stamped = len(stamps) == len(hits) and len({hit.source for hit in hits}) > 1
    start = min(stamps, default=0.0)
    found = [
        msgspec.structs.replace(
            item, hits=tuple(sorted(_timed(item.hits, start, stamped=stamped), key=moment))
        )
        for item in seen
    ]
    # of those on one line the names decide: how a log was cut into pieces is no order
    return tuple(sorted(found, key=lambda item: (moment(item.hits[0]), item.symptom)))


def _timed(hits: Sequence[Hit], start: float, *, stamped: bool) -> Iterator[Hit]:
    for hit in hits:
        at = round(hit.at - start, 6) if stamped and hit.at is not None else float(hit.line)
        yield msgspec.structs.replace(hit, at=at, stamped=stamped)
