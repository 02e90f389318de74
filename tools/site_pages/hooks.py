"""What mkdocs does besides: pages without ballast, a search that finds Chinese.

mkdocs calls these functions by their names (https://www.mkdocs.org/user-guide/plugins/#events).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

_NEEDED = frozenset("<>&\"'")
_ENTITY = re.compile(r"&#(\d+);")
_RAW = re.compile(r"(<pre>.*?</pre>)", re.DOTALL)
_SPACE = re.compile(r"\s*\n\s*")
_BETWEEN_BLOCKS = re.compile(r">\n(?=</?(?:h\d|li|main|ol|p|table|tbody|td|th|thead|tr|ul)\b)")
_NOT_SOUGHT = re.compile(r"(<h\d) data-search-exclude id=\"[^\"]*\"")
"""What the index has been made from by now, and no link leads to."""
_MENDED = {
    "o<t.length;o++)t.slice(s,o)in e": "o<=t.length;o++)t.slice(s,o)in e",
    '.join("* ")': '.join(" ")',
}
"""Where the theme's search cuts a Chinese query into words: it never looks at the last one, and a
second `*` behind the others makes them count as not found."""
_UNUSED = ("*.map", "lunr/wordcut.js", "lunr/tinyseg.js", "lunr/min/*.js")
_USED = ("lunr.zh.", "lunr.multi.", "lunr.stemmer.support.")


def on_post_page(output: str, **_: object) -> str:
    """Write marks as themselves, and drop what no browser shows."""
    parts = _RAW.split(_ENTITY.sub(_mark, output))
    return "".join(part if part.startswith("<pre") else _lean(part) for part in parts)


def _lean(part: str) -> str:
    part = _NOT_SOUGHT.sub(r"\1", _SPACE.sub("\n", part))
    return _BETWEEN_BLOCKS.sub(">", part)


def _mark(entity: re.Match[str]) -> str:
    char = chr(int(entity[1]))
    return entity[0] if char in _NEEDED else char


def on_post_build(config: Mapping[str, object]) -> None:
    """Leave out what no page loads, and let the search see the whole query."""
    scripts = Path(str(config["site_dir"]), "assets", "javascripts")
    for path in [path for pattern in _UNUSED for path in scripts.parent.rglob(pattern)]:
        if not path.name.startswith(_USED):
            path.unlink()
    index = Path(str(config["site_dir"]), "search", "search_index.json")
    docs = json.loads(index.read_text(encoding="utf-8"))
    # as UTF-8 a Chinese character takes half of what its escape does
    index.write_text(json.dumps(docs, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    (worker,) = (scripts / "workers").glob("search.*.min.js")
    worker.write_text(mended(worker.read_text(encoding="utf-8")), encoding="utf-8")


def mended(script: str) -> str:
    """Mend the search of the theme.

    Raises:
        ValueError: it is another one than was mended; whether it still needs that must be seen.
    """
    for wrong, right in _MENDED.items():
        if script.count(wrong) != 1:
            raise ValueError(f"the search of the theme has changed: no {wrong} in it")
        script = script.replace(wrong, right)
    return script
