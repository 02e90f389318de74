"""What a job was started with: command line, scripts, configs, variables, packages."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainrx.collect.bundle import TakenItem
from trainrx.collect.processes import LiveJob
from trainrx.collect.roles import LiveProcess, is_shell
from trainrx.collect.stacks import Taken, host_folder
from trainrx.model.bundle import BundleGap, BundleItem, ItemKind

LARGEST_FILE = 1 << 20
"""Bytes of a script or a configuration that is taken."""
MOST_FILES = 20
MOST_PACKAGES = 4000
_PACKAGES = re.compile(r" (/\S[^\n]{0,400}?/(?:site|dist)-packages)/")
_PYTHON = re.compile(r"/python(\d\.\d{1,2})[td]?/(?:site|dist)-packages$|/python(\d\.\d{1,2})$")
_INFO = re.compile(
    r"(?P<name>[\w.]{1,100})-(?P<version>[\w.+!]{1,60})\.(?:dist|egg)-info", re.ASCII
)
_CONFIG = re.compile(r"(?:--?[\w.-]+=)?(?P<path>\S.*\.(?:ya?ml|json|toml))", re.IGNORECASE)


def runtime(job: LiveJob) -> Iterator[Taken]:
    """Take what the job was started with."""
    yield from _command(job)
    yield from _scripts(job)
    yield from _configs(job)
    for one in job.ranks[:1]:
        yield from _variables(one, job)
        yield from _versions(one, job)


def _command(job: LiveJob) -> Iterator[Taken]:
    """Take the words of the launcher nearest to the user, or those of a rank without one."""
    launchers = [one for one in job.processes if one.role == "launcher" and not _is_script(one)]
    for one in (*launchers, *job.ranks)[:1]:
        text = shlex.join(one.argv) + "\n"
        yield _item("command", "command.sh", text, job, f"/proc/{one.pid}/cmdline", one)


def _is_script(one: LiveProcess) -> bool:
    return bool(one.argv) and is_shell(one.argv[0])


def _scripts(job: LiveJob) -> Iterator[Taken]:
    """Take the scripts that shells run."""
    for one in job.processes:
        words = one.argv[1:] if one.role == "launcher" and _is_script(one) else ()
        named = next((word for word in words if not word.startswith("-")), "")
        if named and "-c" not in words:
            yield from _file("script", named, one, job)


def _configs(job: LiveJob) -> Iterator[Taken]:
    """Take the configurations that command lines name."""
    first = [one for one in job.processes if one.role == "launcher"] + list(job.ranks[:1])
    named = (
        (one, found["path"])
        for one in first
        for word in one.argv[1:]
        if (found := _CONFIG.fullmatch(word)) is not None
    )
    seen: set[Path] = set()
    for one, name in named:
        path = Path(one.cwd) / name
        if path not in seen and len(seen) < MOST_FILES and path.is_file():
            seen.add(path)
            yield from _file("config", name, one, job)


def _file(kind: ItemKind, name: str, one: LiveProcess, job: LiveJob) -> Iterator[Taken]:
    path = Path(one.cwd) / name
    try:
        if path.stat().st_size > LARGEST_FILE or not path.is_file():
            yield BundleGap(kind=kind, reason="too-large", name=name, host=job.host)
            return
        text = path.read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        why = str(getattr(error, "strerror", None) or error)[:200]
        yield BundleGap(kind=kind, reason="unreadable", name=name, detail=why, host=job.host)
        return
    yield _item(kind, f"{kind}s/{_safe(path.name)}", text, job, str(path), one)


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]", "-", name)[-100:] or "file"


def _item(
    kind: ItemKind, file: str, text: str, job: LiveJob, source: str, one: LiveProcess
) -> TakenItem:
    item = BundleItem(
        path=f"{host_folder(job.host)}/{file}",
        kind=kind,
        host=job.host,
        pid=one.pid,
        at=time.time(),
        source=source,
    )
    return TakenItem(item=item, text=text)


def _variables(one: LiveProcess, job: LiveJob) -> Iterator[Taken]:
    if one.variables:
        lines = (f"{name}={' '.join(value.split())}\n" for name, value in one.variables.items())
        source = f"/proc/{one.pid}/environ"
        yield _item("environment", "environment.env", "".join(lines), job, source, one)


def _versions(one: LiveProcess, job: LiveJob) -> Iterator[Taken]:
    """List the packages of its interpreter by their folders; nothing of it is run."""
    places = package_folders(one)
    lines = list(dict.fromkeys(line for place in places for line in installed(place)))
    if not lines:
        yield BundleGap(kind="versions", reason="nothing-found", host=job.host)
        return
    found = (_PYTHON.search(str(place)) for place in places)
    python = next((f"Python version: {m[1] or m[2]}\n" for m in found if m is not None), "")
    text = python + "".join(f"{line}\n" for line in sorted(lines, key=str.lower)[:MOST_PACKAGES])
    yield _item("versions", "pip_freeze.txt", text, job, ", ".join(map(str, places)), one)


def package_folders(one: LiveProcess) -> list[Path]:
    """Give the folders a process has its packages from, as it sees them itself in a container."""
    root = Path(f"/proc/{one.pid}/root")
    try:
        maps = Path(f"/proc/{one.pid}/maps").read_bytes().decode("utf-8", "replace")
    except OSError:
        maps = ""
    named = [match[1] for match in _PACKAGES.finditer(maps)]
    if one.argv and one.argv[0].startswith("/"):
        prefix = Path(one.argv[0]).parent.parent
        named += [str(path) for path in prefix.glob("lib/python3*/site-packages")]
    found = []
    for name in dict.fromkeys(named):
        inside = root / name.lstrip("/")
        path = inside if _is_dir(inside) else Path(name)
        if _is_dir(path):
            found.append(path)
    return found


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def installed(place: Path) -> Iterator[str]:
    """Name the packages of a folder as `pip freeze` does."""
    try:
        names: Iterable[str] = sorted(path.name for path in place.iterdir())
    except OSError:
        return
    for name in names:
        found = _INFO.fullmatch(name)
        if found is not None:
            yield f"{found['name'].replace('_', '-')}=={found['version']}"
