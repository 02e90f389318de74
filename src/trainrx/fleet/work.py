"""What is done with a job: a pure function that any engine runs anywhere."""

from __future__ import annotations

import hashlib
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from trainrx.api import SHARED
from trainrx.catalog.resolved import Resolved
from trainrx.diagnosis.conclusion import Conclusion
from trainrx.fleet.allocation import with_allocation
from trainrx.fleet.process import AnswerProcess
from trainrx.fleet.record import FleetJob, JobAnswer, JobFile, JobLimits, JobSite, answer_of
from trainrx.launch.images import IMAGES
from trainrx.launch.request import Request
from trainrx.model import __version__
from trainrx.model.errors import UsageError
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.result import Diagnosis
from trainrx.sanitizer.redactor import Redactor

if TYPE_CHECKING:
    from trainrx.verdict.joined import Joined

MOST_CAUSES = 5
MOST_LINES = 200
LONGEST_LINE = 200
MOST_SAID = 300
MOST_QUOTED = 12
LONGEST_QUOTE = 400
MIB = 1024 * 1024
WARMING = {
    "launch.sh": b"swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora\n",
    "train.log": b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",
}


def knowledge_serial(limits: JobLimits) -> str:
    """Name the program and the knowledge that answer: what another one said is out of date."""
    return f"{__version__}-{SHARED.loaded(Request(kb=limits.kb, rules=limits.rules)).whole.digest}"


def answer_batch(jobs: tuple[FleetJob, ...], limits: JobLimits) -> tuple[JobAnswer, ...]:
    """Answer jobs one after another, each within its limits: what an engine runs.

    Raises:
        StartError: no process to answer them comes up.
    """
    process = _process(limits, threading.get_ident())
    return tuple(process.answer(job) for job in jobs)


@lru_cache(maxsize=256)
def _process(limits: JobLimits, _thread: int) -> AnswerProcess:
    """Give the process that answers what comes to a thread; it has its knowledge loaded."""
    return AnswerProcess(limits)


def warm(limits: JobLimits) -> None:
    """Load what answering takes, so that the first job does not pay for it."""
    files = tuple(JobFile(name=name, data=data) for name, data in WARMING.items())
    examine(FleetJob(key="", name="", source="kubernetes", files=files), limits)


def examine(job: FleetJob, limits: JobLimits) -> JobAnswer:
    """Answer a job in this process, which may be ended for it; what is wrong with it is said."""
    began, computed = time.monotonic(), time.process_time()
    reset_peak()
    try:
        if job.files:
            with tempfile.TemporaryDirectory(prefix="trainrx-fleet-") as folder:
                found = _found(job, limits, _written(job, Path(folder)))
        else:
            found = _found(job, limits)
    except UsageError as error:
        found = answer_of(job, "unread", str(error)[:MOST_SAID])
    except MemoryError:
        found = answer_of(job, "killed", f"took more than {limits.memory // MIB} MiB of memory")
    except Exception as error:  # noqa: BLE001 - one defect must not stop thousands of jobs
        found = answer_of(job, "error", f"{type(error).__name__}: {error}"[:MOST_SAID])
    return msgspec.structs.replace(
        found,
        seconds=round(time.monotonic() - began, 3),
        cpu_seconds=round(time.process_time() - computed, 3),
        peak_mib=peak_mib(),
    )


def _written(job: FleetJob, folder: Path) -> str:
    """Write down what was sent along."""
    for file in job.files:
        (folder / Path(file.name).name).write_bytes(file.data)
    return str(folder)


def _found(job: FleetJob, limits: JobLimits, sent: str = "") -> JobAnswer:
    """Diagnose a job; `sent` holds what was sent along."""
    from trainrx.diagnosis.answer import LOOKED_AT
    from trainrx.verdict.joined import joined

    request = Request(
        paths=tuple(place for place in (job.folder, sent) if place),
        cmd=job.launch,
        logs=job.logs,
        gpus=job.gpus,
        nodes=len(job.nodes) or None,
        kb=limits.kb,
        rules=limits.rules,
    )
    return kept_of(job, joined(request, SHARED.loaded(request), top=LOOKED_AT))


def kept_of(job: FleetJob, known: Joined) -> JobAnswer:
    """Keep of what is known of a job what is compared across jobs."""
    from trainrx.verdict.run import verdict_of

    said, launch, spoken_of = known.answer, known.done.launch, known.done.knowledge.ranges
    verdict = verdict_of(known)
    packages = {entry.package for entry in spoken_of.values()} | {said.job.framework or ""}
    lines = launch_lines(known.done, job.folder)
    job = with_allocation(job, known.done.given)
    job = msgspec.structs.replace(job, gpus=job.gpus or said.job.gpus)
    return msgspec.structs.replace(
        answer_of(job, "unknown" if verdict == "unknown" else "answered"),
        verdict=verdict,
        causes=tuple((cause.id, cause.probability) for cause in said.causes[:MOST_CAUSES]),
        symptoms=tuple(seen.id for seen in said.symptoms[:MOST_CAUSES]),
        family=_family(said),
        quoted=_quoted(said),
        framework=said.job.framework or "",
        gpu=said.job.gpu or "",
        versions={k: v for k, v in known.done.versions.items() if k in packages},
        site=site_of(said),
        changes=_changes(said),
        image=job.image or _image(launch),
        launch_digest=_digest(lines) if launch is not None else "",
        launch_lines=tuple(line.text for line in lines[:MOST_LINES]),
        launch_places=tuple(line.place for line in lines[:MOST_LINES]),
        knowledge_serial=f"{__version__}-{known.done.knowledge.digest}",
    )


def site_of(said: Diagnosis) -> JobSite:
    """Say where a job failed, without what differs from run to run: lines, ranks, numbers."""
    facts, ranks = said.facts, said.ranks
    place = str(facts.get("failure.file") or facts.get("failure.package") or "")
    frame = f"{place}:{facts['failure.function']}" if facts.get("failure.function") else place
    if not frame and ranks is not None:
        accused = (one for one in ranks.places if one.role == "culprit")
        file, _, function = next((one.frame for one in accused), "").partition(" ")
        frame = f"{file.partition(':')[0]}:{function}" if function else file
    return JobSite(
        stage=str(facts.get("failure.phase", "")),
        frame=frame,
        collective="" if ranks is None or ranks.collective is None else ranks.collective.op,
    )


class LaunchLine(NamedTuple):
    """A setting of a launch as `name=value`, and where it stands: `launch.sh:12`."""

    text: str
    place: str


def launch_lines(done: Conclusion, folder: str = "") -> tuple[LaunchLine, ...]:
    """Give what a launch sets, wherever it does: one setting a line, sorted and masked.

    Args:
        done: what was concluded of the job.
        folder: of the job; places in it are named from there.
    """
    if done.launch is None:
        return ()
    found = {text[:LONGEST_LINE]: at for text, at in _settings(done.launch, done.resolved)}
    redactor = Redactor("secrets", list(found))
    root = folder.rstrip("/") + "/"
    return tuple(
        LaunchLine(redactor.text(text), str(at).removeprefix(root))
        for text, at in sorted(found.items(), key=itemgetter(0))
    )


def _settings(launch: RawLaunch, resolved: Resolved | None) -> Iterator[tuple[str, Origin]]:
    started = f"command={launch.framework} {launch.command} {launch.program}".rstrip()
    yield started, launch.origin
    if resolved is not None:
        stated = (one for one in resolved.arguments.values() if one.origins)
        given = [one for one in stated if one.via not in ("default", "log")]
        yield from ((f"{one.name}={one.text or one.value}", one.origins[0]) for one in given)
        # a file in the folder that sets nothing of the framework is none of its configs
        configs = {origin.source for one in given for origin in one.origins}
        for arg in resolved.unknown_flags:
            if arg.via != "config" or _is_named(arg.origin.source, configs, launch.configs):
                yield f"{arg.name}={_value(arg)}", arg.origin
    for group, args in (("launcher", launch.launcher), ("container", launch.container)):
        yield from ((f"{group}.{arg.name}={_value(arg)}", arg.origin) for arg in args)
    for var in launch.env:
        yield f"env.{var.name}={'?' if var.value is None else var.value}", var.origin


def _is_named(source: str, configs: Collection[str], named: Iterable[str]) -> bool:
    """Tell whether a file sets anything of the framework, or is named by the launch."""
    return source in configs or Path(source).name in {Path(name).name for name in named}


def _value(arg: RawArg) -> str:
    return "?" if arg.values is None else " ".join(arg.values)


def _digest(lines: Iterable[LaunchLine]) -> str:
    return hashlib.sha256(
        "\n".join(line.text for line in lines).encode("utf-8", "replace")
    ).hexdigest()[:16]


def _family(said: Diagnosis) -> str:
    families = (*(one.family for one in said.causes), *(one.family for one in said.symptoms))
    return next((family for family in families if family), "")


def _quoted(said: Diagnosis) -> tuple[str, ...]:
    """Give the lines of logs that symptoms and the first cause rest on, in order and masked."""
    logs = {read.source for read in said.inputs if read.kind == "log"}
    reasons = (reason for cause in said.causes[:1] for reason in cause.reasons if reason.holds)
    cited = {line for symptom in said.symptoms for line in symptom.evidence}
    cited |= {line for reason in reasons for line in reason.evidence}
    lines = sorted((c.source, c.line or 0, c.text) for c in cited if c.source in logs and c.text)
    texts = [text.strip()[:LONGEST_QUOTE] for _, _, text in lines[:MOST_QUOTED]]
    redactor = Redactor("secrets", texts)
    return tuple(dict.fromkeys(redactor.text(text) for text in texts))


def _changes(said: Diagnosis) -> tuple[tuple[str, str], ...]:
    fixes = (fix for cause in said.causes[:1] for fix in cause.fixes if fix.changes)
    first = next(fixes, None)
    return () if first is None else tuple((c.param, c.to or c.action) for c in first.changes)


def _image(launch: RawLaunch | None) -> str:
    container = () if launch is None else launch.container
    named = (arg.values[-1] for arg in container if arg.name in IMAGES and arg.values)
    return next(named, "")


def reset_peak() -> None:
    """Let Linux count the most memory of this process anew."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_mib() -> float:
    """Give the most memory this process had since then, else since it began."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return round(most / (MIB if sys.platform == "darwin" else 1024), 1)
    kib = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), "0")
    return round(int(kib) / 1024, 1)
