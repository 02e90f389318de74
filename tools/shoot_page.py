"""Take the pictures of the page in docs/: both languages, light and dark, desk and phone.

python tools/shoot_page.py http://127.0.0.1:8600      # a service that runs: diagnose serve
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples/01-vl7b-grpo-2xA800-80g"
STACKS = ROOT / "tests/evidence/stacks/gather-on-rank-0/round1"
COLOURS = 64


class Shot(NamedTuple):
    """A picture: what is dropped, how the browser looks, and where on the page it begins."""

    name: str
    lang: str
    scheme: str
    size: tuple[int, int]
    files: tuple[Path, ...]
    begins: str
    gpu: str = ""
    gpus: str = ""


LAUNCH = tuple(EXAMPLE / name for name in ("launch.sh", "train.log", "versions.txt"))
SHOTS = (
    Shot("page-answer", "en", "light", (900, 900), LAUNCH, "main", "A800-80G", "2"),
    Shot("page-answer.zh", "zh", "light", (900, 900), LAUNCH, "main", "A800-80G", "2"),
    Shot("page-memory", "en", "dark", (900, 700), LAUNCH, ".memory", "A800-80G", "2"),
    Shot("page-memory.zh", "zh", "dark", (900, 700), LAUNCH, ".memory", "A800-80G", "2"),
    Shot("page-ranks", "en", "light", (900, 620), tuple(sorted(STACKS.iterdir())), ".ranks"),
    Shot("page-ranks.zh", "zh", "light", (900, 620), tuple(sorted(STACKS.iterdir())), ".ranks"),
    Shot("page-phone", "en", "dark", (360, 740), LAUNCH, "article", "A800-80G", "2"),
    Shot("page-phone.zh", "zh", "dark", (360, 740), LAUNCH, "article", "A800-80G", "2"),
)


def shoot(browser: Browser, url: str, shot: Shot) -> bytes:
    """Have one thing answered and take the picture."""
    width, height = shot.size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if shot.scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(f"{url}/?lang={shot.lang}")
    page.fill("#gpu", shot.gpu)
    page.fill("#gpus", shot.gpus)
    page.set_input_files("#files", shot.files)
    page.wait_for_selector(".keys" if shot.gpu else ".tree", timeout=120_000)
    page.evaluate("(at) => document.querySelector(at).scrollIntoView()", shot.begins)
    taken = page.screenshot()
    context.close()
    return taken


def main() -> int:
    """Write all pictures, each with few colours."""
    url = sys.argv[1].rstrip("/")
    with sync_playwright() as play:
        # a container has no namespaces for the sandbox; the page is our own
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for shot in SHOTS:
            picture = Image.open(io.BytesIO(shoot(browser, url, shot))).convert("RGB")
            path = ROOT / "docs" / f"{shot.name}.png"
            picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
