"""`plan_job()`: a working configuration for each hardware asked about, or the least that works."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import msgspec

from trainrx.data.job import data_job
from trainrx.estimation.data import measured
from trainrx.fix.changes import can_spell
from trainrx.frameworks import framework_of
from trainrx.inspect.inspection import read_logs, tool
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import gather, lengths_of
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.facts import Facts, Scalar
from trainrx.model.findings import Unread
from trainrx.model.hardware import TokenStats
from trainrx.model.memory import Refusal
from trainrx.model.planning import Move, OnHardware, PlanAnswer, Planned, Price
from trainrx.model.progress import begin
from trainrx.model.result import job_summary
from trainrx.prove.candidates import CandidateJob, Subject, subject_of
from trainrx.prove.enough import COUNTS, PER_NODE, SIZES, USES
from trainrx.prove.planner import PlanOutcome
from trainrx.prove.planning import search
from trainrx.prove.reread import LaunchContext
from trainrx.versions.ranges import in_range

MOST_ASKED = 16


class HardwareChoice(NamedTuple):
    """One hardware: a card by name or memory (None: that of the job), and how many in all."""

    gpu: str | None
    gpus: int | None


def plan_job(
    request: Request,
    loaded: LoadedKnowledge,
    *,
    hardware: Sequence[tuple[str | None, int | None]] = (),
    keep: Collection[str] = (),
) -> PlanAnswer:
    """Say how a job fits its hardware, and others.

    Args:
        request: what is asked.
        loaded: the knowledge it names.
        hardware: cards by name ("A100-80G") or memory ("24GiB") with their number in the whole job;
            None for either is what the job says. Without any, that of the request.
        keep: parameters that stay as they are, canonical or as the framework spells them.

    Raises:
        UsageError: an input cannot be used, or none holds a launch; says what to do.
    """
    count = len(hardware or request.cards)
    if count > MOST_ASKED:
        raise UsageError(f"{count} kinds of hardware: expected at most {MOST_ASKED}")
    lengths, unread = lengths_of(request.data)
    job = _Job(request, loaded, lengths, frozenset(keep))
    unread = (*unread, *job.of_data)
    asked = tuple(HardwareChoice(*one) for one in hardware) or tuple(
        HardwareChoice(card, request.gpus) for card in request.cards or (None,)
    )
    rows = tuple(job.on(one) for one in asked)
    return PlanAnswer(
        tool=tool(loaded.launches),
        job=job_summary(job.subject.facts),
        lang=request.lang,
        hardware=rows,
        unread=tuple(dict.fromkeys((*job.unread, *unread))),
    )


class _Job:
    """One job, moved from hardware to hardware."""

    def __init__(
        self,
        request: Request,
        loaded: LoadedKnowledge,
        lengths: TokenStats | None,
        keep: frozenset[str],
    ) -> None:
        self._request = request
        self._loaded = loaded
        self._lengths = lengths
        self._keep = keep
        around = self._around(HardwareChoice(request.gpu, request.gpus))
        found = subject_of(around)
        if found is None:
            raise UsageError(
                "no launch to plan for: give the script or config that starts the training with "
                "--cmd"
            )
        self.of_data: tuple[Unread, ...] = ()
        if request.data == "":
            place = around.given.beside.get(found.launch.raw.origin.source)
            data = data_job(found.launch.raw, found.launch.resolved, found.facts, place)
            self._lengths, self.of_data = measured(data, loaded.lint, request.lang)
            around = msgspec.structs.replace(around, lengths=self._lengths)
            found = found._replace(around=around)
        self.subject = found
        self.unread = (*around.given.unread, *found.launch.unread)
        effective = found.facts.number("batch.effective")
        self._batch = None if effective is None else int(effective)

    def on(self, asked: HardwareChoice) -> OnHardware:
        """Say how the job fits one hardware."""
        around = self._around(asked)
        subject = subject_of(around) or self.subject
        name = subject.facts.text("hardware.gpu") or asked.gpu or ""
        size = subject.facts.number("hardware.gpu_gib")
        before = CandidateJob(subject, failed=False).predicted({})
        row = OnHardware(
            name=name,
            gib=size,
            gpus=asked.gpus or _count(subject.facts),
            verdict="unknown",
            before=None if isinstance(before, Refusal) else before.card,
        )
        found = self._best(around, subject, asked)
        if isinstance(found, Refusal):
            row = msgspec.structs.replace(row, refusal=found)
            return self._least(row, asked) if found.not_enough else row
        if not found:
            return msgspec.structs.replace(row, verdict="fits")
        return msgspec.structs.replace(row, verdict="plans", plans=found)

    def _around(self, asked: HardwareChoice) -> LaunchContext:
        request = msgspec.structs.replace(
            self._request,
            cards=self._request.cards[:1] if asked.gpu is None else (asked.gpu,),
            gpus=asked.gpus or self._request.gpus,
        )
        knowledge = self._loaded.launches
        given = gather(request, knowledge)
        seen = read_logs(given, self._loaded)
        return LaunchContext(
            given=given,
            knowledge=knowledge,
            versions={**seen.versions, **given.versions},
            known=Facts((*given.facts, *seen.facts, *seen.told)),
            dumps=seen.dumps,
            lengths=self._lengths,
            lang=self._request.lang,
        )

    def _best(
        self, around: LaunchContext, subject: Subject, asked: HardwareChoice
    ) -> tuple[Planned, ...] | Refusal:
        """Give the plans of the best way to use the cards."""
        begin("proving")
        refusal: Refusal | None = None
        best: tuple[Planned, ...] | None = None
        for started in _ways(subject, asked.gpus):
            found = search(
                around, keep=self._keep, failed=False, started=started, batch=self._batch
            )
            if isinstance(found, PlanOutcome):
                if not found.plans:
                    return ()
                best = min((best, found.plans), key=_dearness) if best else found.plans
            elif refusal is None or found.not_enough:
                refusal = found
        return best or refusal or ()

    def _least(self, row: OnHardware, asked: HardwareChoice) -> OnHardware:
        """Find the fewest of these cards, and the smallest card for this number, that will do."""
        counts = (n for n in COUNTS if n > (row.gpus or 0))
        sizes = (s for s in SIZES if s > (row.gib or 0.0) + 1.0)
        fewest = next((n for n in counts if self._does(HardwareChoice(asked.gpu, n))), None)
        small = next((s for s in sizes if self._does(HardwareChoice(f"{s}GiB", asked.gpus))), None)
        return msgspec.structs.replace(
            row, verdict="none", fewest=fewest, smallest=None if small is None else float(small)
        )

    def _does(self, asked: HardwareChoice) -> bool:
        around = self._around(asked)
        subject = subject_of(around)
        return subject is not None and not isinstance(self._best(around, subject, asked), Refusal)


def _dearness(plans: tuple[Planned, ...]) -> tuple[int, float, int]:
    first = plans[0]
    return first.quality, sum(first.slowdown), len(first.changes)


def _count(facts: Facts) -> int | None:
    found = facts.number("hardware.gpus")
    return None if found is None else int(found)


def _ways(subject: Subject, gpus: int | None) -> Iterator[tuple[Move, ...]]:
    """Give the moves that use so many cards: each with a process, or one of them for the engine."""
    facts = subject.facts
    if gpus is None or _uses(facts) == gpus:
        yield ()
        return
    nodes = max(1, -(-gpus // PER_NODE))
    per_node = gpus // nodes
    shared: dict[str, Scalar] = {"parallel.processes_per_node": per_node}
    if not _has_engine(facts):
        yield _started(subject, shared, nodes, per_node)
        return
    if _places_engine(facts):
        if per_node > 1:
            apart: dict[str, Scalar] = {"parallel.processes_per_node": per_node - 1}
            apart["vllm.num_infer_workers"] = 1
            yield _started(subject, apart, nodes, per_node)
        shared["vllm.num_infer_workers"] = per_node
    yield _started(subject, shared, nodes, per_node)


def _uses(facts: Facts) -> int | None:
    """Count the cards the launch asks for: those it names, else those of its processes."""
    nodes = int(facts.number("hardware.nodes") or 1)
    per_node = facts.number("hardware.gpus_per_node")
    return None if per_node is None else int(per_node) * nodes


def _has_engine(facts: Facts) -> bool:
    return facts.value("vllm.enabled") is True


def _places_engine(facts: Facts) -> bool:
    """Tell whether infer workers say where the engine runs."""
    releases = framework_of(facts.text("launch.framework")).places_engine
    version = facts.text("launch.framework_version") or ""
    return bool(releases) and in_range(version, releases) is True


def _started(
    subject: Subject, wanted: dict[str, Scalar], nodes: int, per_node: int
) -> tuple[Move, ...]:
    candidate = CandidateJob(subject, failed=False)
    values = dict(wanted)
    if "parallel.visible_gpus" in subject.facts:
        values["parallel.visible_gpus"] = ",".join(str(n) for n in range(per_node))
    if nodes > 1 or (subject.facts.number("parallel.nodes") or 1) > 1:
        values["parallel.nodes"] = nodes
    new = tuple(
        (name, value)
        for name, value in values.items()
        if subject.facts.value(name) != value and can_spell(name, candidate.target, value)
    )
    if not new:
        return ()
    price = Price(slowdown=_slower(subject.facts, per_node * nodes), effort=1)
    return (Move(lever="hardware", values=new, price=price, why=USES),)


def _slower(facts: Facts, cards: int) -> tuple[float, float]:
    """Give how a step's time changes with the number of cards: in proportion, within 10 %."""
    now = _uses(facts)
    if not now:
        return 1.0, 1.0
    return round(0.9 * now / cards, 2), round(1.1 * now / cards, 2)
