"""Ask NCCL itself which ranks it reaches and how far each of them is (RAS, since NCCL 2.24).

Its client speaks a text protocol by lines with a process of the job on this machine:
https://github.com/NVIDIA/nccl/blob/master/src/ras/client.cc. It needs no right over the process.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

from trainrx.collect.bundle import TakenItem
from trainrx.collect.commands import Runner
from trainrx.collect.processes import LiveJob
from trainrx.collect.stacks import Taken, host_folder
from trainrx.model.bundle import BundleGap, BundleItem

PORT = 28028
PROTOCOL = 2
ANSWER_LIMIT = 5
"""Seconds NCCL waits for the other ranks; then it says which did not answer."""
CONNECT_LIMIT = 1.0
MOST_BYTES = 1 << 24
COMMAND = "ncclras -f json -v"


class RasError(Exception):
    """NCCL said something else than its protocol has."""


def ras(job: LiveJob, run: Runner) -> Iterator[Taken]:
    """Take the report of NCCL, where it is asked for one: of a job without NCCL there is none."""
    host, port = _address(job)
    argv = ("ncclras", "-f", "json", "-v", "-h", host, "-p", str(port), "-t", str(ANSWER_LIMIT))
    done = run(argv, ANSWER_LIMIT + 2.0)
    at, text = done.at, done.text if done.status == 0 else ""
    if not text.strip():
        at = time.time()
        try:
            text = ask(host, port)
        except ConnectionRefusedError:
            return
        except (OSError, RasError) as error:
            said = str(error)[:200]
            yield BundleGap(
                kind="ras", reason="no-answer", name="NCCL RAS", detail=said, host=job.host
            )
            return
    item = BundleItem(
        path=f"{host_folder(job.host)}/ncclras.json",
        kind="ras",
        host=job.host,
        at=at,
        command=COMMAND,
    )
    yield TakenItem(item=item, text=text)


def _address(job: LiveJob) -> tuple[str, int]:
    said = (one.variables.get("NCCL_RAS_ADDR", "") for one in job.ranks)
    host, _, port = next(filter(None, said), "").rpartition(":")
    return host.strip("[]") or "localhost", int(port) if port.isdecimal() else PORT


def ask(host: str, port: int) -> str:
    """Ask for the state of all ranks; as JSON from NCCL 2.28 on, before as a text.

    Raises:
        OSError: nobody answers.
        RasError: somebody else does.
    """
    with socket.create_connection((host, port), CONNECT_LIMIT) as line:
        line.settimeout(ANSWER_LIMIT + 2.0)
        with line.makefile("rwb") as stream:
            stream.write(f"CLIENT PROTOCOL {PROTOCOL}\n".encode())
            stream.flush()
            if not stream.readline(200).upper().startswith(b"SERVER PROTOCOL "):
                raise RasError("what listens there is not NCCL")
            for command in (f"TIMEOUT {ANSWER_LIMIT}", "SET FORMAT json"):
                stream.write(f"{command}\n".encode())
                stream.flush()
                with suppress(TimeoutError):
                    stream.readline(200)
            stream.write(b"VERBOSE STATUS\n")
            stream.flush()
            return stream.read(MOST_BYTES).decode("utf-8", "replace")
