"""`estimate()`: peak memory per GPU of a job, before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import msgspec

from trainrx.catalog.names import framework_facts
from trainrx.data.job import data_job
from trainrx.estimation.data import measured
from trainrx.estimation.phrasing import refused, worded
from trainrx.facts.all import derive_memory
from trainrx.frameworks import framework_of
from trainrx.inspect.inspection import LogReadings, launch_in_logs, read_logs, tool
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.launch.files import model_config as config_beside
from trainrx.launch.given import Given, gather, lengths_of
from trainrx.launch.images import image_versions
from trainrx.launch.job import (
    Launch,
    find_launch,
    launch_facts,
    settle,
)
from trainrx.launch.prose.conflicts import overruled
from trainrx.launch.request import Request
from trainrx.memory.predict import predict
from trainrx.memory.workload import workload_of
from trainrx.model.errors import UsageError
from trainrx.model.estimate import CardFit, Estimate, ExactCount
from trainrx.model.facts import Facts
from trainrx.model.findings import Unread
from trainrx.model.hardware import TokenStats
from trainrx.model.job import RawLaunch
from trainrx.model.memory import Assumption, Prediction, Refusal, Workload
from trainrx.model.progress import begin
from trainrx.model.result import job_summary
from trainrx.model.text import Lang
from trainrx.models.config import read_json
from trainrx.models.facts import shape_of

R = TypeVar("R", bound=msgspec.Struct)
DIGITS = 2
"""Of a figure: a hundredth of a GiB is far finer than any of them is known."""
MOST_CARDS = 16
MISSING = "exact-packages-missing"


def estimate(request: Request, loaded: LoadedKnowledge, *, exact: bool = False) -> Estimate:
    """Predict the peak memory per GPU of a job, GiB, term by term, and whether it fits.

    Of several training commands in the inputs the first is taken; the others stand in `unread`.

    Args:
        request: what is asked; the first of its cards is the one the answer is about.
        loaded: the knowledge it names.
        exact: also run the real model class without weights or GPU.
    """
    knowledge = loaded.launches
    cards = request.cards
    if len(cards) > MOST_CARDS:
        raise UsageError(f"--gpu stands {len(cards)} times: expected at most {MOST_CARDS} cards")
    job = _read(msgspec.structs.replace(request, cards=cards[:1]), loaded)
    begin("predicting")
    worked = _worked(job, knowledge)
    others = [_worked(_on(job, request, name, knowledge), knowledge) for name in cards[1:]]
    count = _counted(job, worked) if exact else None
    said = [_said(one, job.launch, knowledge, request.lang) for one in (worked, *others)]
    return _answer(job, said, cards, count, request.lang)


class EstimatedJob(NamedTuple):
    """The one launch that is judged, with all that was read beside it."""

    given: Given
    seen: LogReadings
    launch: Launch
    versions: dict[str, str]
    lengths: TokenStats | None
    knowledge: Knowledge
    unread: tuple[Unread, ...]


class Worked(NamedTuple):
    """A job on one card: its facts, its workload, and what that comes to."""

    facts: Facts
    workload: Workload | None
    assumptions: tuple[Assumption, ...]
    result: Prediction | Refusal


def _read(request: Request, loaded: LoadedKnowledge) -> EstimatedJob:
    """Find the launch and resolve it, and measure the data.

    Raises:
        UsageError: no input holds a launch, or the data none that can be read.
    """
    knowledge = loaded.launches
    given = gather(request, knowledge)
    seen = read_logs(given, loaded)
    versions = {**seen.versions, **given.versions}
    raw, unread = _launch(given, seen)
    if raw is None:
        raise UsageError(_no_launch(request, (*unread, *given.unread)))
    versions = {**image_versions(raw), **versions}
    versions = framework_of(raw.framework).own_versions(versions)
    launch = settle(raw, given, versions=versions, knowledge=knowledge, dumps=seen.dumps)
    defects = tuple(
        Unread(source=d.source, line=d.line, text=d.text, reason=d.message) for d in raw.defects
    )
    lengths, problems = _lengths(request, given, launch, versions, loaded)
    told = (*given.unread, *unread, *defects, *launch.unread, *seen.unread, *problems)
    return EstimatedJob(
        given, seen, launch, versions, lengths, knowledge, tuple(dict.fromkeys(told))
    )


def _lengths(
    request: Request,
    given: Given,
    launch: Launch,
    versions: dict[str, str],
    loaded: LoadedKnowledge,
) -> tuple[TokenStats | None, tuple[Unread, ...]]:
    """Measure the data: a file the caller names, or a sample of what the launch does."""
    if request.data != "":
        return lengths_of(request.data)
    facts = Facts(launch_facts(launch, versions))
    folder = given.beside.get(launch.raw.origin.source)
    job = data_job(launch.raw, launch.resolved, facts, folder)
    return measured(job, loaded.lint, request.lang)


def _on(job: EstimatedJob, request: Request, gpu: str, knowledge: Knowledge) -> EstimatedJob:
    """Give the same job on another card."""
    return job._replace(given=gather(msgspec.structs.replace(request, cards=(gpu,)), knowledge))


def _launch(given: Given, seen: LogReadings) -> tuple[RawLaunch | None, tuple[Unread, ...]]:
    raw, unread = find_launch(given, seen.dumps)
    if raw is not None:
        return raw, unread
    raw, further = launch_in_logs(given, seen.dumps)
    return raw, (*unread, *further)


def _no_launch(request: Request, unread: Sequence[Unread]) -> str:
    named = (*request.paths, *request.cmd, *request.config, *request.logs)
    reasons = "".join(f"\n  {item.source}: {item.reason}" for item in unread[:5])
    said = f"no launch found in {', '.join(named)}" if named else "no launch to estimate"
    return f"{said}: give the script or config that starts the training with --cmd{reasons}"


def _worked(job: EstimatedJob, knowledge: Knowledge) -> Worked:
    """Predict the memory of the job: the figure of an estimate, from the data's lengths as well."""
    own = launch_facts(job.launch, job.versions)
    known = Facts((*job.given.facts, *job.seen.facts, *own, *job.seen.told))
    known.add(*framework_facts(known, job.versions))
    torch = job.versions.get("torch", "")
    facts = derive_memory(known, knowledge, job.launch.shape, torch=torch)
    shape = job.launch.shape or shape_of(facts, knowledge.models)
    found = workload_of(
        facts, shape, job.lengths, models=knowledge.models, datasets=knowledge.datasets
    )
    if isinstance(found, Refusal):
        return Worked(facts, None, (), found)
    workload, assumptions = found
    return Worked(facts, workload, assumptions, predict(workload, knowledge.memory))


def _said(worked: Worked, launch: Launch, knowledge: Knowledge, lang: Lang) -> Worked:
    """Put into words what was taken for granted, and why there is no figure."""
    result = worked.result
    own = () if isinstance(result, Refusal) else result.assumptions
    merged = {item.id: item for item in (*worked.assumptions, *own)}.values()
    said = tuple(worded(item, launch, knowledge, lang) for item in merged)
    if isinstance(result, Refusal):
        result = refused(result, launch, knowledge, lang)
    return worked._replace(assumptions=said, result=result)


def _counted(job: EstimatedJob, worked: Worked) -> ExactCount | None:
    """Count with the real model class, where there is a prediction to compare with.

    Raises:
        UsageError: the packages it takes are not installed.
    """
    if worked.workload is None or isinstance(worked.result, Refusal):
        return None
    # starts a process with torch: only who asks for it pays for it
    from trainrx.exact import compare, run_exact

    raw = job.launch.raw
    text = job.given.model_config or config_beside(
        raw, raw.args, job.given.beside.get(raw.origin.source)
    )
    begin("counting")
    found = run_exact(worked.workload, None if text is None else read_json(text))
    if not isinstance(found, Refusal):
        return compare(worked.result, found)
    if found.id == MISSING:
        raise UsageError(f"--exact: {found.reason}")
    return ExactCount(refusal=found)


def _answer(
    job: EstimatedJob,
    worked: Sequence[Worked],
    cards: Sequence[str],
    count: ExactCount | None,
    lang: Lang,
) -> Estimate:
    first = worked[0]
    names = cards or ("",)
    fits = [_fit(one, name) for one, name in zip(worked, names, strict=True)]
    answer = Estimate(
        tool=tool(job.knowledge),
        job=job_summary(first.facts),
        lang=lang,
        place=job.launch.raw.origin,
        configs=job.launch.configs,
        length=None if first.workload is None else first.workload.length,
        cards=tuple(fit for fit in fits if fit.name),
        assumptions=first.assumptions,
        counted=count,
        unread=(
            *job.unread,
            *overruled(job.given.stated, first.facts, job.versions, lang),
        ),
    )
    if isinstance(first.result, Refusal):
        return rounded(msgspec.structs.replace(answer, refusal=first.result))
    found = first.result
    return rounded(
        msgspec.structs.replace(
            answer,
            verdict=found.verdict,
            limit_gib=found.limit_gib,
            allocated=found.allocated,
            reserved=found.reserved,
            card=found.card,
            peak=found.peak,
            phases=found.phases,
            host=found.host,
        )
    )


def _fit(worked: Worked, asked: str) -> CardFit:
    """Say how the job fits on one card; without a card the name is empty."""
    name = worked.facts.text("hardware.gpu") or asked or job_summary(worked.facts).gpu or ""
    size = worked.facts.number("hardware.gpu_gib")
    if isinstance(worked.result, Refusal):
        return CardFit(name=name, gib=size, refusal=worked.result)
    found = worked.result
    return CardFit(name=name, gib=size, verdict=found.verdict, card=found.card)


def rounded(record: R) -> R:
    """Round every number of a record to 0.01."""
    return msgspec.convert(_map(msgspec.to_builtins(record)), type(record))


def _map(node: object) -> object:
    if isinstance(node, float):
        return round(node, DIGITS)
    if isinstance(node, (list, tuple)):
        return [_map(item) for item in node]
    if isinstance(node, dict):
        return {key: _map(item) for key, item in node.items()}
    return node
