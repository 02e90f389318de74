"""Make `tests/evidence/stacks`: start each job, wait until it is stuck, dump its ranks twice.

    python collect.py PYTHON PY_SPY [NAME ...]

PYTHON has torch, datasets, requests and huggingface_hub; PY_SPY is the binary of py-spy 0.4. Some
jobs are dumped by pystack (`python -m pystack` has to run) or by their own faulthandler.
"""

from __future__ import annotations

import json
import os
import re
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

HERE = Path(__file__).resolve().parent
DUMPS = HERE.parent / "stacks"
NAMES = sorted(
    set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', (HERE / "train.py").read_text()))
    - {"memory-report", "slow-storage-in"}
    | {"rank-never-starts", "straggler", "healthy-plain"}
)
RANKS = 3
ROUNDS = 3
STARTING, SETTLING = 240, 16
"""Seconds until all ranks have imported torch, at most, and from then on until they are stuck."""
BY_PYSTACK = ("queue-never-filled", "slow-storage-in-worker")
BY_FAULTHANDLER = ("reward-server-hangs", "uneven-evaluation")
AS_JSON = ("slow-storage", "gather-on-rank-0", "healthy-workers")


def silent_server() -> str:
    """Take connections and never answer."""
    server = socket.create_server(("127.0.0.1", 0))
    taken: list[socket.socket] = []
    threading.Thread(
        target=lambda: [taken.append(server.accept()[0]) for _ in range(99)], daemon=True
    ).start()
    return f"http://127.0.0.1:{server.getsockname()[1]}"


def furnished(home: Path, url: str) -> Path:
    (home / "slow").mkdir()
    (home / "build").mkdir()
    os.mkfifo(home / "pipe")
    (home / "slow" / "slow_plugin.py").write_text(f"open({str(home / 'pipe')!r}).read()\n")
    (home / "url").write_text(url)
    (home / "build" / "lock").touch()
    (home / "fused.cpp").write_text("int one() { return 1; }\n")
    return home


def started(name: str, python: str, home: Path) -> list[subprocess.Popen[bytes]]:
    env = {**os.environ, "STUCK_HOME": str(home), "OMP_NUM_THREADS": "1", "HF_HOME": str(home)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    world = RANKS + (name == "rank-never-starts")
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(world)}
    return [
        subprocess.Popen(
            [python, "train.py", name],
            cwd=HERE,
            env={**env, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(home / f"rank{rank}.err").open("wb"),
            start_new_session=True,
        )
        for rank in range(RANKS)
    ]


def wait_for(home: Path, ranks: list[subprocess.Popen[bytes]]) -> None:
    for _ in range(STARTING):
        if len(list(home.glob("ready*"))) == len(ranks):
            break
        time.sleep(1)
    time.sleep(SETTLING)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def family(pid: int) -> Iterator[int]:
    """Give a process and what it forked, itself first."""
    yield pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if Path(f"/proc/{child}/exe").resolve() == Path(f"/proc/{pid}/exe").resolve():
            yield from family(int(child))


def dumped(spy: str, pid: int, *options: str) -> str:
    command = [spy, "dump", "--pid", str(pid), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
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


def neutral(text: str, home: Path, python: str) -> str:
    prefix = str(Path(python).resolve().parent.parent)
    venv = str(Path(python).parent.parent)
    for before, after in ((str(HERE), "/data"), (str(home), "/data/tmp"), (venv, "/usr")):
        text = text.replace(before, after)
    text = text.replace(prefix, "/usr")
    return re.sub(r"\n{3,}", "\n\n", text)


def collect(name: str, python: str, spy: str) -> None:
    url = silent_server()
    with tempfile.TemporaryDirectory() as folder:
        home = furnished(Path(folder), url)
        command = ["flock", str(home / "taken.lock"), "sleep", "600"]
        lock = subprocess.Popen(command, start_new_session=True)
        ranks = started(name, python, home)
        try:
            wait_for(home, ranks)
            shutil.rmtree(DUMPS / name, ignore_errors=True)
            for at in range(ROUNDS):
                for rank, process in enumerate(ranks):
                    write(name, at, rank, process.pid, (python, spy, home))
                time.sleep(2)
        finally:
            for process in ranks:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            os.killpg(lock.pid, signal.SIGKILL)
            for rank in range(RANKS):
                said = (home / f"rank{rank}.err").read_text()[-600:]
                sys.stderr.write(f"{name} {rank} {said if 'Error' in said else ''}\n")


def write(name: str, at: int, rank: int, pid: int, tools: tuple[str, str, Path]) -> None:
    python, spy, home = tools
    if not Path(f"/proc/{pid}/exe").exists():
        return
    folder = DUMPS / name / f"round{at + 1}"
    folder.mkdir(parents=True, exist_ok=True)
    for number, one in enumerate(family(pid)):
        below = f"-worker{number}" if number else ""
        if name in BY_PYSTACK:
            text, name_of = by_pystack(one), "{}.txt"
        elif name in BY_FAULTHANDLER:
            text, name_of = by_faulthandler(one, home / f"rank{rank}.err"), "{}.log"
        elif name in AS_JSON:
            text, name_of = compact(dumped(spy, one, "--json")), "py-spy-{}.json"
        else:
            text, name_of = dumped(spy, one), "{}.txt"
        if text:
            target = folder / name_of.format(f"rank{rank}{below}")
            target.write_text(neutral(text, home, python))


if __name__ == "__main__":
    for wanted in sys.argv[3:] or NAMES:
        collect(wanted, sys.argv[1], sys.argv[2])
