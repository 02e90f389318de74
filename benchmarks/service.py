"""How the service holds under load: many requests at once, each with a log of a megabyte.

    python benchmarks/service.py [--at-once 200] [--seconds 60] [--megabytes 1] [--agents]

With --agents the same is asked of the tool `diagnose` over streamable HTTP, as agents do. Prints
the time of one request alone, the median and the 95th percentile under load beside the fair share
(that time x requests at once / processes), errors, and the memory of the server and of the
processes that answer as a series over time.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psutil

EXAMPLE = Path(__file__).resolve().parents[1] / "examples/01-vl7b-grpo-2xA800-80g"
LAUNCH = EXAMPLE / "launch.sh"
STEP = "{{'loss': {loss:.4f}, 'grad_norm': {norm:.3f}, 'learning_rate': 1e-05, 'step': {step}}}\n"


def log_of(size: int) -> bytes:
    """Make a log of so many bytes: steps of training, and at its end how the job failed."""
    draw = random.Random(7)  # noqa: S311 - no secret is made of it
    end = (EXAMPLE / "train.log").read_bytes()
    lines, held, step = [], len(end), 0
    while held < size:
        step += 1
        line = STEP.format(loss=draw.uniform(0.5, 2), norm=draw.uniform(0.1, 3), step=step)
        lines.append(line)
        held += len(line)
    return "".join(lines).encode() + end


class Memory(NamedTuple):
    """MiB at a time: what the server has, and what the processes that answer have of their own."""

    seconds: float
    server: float
    workers: float


def memory(process: psutil.Process, started: float) -> Memory:
    """Look at the memory of all processes of the service."""
    own = 0
    for one in process.children(recursive=True):
        with suppress(psutil.Error):  # it has ended
            own += one.memory_full_info().uss
    server = process.memory_info().rss
    return Memory(time.perf_counter() - started, server / 2**20, own / 2**20)


def print_series(series: list[Memory]) -> None:
    """Print a dozen of the looks, and the means of the first and of the last third."""
    print("seconds  server MiB  workers MiB")
    for look in series[:: max(1, len(series) // 12)]:
        print(f"{look.seconds:7.0f} {look.server:11.0f} {look.workers:12.0f}")
    third = max(1, len(series) // 3)
    for name, some in (("first third", series[:third]), ("last third", series[-third:])):
        server, workers = (statistics.mean(one[at] for one in some) for at in (1, 2))
        print(
            f"{name}: server {server:.0f}, workers {workers:.0f}, in all {server + workers:.0f} MiB"
        )


class Caller(NamedTuple):
    """Who asks: the path, and what is posted to it."""

    path: str
    posted: dict[str, Any]


def person(log: bytes) -> Caller:
    """Make one that asks as the page does."""
    files = [("file", ("launch.sh", LAUNCH.read_bytes())), ("log", ("train.log", log))]
    return Caller("/v1/diagnose", {"files": files, "data": {"gpus": "2"}})


def agent(log: bytes) -> Caller:
    """Make one that calls the tool."""
    files = [{"name": "launch.sh", "text": LAUNCH.read_text()}]
    files.append({"name": "train.log", "text": log.decode()})
    called = {"name": "diagnose", "arguments": {"job": {"files": files, "gpus": 2}}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    return Caller("/mcp", {"content": json.dumps(message), "headers": headers})


async def ask(client: httpx.AsyncClient, caller: Caller) -> tuple[str, float]:
    """Ask once; give what became of it, and seconds."""
    started = time.perf_counter()
    try:
        found = await client.post(caller.path, **caller.posted)
    except httpx.HTTPError as error:
        return repr(error), time.perf_counter() - started
    is_error = '"isError":true' in found.text or '"error":' in found.text
    status = f"{found.status_code}{' error' if is_error else ''}"
    return status, time.perf_counter() - started


async def load(url: str, wanted: argparse.Namespace, process: psutil.Process) -> None:
    """Ask as wanted and print what came of it."""
    caller = (agent if wanted.agents else person)(log_of(wanted.megabytes << 20))
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=600, limits=limits) as client:
        for _ in range(4):
            await ask(client, caller)
        alone = statistics.median([(await ask(client, caller))[1] for _ in range(5)])
        until = time.perf_counter() + wanted.seconds
        seen: list[tuple[str, float]] = []

        async def asker() -> None:
            while time.perf_counter() < until:
                seen.append(await ask(client, caller))

        started = time.perf_counter()
        series = [memory(process, started)]

        async def look() -> None:
            while True:
                await asyncio.sleep(1)
                series.append(memory(process, started))

        looking = asyncio.create_task(look())
        await asyncio.gather(*(asker() for _ in range(wanted.at_once)))
        took = time.perf_counter() - started
        looking.cancel()
    times = sorted(seconds for _, seconds in seen)
    share = alone * wanted.at_once / wanted.processes
    late = times[int(0.95 * (len(times) - 1))]
    print(f"alone {alone:.3f} s, {wanted.at_once} at once for {took:.0f} s: {len(seen)} requests")
    print(f"statuses {dict(collections.Counter(status for status, _ in seen))}")
    print(f"{len(seen) / took:.2f} answers/s, median {statistics.median(times):.1f} s")
    print(f"95th percentile {late:.1f} s, {late / share:.2f} of the fair share ({share:.1f} s)")
    print_series(series)


def main() -> None:
    """Start the service, load it, end it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--megabytes", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--agents", action="store_true")
    wanted = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    words = ["serve", "--port", str(port), "--processes", str(wanted.processes)]
    words = ["mcp", "--http", str(port)] if wanted.agents else words
    words += ["--seconds", "120"]
    started = subprocess.Popen([sys.executable, "-m", "trainrx.cli", *words])
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                httpx.get(f"{url}/healthz")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        asyncio.run(load(url, wanted, psutil.Process(started.pid)))
    finally:
        started.terminate()
        started.wait(timeout=20)


if __name__ == "__main__":
    main()
