"""Write the pages of the site and the settings that build them.

python -m site_pages            below build/site; then mkdocs turns them into site/
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import get_args

from site_pages.build import GUIDES, USE, make_site, pages, settings, written_page
from trainrx.knowledge.load import load
from trainrx.knowledge.places import shipped
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.text import Lang

_ROOT = Path(__file__).parents[2]
_PICTURE = re.compile(r"!\[[^\]]*\]\(([\w.-]+\.png)\)")
"""A picture beside the page that shows it."""
WRITTEN = ("index", *GUIDES, *USE)
"""Pages that are written by hand, in `docs/`."""
CHOICE = """\
<!doctype html><meta charset="utf-8"><title>diagnose</title>
<script>
const lang = (navigator.language || "").startsWith("zh") ? "zh" : "en";
location.replace(`${lang}/index.html`);
</script>
<p><a href="en/index.html">English</a> · <a href="zh/index.html">中文</a></p>
"""


def main() -> int:
    """Write everything mkdocs needs."""
    parser = argparse.ArgumentParser(prog="site_pages", description=__doc__)
    parser.add_argument("--work", type=Path, default=_ROOT / "build" / "site")
    parser.add_argument("--output", type=Path, default=_ROOT / "site")
    parser.add_argument("--start", type=Path, default=_ROOT / "docs")
    given = parser.parse_args()
    started = time.monotonic()
    knowledge, cases, backed = load(), _cases(), _backed(_ROOT / "tests" / "cases")
    number = 0
    for lang in get_args(Lang):
        site = make_site(knowledge, lang, cases, backed)
        folder = given.work / lang
        shutil.rmtree(folder, ignore_errors=True)
        for page in pages(site):
            _write(folder / "pages" / page.path, page.text)
            number += 1
        for name in WRITTEN:
            source = given.start / (f"{name}.zh.md" if lang == "zh" else f"{name}.md")
            page = written_page(name, source.read_text(encoding="utf-8"), lang)
            _write(folder / "pages" / page.path, page.text)
            for image in _PICTURE.findall(page.text):
                shutil.copy(source.parent / image, (folder / "pages" / page.path).parent)
        told = settings(site, str((given.output / lang).resolve()))
        # JSON is YAML, and needs no escaping of its own
        (folder / "mkdocs.yml").write_text(json.dumps(told, ensure_ascii=False, indent=1), "utf-8")
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "index.html").write_text(CHOICE, encoding="utf-8")
    print(f"{number} pages below {given.work}, {time.monotonic() - started:.1f} s")
    return 0


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _cases() -> dict[str, int]:
    """Count the test cases beside each entry."""
    found: dict[str, int] = {}
    for root in shipped():
        for path in root.rglob("*.test.yaml"):
            told = read_yaml(path)
            listed = told.get("cases", ()) if isinstance(told, dict) else ()
            found[path.name.removesuffix(".test.yaml")] = len(listed)
    return found


def _backed(folder: Path) -> Counter[str]:
    """Count the recorded runs that expect each entry."""
    found: Counter[str] = Counter()
    for path in folder.glob("*/expect.yaml"):
        told = read_yaml(path)
        if isinstance(told, dict):
            found.update({str(told[key]) for key in ("cause", "symptom") if told.get(key)})
    return found


if __name__ == "__main__":
    raise SystemExit(main())
