"""`diagnose dry-run`: run a job small, and say what it died of or what its data lost."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from trainrx.collect.recorder import installed_packages
from trainrx.data.job import DataJob, data_job
from trainrx.data.sources import DataSource, data_format, data_sources
from trainrx.diagnosis.conclusion import Conclusion
from trainrx.dry_run.losses import FileRow, FileRows, compared, odd_values, row_in, row_of
from trainrx.dry_run.run import LOG, DryOutcome, run_dry
from trainrx.dry_run.start import DryStart, at_home, no_launch, started
from trainrx.inputs.samples import Bad, read_placed
from trainrx.inspect.inspection import tool
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.dry_run import DataLoss, DryRunAnswer, DryRunVerdict
from trainrx.model.errors import UsageError
from trainrx.model.formats import DataLayout
from trainrx.model.pattern import late
from trainrx.model.progress import begin
from trainrx.model.result import Diagnosis
from trainrx.verdict.joined import joined
from trainrx.verdict.run import diagnose

MEDIA = frozenset({"images", "image", "videos", "video", "audios", "audio"})
"""Columns of paths, which become no text."""
NOT_ALL = "not all of the data was compared"
"""What the hooks say where a row that is not found again may have been left out by them."""
OF_DATA = "data-"
"""What the rules of lint about data are called by."""
NOT_CHOSEN = frozenset({"device_map", "max_memory"})
"""What is left out without anybody missing it: there is one device."""
_MARKS = ("Error", "Exception", "error:")


class DryRunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How it is run: the interpreter, how many rows of each set, for how many seconds at most."""

    python: str = ""
    rows: int = 500
    seconds: float = 600.0


def dry_run(
    request: Request,
    loaded: LoadedKnowledge,
    options: DryRunOptions,
    around: Mapping[str, str],
    *,
    top: int | None = None,
) -> DryRunAnswer:
    """Start the job of a request on the CPU, by its own framework, up to its first steps.

    Args:
        request: the launch, and what is known of it.
        loaded: the knowledge it names.
        options: how it is run.
        around: the variables we were started with.
        top: how many causes are named where it fails.

    Raises:
        UsageError: it cannot be started; what is missing is said.
    """
    done = joined(request, loaded, top=None).done
    start = _start(done, options, around)
    request = msgspec.structs.replace(_with_versions(request, start), data="")
    known = joined(request, loaded, top=None)
    done = known.done
    job = _data_job(done)
    begin("starting")
    outcome = run_dry(
        start,
        rows=options.rows,
        world=done.facts.whole("parallel.world_size") or 1,
        seconds=options.seconds,
    )
    diagnosis = None
    if outcome.status and outcome.log.strip():
        diagnosis = _diagnosed(request, loaded, outcome, top)
    files = tuple(_files(job, outcome, options.rows))
    found = _answer(done, start, outcome, files, diagnosis)
    # what is called an error and neither stopped the job nor cost a row, is none
    refuted = found.verdict == "runs" and found.all_seen
    of_data = tuple(
        item
        for item in known.answer.findings
        if item.rule.startswith(OF_DATA) and not (refuted and item.severity == "error")
    )
    return msgspec.structs.replace(found, findings=of_data)


def _start(done: Conclusion, options: DryRunOptions, around: Mapping[str, str]) -> DryStart:
    launch = done.launch
    if launch is None:
        return started(None, Path(), options.python, around)
    beside = done.given.beside.get(launch.origin.source)
    job = _data_job(done)
    names = [*launch.configs, launch.program, *(word.text for word in launch.started)]
    values = [value for arg in launch.args for value in arg.values or ()]
    here = [job.start] if job.start is not None else []
    folder = at_home([*names, *values], [*here, Path.cwd(), *([beside] if beside else [])])
    return started(launch, folder.absolute(), options.python, around)


def _data_job(done: Conclusion) -> DataJob:
    if done.launch is None or done.resolved is None:
        raise no_launch()
    folder = done.given.beside.get(done.launch.origin.source)
    return data_job(done.launch, done.resolved, done.facts, folder)


def _with_versions(request: Request, start: DryStart) -> Request:
    if request.versions is not None or request.versions_file is not None:
        return request
    packages = installed_packages(start.words[:1], start.env)
    return msgspec.structs.replace(request, versions=packages or None)


def _diagnosed(
    request: Request, loaded: LoadedKnowledge, outcome: DryOutcome, top: int | None
) -> Diagnosis:
    with tempfile.TemporaryDirectory(prefix="trainrx-dry-run-") as name:
        log = Path(name) / LOG
        log.write_text(outcome.log, encoding="utf-8")
        asked = msgspec.structs.replace(request, logs=(*request.logs, str(log)))
        return diagnose(asked, loaded, top=top)


def _files(job: DataJob, outcome: DryOutcome, most: int) -> Iterator[FileRows]:
    """Give the rows of files that the framework took all of; else those that it loaded."""
    sources = [one for one in data_sources(job) if one.path is not None and not one.undefined]
    partial = any(item.get("taken") != item.get("rows") for item in outcome.told("loaded"))
    if not sources:
        yield from _loaded(job, outcome)
    if partial and len(sources) > 1:
        return
    chosen = any("#" in word for name in job.own.train_data for word in job.words(name))
    chosen = chosen or job.given("max_samples")
    for source in sources:
        rows = tuple(_rows(source, most if partial else None))
        if rows:
            yield FileRows(
                name=source.name, rows=rows, columns=_columns(source, job), chosen=chosen
            )


def _loaded(job: DataJob, outcome: DryOutcome) -> Iterator[FileRows]:
    """Give rows as the job loaded them: its program names its data itself."""
    form = data_format(job)
    columns = frozenset() if form is None else _taken(form.layouts) - MEDIA
    rows: dict[str, list[FileRow]] = {}
    for item in outcome.told("row"):
        values = item.get("row")
        if isinstance(values, Mapping):
            held = rows.setdefault(str(item.get("file") or ""), [])
            held.append(FileRow(int(item.get("number") or 0), None, values))
    for name, found in rows.items():
        yield FileRows(name=Path(name).name or name, rows=tuple(found), columns=columns)


MOST_ROWS = 20_000
"""Rows of a file that are compared at most."""


def _rows(source: DataSource, most: int | None) -> Iterator[FileRow]:
    if source.path is None:
        return
    try:
        held = islice(read_placed(source.path), MOST_ROWS if most is None else most)
        for number, (line, values) in enumerate(held, 1):
            if not isinstance(values, Bad):
                yield FileRow(number, line, values)
    except (UsageError, OSError, ValueError, NotImplementedError):
        return


def _columns(source: DataSource, job: DataJob) -> frozenset[str]:
    """Name the columns of texts that the framework takes of such rows."""
    form = data_format(job)
    found: set[str] = {need.column for need in (() if form is None else form.values)}
    found |= _taken(source.layouts)
    if source.entry is not None and form is not None:
        # a name the format knows that the entry forgot is what people forget
        named = source.entry.says.get("columns")
        found.update(map(str, named.values()) if isinstance(named, Mapping) else ())
        found |= _taken(form.layouts)
    return frozenset(found - MEDIA)


def _taken(layouts: Sequence[DataLayout]) -> frozenset[str]:
    found: set[str] = set()
    for layout in layouts:
        groups = (*layout.chosen_by, *layout.needs, *layout.one_of, layout.answers)
        found.update(name for group in groups for name in group)
        found.update(need.column for need in layout.values)
        if layout.conversation is not None:
            found.update(layout.conversation.columns)
    return frozenset(found)


def _answer(
    done: Conclusion,
    start: DryStart,
    outcome: DryOutcome,
    files: Sequence[FileRows],
    diagnosis: Diagnosis | None,
) -> DryRunAnswer:
    samples = tuple(outcome.told("sample"))
    losses: list[DataLoss] = [*_failed_rows(outcome, files)]
    if outcome.status and not losses:
        odd = (loss for file in files for loss in odd_values(file))
        losses += sorted(odd, key=lambda loss: loss.count)[:MOST_ODD]
    found = [compared(file, samples) for file in files] if _is_whole(outcome) else []
    losses += (loss for one in found for loss in one.losses)
    if found and not any(one.packed for one in found) and not any(one.chosen for one in files):
        losses += _fewer(outcome, losses)
    error = _last_error(outcome.log) if outcome.status else ""
    taken = sum(int(item.get("taken") or 0) for item in outcome.told("loaded"))
    return DryRunAnswer(
        tool=tool(done.knowledge),
        verdict=_verdict(outcome, losses),
        framework=done.launch.framework if done.launch else "",
        release=done.facts.text("launch.framework_version") or "",
        python=start.python,
        command=shlex.join((Path(start.words[0]).name, *start.words[1:])),
        seconds=round(outcome.seconds, 1),
        rows=sum(int(item.get("rows") or 0) for item in outcome.told("loaded")),
        taken=taken,
        reached=_reached(outcome),
        time_up=outcome.status is None,
        error=error,
        said=tuple(line for line in _errors(outcome.log) if line != error)
        if losses or error
        else (),
        all_seen=bool(found) and not any(one.packed for one in found),
        losses=tuple(losses),
        uses=tuple(use for one in found for use in one.uses),
        left_out=tuple(
            name
            for name in dict.fromkeys(str(item["what"]) for item in outcome.told("left-out"))
            if name not in NOT_CHOSEN
        ),
        notes=tuple(dict.fromkeys(str(item["what"]) for item in outcome.told("note"))),
        log=outcome.log,
        diagnosis=diagnosis,
    )


def _is_whole(outcome: DryOutcome) -> bool:
    """Tell whether all that was loaded was made into batches."""
    made = any(item.get("name") == "batches of train" for item in outcome.told("stage"))
    return made and not any(item.get("what") == NOT_ALL for item in outcome.told("note"))


def _reached(outcome: DryOutcome) -> str:
    stages = [str(item.get("name")) for item in outcome.told("stage")]
    if "done" in stages or any(outcome.told("step")):
        return "steps"
    if any(stage.startswith("batches") for stage in stages):
        return "batches"
    if "trains" in stages:
        return "prepared"
    return "loaded" if any(outcome.told("loaded")) else "started"


def _verdict(outcome: DryOutcome, losses: Sequence[DataLoss]) -> DryRunVerdict:
    reached = _reached(outcome)
    if outcome.status:
        return "stops"
    if reached not in ("steps", "batches"):
        return "unfinished"
    return "loses" if losses else "runs"


def _last_error(log: str) -> str:
    """Give the last line that says what went wrong, else the last of all."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    named = (line for line in reversed(lines) if any(mark in line for mark in _MARKS))
    return next(named, lines[-1] if lines else "")[:500]


_ERROR = late(r"(?:[A-Za-z_]+\.)*[A-Za-z_]*(?:Error|Exception)\b(?:: .*)?")
_LEFT_OUT = late(r"WARNING\b.*?(?:>> |: |\] )((?:Skipping|Dropped|Invalid|Ignoring) .*)")
MOST_SAID = MOST_ODD = 3
ALIKE, LONGEST = 24, 300
"""Characters by which lines are the same, and that are shown."""


def _errors(log: str) -> Iterator[str]:
    """Give errors and warnings of rows that were printed although the run went on, each once."""
    seen: dict[str, str] = {}
    for line in log.splitlines():
        if _ERROR.fullmatch(line.strip()):
            seen.setdefault(line.strip()[:ALIKE], line.strip()[:LONGEST])
        elif (found := _LEFT_OUT.search(line)) is not None:
            seen.setdefault(found[1][:ALIKE], found[1][:LONGEST])
    yield from islice(seen.values(), MOST_SAID)


def _failed_rows(outcome: DryOutcome, files: Sequence[FileRows]) -> Iterator[DataLoss]:
    """Name the row of the file that a function of the framework failed at."""
    if not outcome.status:
        return
    for item in (*outcome.told("failed-row"), *outcome.told("failed-sample")):
        told, read = item.get("row"), item.get("read")
        found = row_of(told, files) if isinstance(told, Mapping) else None
        if isinstance(read, str):
            found = row_in(read, files)
        found = found or _numbered(item.get("number"), files)
        if found is None:
            continue
        file, row = found
        yield DataLoss(
            kind="stopped-at-row",
            file=file.name,
            rows=(row.number,),
            lines=() if row.line is None else (row.line,),
            count=1,
            of=len(file.rows),
            shown=str(item.get("error") or ""),
        )
        return


def _numbered(number: object, files: Sequence[FileRows]) -> tuple[FileRows, FileRow] | None:
    """Give the row of a number, where there is one file: a row without texts is known by that."""
    if len(files) != 1 or not isinstance(number, int):
        return None
    rows = files[0].rows
    return (files[0], rows[number - 1]) if 0 < number <= len(rows) else None


def _fewer(outcome: DryOutcome, losses: Sequence[DataLoss]) -> Iterator[DataLoss]:
    """Count rows that are gone, where it is not known which."""
    if any(loss.kind == "row-lost" for loss in losses):
        return
    loaded = sum(int(item.get("taken") or 0) for item in outcome.told("loaded"))
    lengths: list[Any] = [item.get("rows") for item in outcome.told("rows")]
    if not lengths or any(not isinstance(length, int) for length in lengths):
        return
    kept = sum(lengths)
    if 0 < kept < loaded:
        yield DataLoss(kind="rows-fewer", count=loaded - kept, of=loaded)
