"""Jobs of which people told the outcome, as labelled cases: what `make fit` learns from.

A case has the shape of `tests/cases/threads`. Nothing in it names a person, a machine or a folder:
its id is a digest, and all its texts are masked strictly.
"""

from __future__ import annotations

import hashlib
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path

import yaml

from trainrx.fleet.across.runs import failed
from trainrx.fleet.history.store import ToldOutcome
from trainrx.fleet.record import JobAnswer
from trainrx.model.errors import UsageError
from trainrx.sanitizer import MASK
from trainrx.sanitizer.redactor import Redactor

APART = ("env", "launcher", "container", "command")
"""What a line of a launch begins with that is no argument of the program."""
SOURCE = "fleet"
CONFIDENCE = "confirmed"


def export(
    answers: Iterable[JobAnswer], told: Iterable[ToldOutcome], folder: Path
) -> tuple[Path, ...]:
    """Write a case for each failed job of which somebody told what helped; gives the files.

    Raises:
        UsageError: the folder cannot be written.
    """
    worked: dict[str, list[ToldOutcome]] = defaultdict(list)
    for one in told:
        if one.worked and one.param:
            worked[one.job].append(one)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for answer in answers:
            if worked[answer.key] and failed(answer) and answer.family:
                path = folder / f"{_name(answer)}.yaml"
                path.write_text(_text(case_of(answer, worked[answer.key])), encoding="utf-8")
                written.append(path)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return tuple(written)


def case_of(answer: JobAnswer, worked: Iterable[ToldOutcome]) -> dict[str, object]:
    """Give a job as a case, masked."""
    fixes = list(worked)
    texts = (*answer.launch_lines, *answer.quoted, *(one.value for one in fixes))
    redactor = Redactor("strict", texts)
    lines = [redactor.text(line) for line in answer.launch_lines]
    return {
        "id": _name(answer),
        "source": SOURCE,
        "date": _date(answer),
        "framework": answer.framework,
        "framework_version": answer.versions.get(answer.framework),
        "versions": dict(answer.versions),
        "hardware": {
            "gpu": answer.gpu or None,
            "gpus": answer.gpus,
            "nodes": len(answer.nodes) or None,
        },
        "env": dict(_env(lines)),
        "cmd": _command(lines),
        "log": "".join(f"{redactor.text(line)}\n" for line in answer.quoted),
        "observed": "",
        "symptom": answer.family,
        "causes": [],
        "fixes": [_fix(one, redactor, answer.versions) for one in fixes],
        "confidence": CONFIDENCE,
        "notes": "Told by the person who ran the job; the launch is put together from its settings",
    }


def _text(case: Mapping[str, object]) -> str:
    return yaml.safe_dump(case, sort_keys=False, allow_unicode=True, width=100)


def _name(answer: JobAnswer) -> str:
    named = f"{answer.key}\0{answer.inputs_digest}".encode("utf-8", "replace")
    return f"fleet-{hashlib.blake2b(named, digest_size=6).hexdigest()}"


def _date(answer: JobAnswer) -> str:
    at = next((at for at in (answer.ended, answer.started) if at is not None), None)
    return "" if at is None else datetime.fromtimestamp(at, tz=timezone.utc).date().isoformat()


def _env(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give the variables whose values are known and no secret."""
    for line in lines:
        name, _, value = line.partition("=")
        if name.startswith("env.") and value != "?" and MASK not in value:
            yield name.removeprefix("env."), value


def _command(lines: Iterable[str]) -> str:
    """Put a command together: what is started, then each argument."""
    named = [line.partition("=")[::2] for line in lines]
    started = next((value for name, value in named if name == "command"), "")
    if not started:
        return ""
    _, *command = started.split(" ")
    program, words = command[-1:], command[:-1]
    arguments = (
        f"--{name} {shlex.join(value.split())}".rstrip()
        for name, value in named
        if name.partition(".")[0] not in APART and value != "?"
    )
    return " \\\n  ".join((" ".join((*program, *words)), *arguments)) + "\n"


def _fix(one: ToldOutcome, redactor: Redactor, versions: Mapping[str, str]) -> dict[str, str]:
    kind = "env" if one.param.isupper() else "package" if one.param in versions else "arg"
    value = redactor.text(one.value)
    return {"param": one.param, "action": "set", "value": value, "kind": kind}
