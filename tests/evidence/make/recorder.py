"""Dumps of the flight recorder, when somebody asks for them by a file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from torch._C import _distributed_c10d as c10d


def dump_on_request(home: Path, rank: int) -> None:
    """Have a thread wait for a byte in `dump<rank>.pipe`, as the one of NCCL's own does."""
    pipe = home / f"dump{rank}.pipe"
    os.mkfifo(pipe)

    def wait() -> None:
        while True:
            pipe.read_bytes()
            (home / f"trace_rank_{rank}").write_bytes(c10d._dump_fr_trace())

    threading.Thread(target=wait, name="trace-dump", daemon=True).start()
