"""Variables by which torch records what a job did, where it does not by itself."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

from packaging.version import InvalidVersion, Version

CALLS = "2000"
"""Calls that are kept: what releases that record unasked keep."""
BUFFER = ("TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_FR_BUFFER_SIZE")
DUMP = ("TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_FR_DUMP_ON_TIMEOUT")
"""A setting by its names, the older one first."""
FIRST_RECORDER = Version("2.2")
"""Before it the variables had other names, and records no reader of ours knows."""
DUMPS = Version("2.7")
"""From here on a timeout leaves a dump unasked."""
RENAMED = Version("2.9")
"""From here on the older name of the buffer is warned about, once by each rank."""
RECORDS = Version("2.13")
"""From here on calls are recorded unasked (tried with gloo)."""
DEFAULT_DUMPS = ("{home}/.cache/torch/comm_lib_trace_rank_*", "{temporary}/nccl_trace_rank_*")
PLACES = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
_DISTRIBUTION = re.compile(r"([^-]+)-([^-]+)\.dist-info")
_SHEBANG = re.compile(rb"#!\s*(\S*python\S*)")
_MOST_LINKS = 8


def recorder_variables(torch: Version | None, env: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that are to be set for a release of torch.

    Where dumps go is left alone: another machine of the job may not have the folder. So are stacks:
    without them (TORCH_INCLUDE_STACK_TRACE) a dump does not say where a call was made. The RAS of
    NCCL is on by itself.

    Args:
        torch: the release; None is not known, and nothing is set.
        env: what the job gets; what stands there under any name stays.
    """
    if torch is None or torch < FIRST_RECORDER or torch >= RECORDS:
        return {}
    wanted = {} if any(name in env for name in BUFFER) else {BUFFER[torch >= RENAMED]: CALLS}
    if torch < DUMPS and not any(name in env for name in DUMP):
        wanted[DUMP[0]] = "1"
    return wanted


def recorder_dumps(env: Mapping[str, str], since: float) -> tuple[Path, ...]:
    """Give the dumps that were written since a time, where torch writes them."""
    given = [f"{env[name]}*" for name in PLACES if env.get(name)]
    known = {"home": env.get("HOME", "~"), "temporary": gettempdir()}
    wanted = (Path(place) for place in given or [one.format(**known) for one in DEFAULT_DUMPS])
    found = (place for one in wanted for place in sorted(one.parent.glob(one.name)))
    return tuple(place for place in found if _written(place) >= since)


def _written(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0


def installed_packages(words: Sequence[str], env: Mapping[str, str]) -> dict[str, str]:
    """Name the packages beside the interpreter a command uses, without starting it.

    Of several interpreters the first that has torch counts.
    """
    for folder in _packages(words, env):
        found = (_DISTRIBUTION.fullmatch(place.name) for place in folder.glob("*.dist-info"))
        versions = {one[1].lower().replace("_", "-"): one[2] for one in found if one is not None}
        if "torch" in versions:
            return versions
    return {}


def version_of(text: str | None) -> Version | None:
    """Read a version; None where it is none."""
    with suppress(InvalidVersion):
        return None if text is None else Version(text)
    return None


def _packages(words: Sequence[str], env: Mapping[str, str]) -> Iterator[Path]:
    """Give the folders of packages of the interpreters a command may start, the nearest first."""
    path = env.get("PATH")
    for word in (*words, "python", "python3"):
        found = shutil.which(word, path=path) if "=" not in word else None
        interpreter = None if found is None else _interpreter(Path(found), path)
        if interpreter is not None:
            for root in _roots(interpreter):
                yield from sorted(root.glob("lib/python3*/site-packages"))
                yield from sorted(root.glob("lib/python3/dist-packages"))


def _interpreter(program: Path, path: str | None) -> Path | None:
    """Give the interpreter a program is, or is written for."""
    if program.name.startswith("python"):
        return program
    try:
        with program.open("rb") as file:
            first = file.readline(512)
    except OSError:
        return None
    if first.startswith(b"#!") and b"/env " in first:
        name = first.split()[-1].decode(errors="replace")
        found = shutil.which(name, path=path) if name.startswith("python") else None
        return None if found is None else Path(found)
    shebang = _SHEBANG.match(first)
    return None if shebang is None else Path(os.fsdecode(shebang[1]))


def _roots(interpreter: Path) -> Iterator[Path]:
    """Give the roots an interpreter may have its packages below: its environment, then its base."""
    for _ in range(_MOST_LINKS):
        yield interpreter.parent.parent
        if not interpreter.is_symlink():
            return
        interpreter = interpreter.parent / interpreter.readlink()
