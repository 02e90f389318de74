"""The page in a browser: Chromium, where it is installed, and without scripts where it is not."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/01-vl7b-grpo-2xA800-80g"
GIVEN = [EXAMPLE / name for name in ("launch.sh", "train.log", "versions.txt")]
STACKS = EXAMPLE.parents[1] / "tests/evidence/stacks/gather-on-rank-0/round1"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HOSTILE = (
    "RuntimeError: CUDA out of memory. <img src=x onerror=alert(1)> <script>alert(2)</script> "
    "[x](javascript:alert(3)) ![y](http://attacker.example/z.png)\n"
)
in_browser = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None,
    reason="no Chromium is installed, or nothing that drives it",
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    words = [sys.executable, "-m", "trainrx.cli", "serve", "--port", str(port), "--processes", "1"]
    environment = {name: text for name, text in os.environ.items() if name != "TRAINRX_TOKEN"}
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, env=environment)
    url = f"http://127.0.0.1:{port}"
    for _ in range(100):
        try:
            httpx.get(f"{url}/healthz")
            break
        except httpx.TransportError:
            time.sleep(0.1)
    yield url
    process.terminate()
    process.wait(timeout=20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # a container has no namespaces for the sandbox; the pages are our own
        found = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


def answered(browser: Any, address: str, lang: str = "en", **look: Any) -> Any:
    page = browser.new_context(**look).new_page()
    page.troubles = []
    page.route(lambda url: not url.startswith(address), lambda route: route.abort())
    page.on("requestfailed", lambda sent: page.troubles.append(sent.url))
    page.on("console", lambda said: page.troubles.append(said.text))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("dialog", lambda dialog: page.troubles.append(dialog.message))
    page.goto(f"{address}/?lang={lang}")
    page.fill("#gpu", "A800-80G")
    page.fill("#gpus", "2")
    drop(page, GIVEN)
    page.wait_for_selector("#answer article")
    return page


def drop(page: Any, paths: list[Path]) -> None:
    """Let go of files over the page."""
    given = [[path.name, path.read_text(encoding="utf-8")] for path in paths]
    page.evaluate(
        """(given) => {
            const dataTransfer = new DataTransfer();
            for (const [name, text] of given) dataTransfer.items.add(new File([text], name));
            document.body.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true}));
        }""",
        given,
    )


def test_without_scripts_the_form_is_answered_with_a_page(address):
    log = (EXAMPLE / "train.log").read_text(encoding="utf-8")

    found = httpx.post(f"{address}/?lang=zh", files={"pasted": (None, log)}, timeout=60)

    assert found.status_code == 200
    assert "<article>" in found.text
    assert "max_pixels" in found.text
    assert "default-src 'none'" in found.headers["content-security-policy"]


def test_what_a_log_says_is_text_on_the_page(address):
    found = httpx.post(f"{address}/", files={"pasted": (None, HOSTILE)}, timeout=60)

    article = found.text.partition("<article>")[2]
    assert "CUDA out of memory" in article
    assert re.findall(r"<(?:img|script|a)\b", article) == []


def test_nothing_given_is_said_on_the_page(address):
    found = httpx.post(f"{address}/", files={"pasted": (None, " ")}, timeout=60)

    assert found.status_code == 422
    assert 'role="alert"' in found.text


@in_browser
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_files_are_answered_with_evidence_memory_patch_and_questions(browser, address, lang):
    page = answered(browser, address, lang)

    page.wait_for_selector(".diff .add")
    assert "MAX_PIXELS" in page.inner_text(".diff")
    assert "max_pixels: 12845056" in "".join(page.locator(".log .hit").all_inner_texts())
    assert page.locator(".log .hit + .note").count() >= 3
    for bar in page.locator(".bars svg").all():
        assert bar.locator("rect").count() >= 5
    page.focus(".ask button >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turns .replied")
    assert page.evaluate("document.activeElement.className") == "dialogue"
    assert page.troubles == []


@in_browser
def test_the_stacks_of_a_hang_are_a_tree_and_a_square_for_each_rank(browser, address):
    page = browser.new_page()
    page.goto(address)
    page.set_input_files("#files", sorted(STACKS.iterdir()))
    page.wait_for_selector(".tree")

    assert page.locator(".strip li").all_inner_texts() == ["0", "1", "2"]
    assert "rank 0" in page.inner_text(".places")


@in_browser
def test_the_page_is_for_keyboards_and_screen_readers_and_phones(browser, address):
    from axe_playwright_python.sync_playwright import Axe

    for look in ({"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}, {}):
        page = answered(browser, address, **look)
        page.wait_for_selector(".diff")
        found = Axe().run(page).response["violations"]
        grave = [item for item in found if item["impact"] in ("serious", "critical")]
        serious = [(item["id"], item["nodes"][0]["html"][:200]) for item in grave]
        assert serious == []
        width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0


@in_browser
def test_a_hostile_log_does_nothing_in_the_browser(browser, address):
    page = browser.new_page()
    said = []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda sent: said.append(sent.url) if address not in sent.url else None)
    page.goto(address)
    page.fill("#text", HOSTILE)
    page.click("button[type=submit]")
    page.wait_for_selector("#answer article")
    page.wait_for_timeout(200)

    assert [text for text in said if not text.startswith("data:")] == []
