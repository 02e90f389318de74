"""The records of a fleet: a job that is to be looked at, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

SourceKind = Literal["folder", "bundle", "sacct", "kubernetes"]
JobOutcome = Literal["answered", "unknown", "unread", "killed", "timed-out", "error"]
"""answered: there is a verdict; unknown: nobody can tell why it failed; unread: there is nothing to
read; killed: answering it ended its process (memory, a signal); timed-out: it took too long; error:
a defect of this program."""


class JobFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a job that lies nowhere: what an interface gave out."""

    name: str
    data: bytes


class FleetJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job as its source lists it; None and "" are unknown.

    Attributes:
        key: names the job in this and every later run.
        name: what people call it.
        source: who listed it.
        folder: its run folder, or its bundle.
        launch: scripts and configs that start it, where they are known apart.
        logs: what it printed, where that is known apart.
        files: what is sent along, of a job that lies in no file system.
        user: who submitted it.
        nodes: the machines it ran on.
        image: of its container.
        partition: of the cluster.
        submitted: seconds since the epoch, UTC, as are `started` and `ended`.
        state: as its scheduler calls it.
        exit_code: of the job; None where it runs or nobody says.
        gpus: of the whole job.
        inputs_digest: names the state of all that is read; another one where a byte is added.
    """

    key: str
    name: str
    source: SourceKind
    folder: str = ""
    launch: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    files: tuple[JobFile, ...] = ()
    user: str = ""
    nodes: tuple[str, ...] = ()
    image: str = ""
    partition: str = ""
    submitted: float | None = None
    started: float | None = None
    ended: float | None = None
    state: str = ""
    exit_code: int | None = None
    gpus: int | None = None
    inputs_digest: str = ""


class JobLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What answering a job may take.

    Attributes:
        seconds: from its start on.
        memory: of the process that answers it, in bytes of address space.
        kb: folders of further knowledge; rules: of further rules.
    """

    seconds: float = 60.0
    memory: int = 4 << 30
    kb: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


class JobSite(msgspec.Struct, frozen=True, kw_only=True):
    """Where it failed.

    Attributes:
        stage: what the job was at (`training`, `loading the model` ...).
        frame: `package/file:function`, the innermost call of a traceback or stack.
        collective: the operation its ranks wait in.
    """

    stage: str = ""
    frame: str = ""
    collective: str = ""


class AnswerSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What of an answer is compared across jobs, small enough for a million of them in memory.

    Attributes:
        key: of the job.
        outcome: whether it was answered.
        verdict: as `diagnose` gives it; "" without.
        causes: id and probability, the likeliest first.
        family: of the likeliest cause, else of the failure; "" where there is none.
        quoted: lines of its logs that the answer rests on, masked.
        framework: what trains.
        gpu: name of the card; gpus: of the whole job.
        versions: by package, those the knowledge speaks of.
        site: where it failed.
        changes: parameter and new value of the first fix.
        nodes: the machines it ran on; user, image, partition: as its source, files or launch say.
        gpu_hours: GPUs times hours it ran.
        started: seconds since the epoch, UTC, as is `ended`.
        launch_digest: names what the launch sets.
        fingerprint: names the failure; jobs that failed alike share it.
    """

    key: str
    outcome: JobOutcome
    name: str = ""
    source: SourceKind = "folder"
    verdict: str = ""
    causes: tuple[tuple[str, float], ...] = ()
    family: str = ""
    quoted: tuple[str, ...] = ()
    framework: str = ""
    gpu: str = ""
    gpus: int | None = None
    versions: Mapping[str, str] = {}
    site: JobSite = JobSite()
    changes: tuple[tuple[str, str], ...] = ()
    nodes: tuple[str, ...] = ()
    user: str = ""
    image: str = ""
    partition: str = ""
    state: str = ""
    gpu_hours: float | None = None
    started: float | None = None
    ended: float | None = None
    launch_digest: str = ""
    fingerprint: str = ""


class JobAnswer(AnswerSummary, frozen=True, kw_only=True):
    """What came of a job, small enough to be kept for a million of them.

    Attributes:
        said: why there is no answer; "" where there is one.
        folder: of the job.
        symptoms: ids, the failure itself first.
        launch_lines: one `name=value` a line, sorted, masked; launch_places: where each stands, a
            file from the folder of the job on and its line.
        inputs_digest: names the state of what was read.
        knowledge_serial: names the program and the knowledge that answered.
        seconds: it took to answer; cpu_seconds: of a processor.
        peak_mib: memory of the process that answered.
    """

    said: str = ""
    folder: str = ""
    symptoms: tuple[str, ...] = ()
    launch_lines: tuple[str, ...] = ()
    launch_places: tuple[str, ...] = ()
    inputs_digest: str = ""
    knowledge_serial: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mib: float = 0.0


def answer_of(job: FleetJob, outcome: JobOutcome, said: str = "") -> JobAnswer:
    """Give what is known of a job before, or without, an answer."""
    hours = None
    if job.gpus and job.started and job.ended and job.ended >= job.started:
        hours = round(job.gpus * (job.ended - job.started) / 3600, 3)
    return JobAnswer(
        key=job.key,
        outcome=outcome,
        said=said,
        name=job.name,
        source=job.source,
        folder=job.folder,
        nodes=job.nodes,
        user=job.user,
        image=job.image,
        partition=job.partition,
        state=job.state,
        gpus=job.gpus,
        gpu_hours=hours,
        started=job.started,
        ended=job.ended,
        inputs_digest=job.inputs_digest,
    )
