"""Take the evidence of small jobs that are stuck, dead or healthy: logs, stacks, recorders.

    python collect.py PYTHON PY_SPY FOLDER [NAME ...]

PYTHON has torch, datasets, requests, tokenizers, pillow and huggingface_hub; PY_SPY is the binary
of py-spy 0.4. Some jobs are dumped by pystack (`python -m pystack` has to run) or by their own
faulthandler. What is taken lies in FOLDER/NAME as it was; `trim.py` makes the samples of it.
Needs to be root: for a full disk and a limit of memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import yaml
from launches import LIMITS, MEMORY, RANKS, launch_of, start

HERE = Path(__file__).resolve().parent
SITUATIONS = HERE.parent / "situations.yaml"
ROUNDS = 3
STARTING, SETTLING, ENDING = 150, 10, 110
"""Seconds until all ranks have imported torch, at most, from then on until they are stuck, and
until all have given up."""
BY_PYSTACK = ("queue-never-filled", "slow-storage-in-worker")
BY_FAULTHANDLER = ("reward-server-hangs", "uneven-evaluation")
AS_JSON = ("slow-storage", "gather-on-rank-0", "healthy-workers", "other-collective")
STOPPED = ("killed-by-scheduler",)
LATE = {"compile-storm": 12}
"""Seconds more until a job is where it gets stuck."""


def silent_server() -> str:
    """Take connections and never answer."""
    server = socket.create_server(("127.0.0.1", 0))
    taken: list[socket.socket] = []
    threading.Thread(
        target=lambda: [taken.append(server.accept()[0]) for _ in range(99)], daemon=True
    ).start()
    return f"http://127.0.0.1:{server.getsockname()[1]}"


def furnished(home: Path, url: str) -> Path:
    for name in ("slow", "build", "full"):
        (home / name).mkdir()
    os.mkfifo(home / "pipe")
    (home / "slow" / "slow_plugin.py").write_text(f"open({str(home / 'pipe')!r}).read()\n")
    (home / "url").write_text(url)
    (home / "build" / "lock").touch()
    (home / "fused.cpp").write_text("int one() { return 1; }\n")
    (home / "broken.png").write_bytes(b"\x89PNG\r\n" + bytes(200))
    (home / "truncated.pt").write_bytes(b"PK\x03\x04" + bytes(400))
    return home


def collect(name: str, python: str, spy: str, into: Path) -> None:
    """Run one job and take what it leaves."""
    shutil.rmtree(into, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        home = furnished(Path(folder), silent_server())
        disk = name == "disk-full-at-save"
        if disk:
            mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "none", str(home / "full")]
            subprocess.run(mount, check=True)
        command = ["flock", str(home / "taken.lock"), "sleep", "600"]
        lock = subprocess.Popen(command, start_new_session=True)
        apart = name in BY_FAULTHANDLER or len(name) % 2 == 0
        launch = launch_of(name, apart=apart)
        taken = socket.create_server(("", launch.port)) if name == "port-taken" else None
        job = start(name, launch, python, home)
        try:
            take(name, job, (python, spy, home), into)
        finally:
            end(job, home, lock)
            if taken is not None:
                taken.close()
            if disk:
                subprocess.run(["umount", str(home / "full")], check=True)


def take(name: str, job: subprocess.Popen[bytes], tools: tuple[str, str, Path], into: Path) -> None:
    home = tools[2]
    wait_for(name, home, job)
    for at in range(ROUNDS):
        for rank, pid in sorted(ranks(home).items()):
            write(name, (at, rank, pid), tools, into / "stacks" / f"round{at + 1}")
        time.sleep(2)
    if job.poll() is None:
        dump_recorders(home, into)
    if name in STOPPED:
        time.sleep(1)
        os.kill(launcher(home), signal.SIGTERM)
    if not name.startswith("healthy") or name == "healthy-finished":
        for _ in range(ENDING):
            if job.poll() is not None:
                break
            time.sleep(1)
    (into / "exit").parent.mkdir(parents=True, exist_ok=True)
    (into / "exit").write_text(f"{job.poll()}\n")
    keep(name, home, into)


def launcher(home: Path) -> int:
    parent = Path(f"/proc/{ranks(home)[0]}/stat").read_text().rpartition(")")[2].split()[1]
    return int(parent)


def wait_for(name: str, home: Path, job: subprocess.Popen[bytes]) -> None:
    for _ in range(STARTING):
        if len(list(home.glob("ready*"))) == RANKS or job.poll() is not None:
            break
        time.sleep(1)
    for _ in range(SETTLING + LATE.get(name, 0)):
        if job.poll() is None:
            time.sleep(1)


def ranks(home: Path) -> dict[int, int]:
    """Give the processes of the ranks that are there."""
    found = {int(path.name[5:]): int(path.read_text() or 0) for path in home.glob("ready*")}
    return {rank: pid for rank, pid in found.items() if Path(f"/proc/{pid}/exe").exists()}


def family(pid: int) -> Iterator[int]:
    """Give a process and what it forked, itself first."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        same = Path(f"/proc/{pid}/exe").resolve()
    except OSError:
        return
    for child in children:
        if Path(f"/proc/{child}/exe").resolve() == same:
            yield from family(int(child))


def write(name: str, at: tuple[int, int, int], tools: tuple[str, str, Path], folder: Path) -> None:
    """Dump a rank and its workers."""
    _, spy, home = tools
    _, rank, pid = at
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stat").open("a") as usage:
        for number, one in enumerate(family(pid)):
            below = f"-worker{number}" if number else ""
            usage.write(f"rank{rank}{below} {stat(one)}\n")
            limits = Path(f"/proc/{one}/limits")
            if limits.exists() and limits.read_text() != Path("/proc/self/limits").read_text():
                (folder / f"rank{rank}{below}-limits").write_text(limits.read_text())
            if name in BY_PYSTACK:
                text, name_of = by_pystack(one), "{}.txt"
            elif name in BY_FAULTHANDLER:
                text, name_of = by_faulthandler(one, stderr_of(home, rank)), "{}.log"
            elif name in AS_JSON:
                text, name_of = compact(dumped(spy, one, "--json")), "py-spy-{}.json"
            else:
                text, name_of = dumped(spy, one), "{}.txt"
            if text:
                (folder / name_of.format(f"rank{rank}{below}")).write_text(text)


def stat(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().strip()
    except OSError:
        return ""


def stderr_of(home: Path, rank: int) -> Path:
    return next(home.glob(f"logs/*/attempt_0/{rank}/stderr.log"))


def dumped(spy: str, pid: int, *options: str) -> str:
    command = [spy, "dump", "--pid", str(pid), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return ""
    if not done.stdout:
        sys.stderr.write(f"py-spy {pid}: {done.stderr[-300:]}\n")
    return done.stdout


def by_pystack(pid: int) -> str:
    command = [sys.executable, "-m", "pystack", "remote", "--no-color", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout


def by_faulthandler(pid: int, errors: Path) -> str:
    before = errors.stat().st_size
    os.kill(pid, signal.SIGUSR1)
    time.sleep(1)
    return errors.read_text()[before:]


def compact(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":")) + "\n" if text else ""


def dump_recorders(home: Path, into: Path) -> None:
    """Ask the ranks that are there; one that is stopped, or holds the interpreter, leaves none."""
    for rank in ranks(home):
        try:
            pipe = os.open(home / f"dump{rank}.pipe", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            continue
        os.write(pipe, b"1")
        os.close(pipe)
    time.sleep(3)
    folder = into / "recorder"
    folder.mkdir(parents=True, exist_ok=True)
    for path in home.glob("trace_rank_*"):
        shutil.copy(path, folder / path.name)


def keep(name: str, home: Path, into: Path) -> None:
    """Copy logs, the launch and what the kernel counted of memory."""
    logs = into / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    for path in (*home.glob("*.log"), *home.glob("logs/*.log")):
        shutil.copy(path, logs / path.name)
    if (home / "torchrun.log").exists():
        for path in home.glob("logs/*/attempt_0/*/*.log"):
            target = logs / "attempt_0" / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    shutil.copy(home / "launch.sh", into / "launch.sh")
    if name in LIMITS:
        (into / "kernel.log").write_text(kernel_lines(MEMORY.name))
    (into / "home").write_text(str(home))


def kernel_lines(group: str) -> str:
    """Give the lines on the last kill for memory in a control group."""
    said = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout
    lines = said.splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if "invoked oom-killer" in line]
    last = lines[starts[-1] :] if starts else []
    wanted = ("invoked oom-killer", "limit 16", f"oom_memcg=/{group}", "Killed process")
    return "".join(line for line in last if any(text in line for text in wanted))


def end(job: subprocess.Popen[bytes], home: Path, lock: subprocess.Popen[bytes]) -> None:
    left = [one for pid in ranks(home).values() for one in family(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    for process in (job, lock):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    for wanted in sys.argv[4:] or sorted(yaml.safe_load(SITUATIONS.read_text())):
        collect(wanted, sys.argv[1], sys.argv[2], Path(sys.argv[3]) / wanted)
