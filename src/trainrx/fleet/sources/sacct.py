"""Slurm's accounting: `sacct --json`, asked for or given as a file.

Format: slurm.schedmd.com/rest_api.html, the jobs of slurmdbd. From data_parser v0.0.39 (23.02) on
numbers are {"set", "infinite", "number"} and states are lists; before they were plain.
`stdout_expanded` is there from 24.05 on, `stdout` as it was given from 23.11 on.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from itertools import product
from pathlib import Path

import msgspec

from trainrx.fleet.record import FleetJob, JobFile
from trainrx.fleet.sources import state_digest
from trainrx.inputs.folder import wanted_files
from trainrx.model.errors import UsageError

ASKED: tuple[str, ...] = ("sacct", "--json", "--allocations", "--allusers")
PATIENCE = 600
BEGINNING = b'{"jobs"'
PEEKED = 1 << 16
NOT_BEGUN = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD"})
MOST_NODES = 20_000
_GPU = re.compile(r"^gpu(?::|$)")
_PATTERN = re.compile(r"%(\d*)([AajJNnstuxbq%])")
_GROUP = re.compile(r"[^,\[\]]*(?:\[[^\]]*\][^,\[\]]*)*")
Json = Mapping[str, object]


class SacctSource:
    """Jobs of an accounting database.

    Args:
        listing: what `sacct --json` printed; without it the command is run.
    """

    at_once = 1

    def __init__(self, listing: Path | None = None) -> None:
        self._listing = listing

    def jobs(self, since: float | None) -> Iterator[FleetJob]:
        """List the jobs that began.

        Raises:
            UsageError: there is no `sacct`, or it failed.
        """
        data = _asked(since) if self._listing is None else self._listing.read_bytes()
        for raw in _jobs(data, str(self._listing or "sacct --json")):
            job = _job(raw)
            if job is not None and not (since and job.ended and job.ended < since):
                yield job

    def prepared(self, job: FleetJob) -> FleetJob:
        """Add the digest of its output and launch, and of what was accounted."""
        paths = [Path(name) for name in (*job.launch, *job.logs)]
        if job.folder:
            paths += wanted_files(Path(job.folder), [])
        accounted = (file.data for file in job.files)
        return msgspec.structs.replace(job, inputs_digest=state_digest(paths, *accounted))


def is_sacct(path: Path) -> bool:
    """Tell by how it begins, or by its plugin, whether a file is such a listing."""
    try:
        with path.open("rb") as file:
            head = file.read(PEEKED)
    except OSError:
        return False
    squeezed = b"".join(head.split())
    return squeezed.startswith(BEGINNING) or (
        b'"jobs"' in squeezed and b"slurm" in squeezed.lower()
    )


def _asked(since: float | None) -> bytes:
    if shutil.which(ASKED[0]) is None:
        raise UsageError(
            "there is no `sacct` here: run `sacct --json > jobs.json` where there is one, then "
            "`diagnose fleet jobs.json`"
        )
    words = ASKED
    if since is not None:
        start = datetime.fromtimestamp(since, tz=timezone.utc).astimezone()
        words = (*ASKED, "--starttime", start.strftime("%Y-%m-%dT%H:%M:%S"))
    done = subprocess.run(words, capture_output=True, check=False, timeout=PATIENCE)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise UsageError(f"`{shlex.join(words)}` failed: {said[:300]}")
    return done.stdout


class _Listing(msgspec.Struct):
    """A listing whose jobs are read one by one: of a million, all at once do not fit memory."""

    jobs: list[msgspec.Raw]


def _jobs(data: bytes, name: str) -> Iterator[Json]:
    try:
        listed = msgspec.json.decode(data, type=_Listing)
        for raw in listed.jobs:
            job = msgspec.json.decode(raw)
            if isinstance(job, dict):
                yield job
    except msgspec.ValidationError as error:
        raise UsageError(
            f'{name}: expected an object with "jobs", as `sacct --json` prints it'
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name}: is no JSON as `sacct --json` prints it: {error}") from error


def _job(raw: Json) -> FleetJob | None:
    """Read a job; None where it has not begun."""
    state = _state(raw)
    if state in NOT_BEGUN or not raw.get("job_id"):
        return None
    time = _object(raw, "time")
    ident = _ident(raw)
    folder = _text(raw, "working_directory")
    return FleetJob(
        key=f"{_text(raw, 'cluster') or 'slurm'}/{ident}",
        name=_text(raw, "name") or ident,
        source="sacct",
        folder=folder if _is_own(folder, ident) else "",
        launch=_script(raw, folder),
        logs=() if _is_own(folder, ident) else tuple(_outputs(raw, folder, ident)),
        files=(JobFile(name="sacct.txt", data=_table(raw, ident, state)),),
        user=_text(raw, "user") or _text(_object(raw, "association"), "user"),
        nodes=tuple(expanded(_text(raw, "nodes"))),
        image=_text(raw, "container"),
        partition=_text(raw, "partition"),
        submitted=_number(time.get("submission")),
        started=_number(time.get("start")) or None,
        ended=_number(time.get("end")) or None,
        state=state,
        exit_code=_exit_code(raw),
        gpus=_gpus(raw),
    )


def _is_own(folder: str, ident: str) -> bool:
    """Tell a folder that is named by the number of its job; others may be of many jobs."""
    return re.search(rf"(?<!\d)0*{ident}(?!\d)", Path(folder).name) is not None


def _object(raw: Json, key: str) -> Json:
    found = raw.get(key)
    return found if isinstance(found, dict) else {}


def _text(raw: Json, key: str) -> str:
    found = raw.get(key)
    return found if isinstance(found, str) and found not in ("None assigned", "None") else ""


def _number(found: object) -> float | None:
    """Give a number as any release writes it; None where it is not set."""
    if isinstance(found, dict):
        found = found.get("number") if found.get("set") and not found.get("infinite") else None
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _word(found: object) -> str:
    if isinstance(found, list):
        found = found[0] if found else ""
    return found if isinstance(found, str) else ""


def _state(raw: Json) -> str:
    return _word(_object(raw, "state").get("current")).partition(" ")[0]


def _ident(raw: Json) -> str:
    """Give the number of a job, of one of an array as Slurm writes it: `12_3`."""
    array = _object(raw, "array")
    first, task = _number(array.get("job_id")), _number(array.get("task_id"))
    return f"{first:.0f}_{task:.0f}" if first and task is not None else str(raw["job_id"])


def _exit_code(raw: Json) -> int | None:
    code = _object(raw, "exit_code")
    signal = _object(code, "signal")
    number = _number(signal.get("id", signal.get("signal_id")))
    if number:
        return 128 + int(number)
    status = _number(code.get("return_code"))
    return None if status is None else int(status)


def _gpus(raw: Json) -> int | None:
    """Count the cards: `gres/gpu`; kinds of them (`gres/gpu:a100`) are counted in it as well."""
    tres = _object(raw, "tres").get("allocated")
    found = [one for one in tres if isinstance(one, dict)] if isinstance(tres, list) else []
    counts = {str(one.get("name")): _number(one.get("count")) for one in found if _is_gpu(one)}
    whole = counts.get("gpu") or sum(count or 0 for count in counts.values())
    return int(whole) if whole else None


def _is_gpu(one: Json) -> bool:
    return one.get("type") == "gres" and _GPU.match(str(one.get("name"))) is not None


def _script(raw: Json, folder: str) -> tuple[str, ...]:
    """Give the script `sbatch` was called with, where it still lies there."""
    try:
        words = shlex.split(_text(raw, "submit_line"))
    except ValueError:
        return ()
    for word in words[1:]:
        place = Path(folder, word)
        if not word.startswith("-") and place.is_file():
            return (str(place),)
    return ()


def _outputs(raw: Json, folder: str, ident: str) -> Iterator[str]:
    """Give what it printed: as accounted, else where Slurm writes it unless told otherwise."""
    named = [_output(raw, stream, folder, ident) for stream in ("stdout", "stderr")]
    usual = str(Path(folder, f"slurm-{ident}.out"))
    for path in dict.fromkeys(named if any(named) else [usual]):
        place = Path(path)
        if path and place.is_file() and place.stat().st_size:
            yield path


def _output(raw: Json, stream: str, folder: str, ident: str) -> str:
    whole = _text(raw, f"{stream}_expanded")
    given = whole or _filled(_text(raw, stream), raw, ident)
    return str(Path(folder, given)) if given else ""


def _filled(pattern: str, raw: Json, ident: str) -> str:
    """Fill in a pattern of `--output`: slurm.schedmd.com/sbatch.html#SECTION_FILENAME-PATTERN."""
    first, _, task = ident.partition("_")
    nodes = expanded(_text(raw, "nodes"))
    values = {
        "A": first,
        "a": task or "4294967294",
        "j": str(raw["job_id"]),
        "J": str(raw["job_id"]),
        "N": next(nodes, "").partition(".")[0],
        "u": _text(raw, "user"),
        "x": _text(raw, "name"),
        "%": "%",
        **dict.fromkeys("nst", "0"),
    }
    return _PATTERN.sub(lambda m: values.get(m[2], m[0]).rjust(int(m[1] or 0), "0"), pattern)


def _table(raw: Json, ident: str, state: str) -> bytes:
    """Write what is accounted of a job as `sacct -P` does, which the readers of evidence know."""
    code = _object(raw, "exit_code")
    status = _number(code.get("return_code")) or 0
    number = _number(_object(code, "signal").get("id")) or 0
    head = "JobID|JobName|Partition|State|ExitCode|NodeList"
    row = (ident, _text(raw, "name"), _text(raw, "partition"), state)
    return f"{head}\n{'|'.join(row)}|{status:.0f}:{number:.0f}|{_text(raw, 'nodes')}\n".encode()


def expanded(nodes: str) -> Iterator[str]:
    """Write out a list of hosts: `n[01-03,7],login` is n01, n02, n03, n7, login."""
    given = 0
    for group in _GROUP.findall(nodes):
        parts = re.split(r"\[([^\]]*)\]", group)
        choices = [list(_span(p)) if at % 2 else [p] for at, p in enumerate(parts)]
        for name in product(*choices) if group else ():
            given += 1
            if given > MOST_NODES:
                return
            yield "".join(name)


def _span(text: str) -> Iterator[str]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        if last.isdecimal() and first.isdecimal():
            numbers = range(int(first), min(int(last), int(first) + MOST_NODES) + 1)
            yield from (str(number).rjust(len(first), "0") for number in numbers)
        else:
            yield part
