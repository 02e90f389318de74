"""Jobs of plain Python processes: ranks by their variables, without torch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

RANK = """\
import os, sys, threading, time
lock = threading.Lock()
def step_data():
    time.sleep(600)
def wait_for_lock():
    with lock:
        with lock:
            pass
if "worker" in sys.argv and os.environ.get("LOCAL_RANK") == "1":
    if os.fork() == 0:
        step_data()
open(sys.argv[1] + "/ready" + os.environ.get("RANK", ""), "w").close()
wait_for_lock() if os.environ.get("RANK") == "1" else step_data()
"""
SCRIPT = """\
for rank in {ranks}; do
  RANK=$rank LOCAL_RANK=$rank "{python}" "{program}" "{home}" {words} &
done
wait
"""


@contextmanager
def running(
    home: Path, ranks: int = 2, words: str = "", variables: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start ranks from a script; end them afterwards."""
    program, script = home / "train_here.py", home / "launch.sh"
    program.write_text(RANK, encoding="utf-8")
    numbers = " ".join(map(str, range(ranks)))
    given = {"python": sys.executable, "program": program, "home": home, "words": words}
    script.write_text(SCRIPT.format(ranks=numbers, **given), encoding="utf-8")
    common = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(id(home))}
    with (home / "train.log").open("wb") as log:
        process = subprocess.Popen(
            ["bash", str(script)],
            env={**os.environ, **common, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + 20
        while len(list(home.glob("ready*"))) < ranks and time.monotonic() < until:
            time.sleep(0.02)
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
