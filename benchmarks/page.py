"""How long the page takes from a drop of a founding example to the verdict on the screen.

    python benchmarks/page.py [--rounds 5]

Prints for each folder in examples/ the seconds as the browser measures them (median and worst of
the rounds, the service being warm), and the processor seconds the service took: to the verdict, and
to the patch with the memory by term, which follows.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import httpx
import psutil
import yaml
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
WARM_UP = 2
DROP = """([given, fields]) => new Promise((done) => {
    for (const [name, text] of fields) document.getElementById(name).value = text;
    const answer = document.getElementById("answer");
    const dataTransfer = new DataTransfer();
    for (const [name, text] of given) dataTransfer.items.add(new File([text], name));
    const started = performance.now();
    new MutationObserver((_, watch) => {
        if (!answer.querySelector("article")) return;
        watch.disconnect();
        // the second frame from here on shows it
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - started)));
    }).observe(answer, {childList: true, subtree: true});
    document.body.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true}));
})"""


class DropTime(NamedTuple):
    """Seconds to the verdict, processor seconds of the service to it and to the patch."""

    seconds: float
    verdict: float
    patch: float


def processor_seconds(service: psutil.Process) -> float:
    """Add the processor time of all processes of the service."""
    each = [service, *service.children(recursive=True)]
    return sum(sum(one.cpu_times()[:2]) for one in each if one.is_running())


def given(folder: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Read the files of an example, and what is said of its job besides."""
    args = yaml.safe_load((folder / "expect.yaml").read_text(encoding="utf-8"))["args"]
    files = [word for word in args if (folder / word).is_file()]
    fields = {word.removeprefix("--"): said for word, said in pairwise(args)}
    known = [(name, fields[name]) for name in ("gpu", "gpus", "note") if name in fields]
    return [(name, (folder / name).read_text(encoding="utf-8")) for name in files], known


def dropped(page: Page, url: str, folder: Path, service: psutil.Process) -> DropTime:
    """Drop an example on a page that is opened anew."""
    page.goto(url)
    before = processor_seconds(service)
    milliseconds = page.evaluate(DROP, given(folder))
    verdict = processor_seconds(service)
    # where nothing is planned no patch is asked for
    page.wait_for_load_state("networkidle", timeout=120_000)
    return DropTime(milliseconds / 1000, verdict - before, processor_seconds(service) - before)


def measure(url: str, rounds: int, service: psutil.Process) -> None:
    """Print a line for each example."""
    print(f"{'example':36} {'median':>7} {'worst':>7} {'cpu':>7} {'+patch':>7}")
    with sync_playwright() as play:
        # a container has no namespaces for the sandbox; the page is our own
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        for folder in sorted(path.parent for path in EXAMPLES.glob("*/expect.yaml")):
            seen = [dropped(page, url, folder, service) for _ in range(WARM_UP + rounds)][WARM_UP:]
            seconds = [one.seconds for one in seen]
            cpu, patch = (statistics.median(one[at] for one in seen) for at in (1, 2))
            figures = (statistics.median(seconds), max(seconds), cpu, patch)
            print(f"{folder.name:36}", *(f"{figure:7.2f}" for figure in figures), flush=True)
        browser.close()


def main() -> None:
    """Start the service and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    words = ["serve", "--port", str(port), "--processes", "1"]
    environment = {name: text for name, text in os.environ.items() if name != "TRAINRX_TOKEN"}
    with subprocess.Popen(
        [sys.executable, "-m", "trainrx.cli", *words], env=environment
    ) as process:
        url = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                httpx.get(f"{url}/healthz")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        measure(url, wanted.rounds, psutil.Process(process.pid))
        process.terminate()


if __name__ == "__main__":
    main()
