from __future__ import annotations

import os
from pathlib import Path

import diagnoses
import pytest

from trainrx.model.text import Lang
from trainrx.render.console import page
from trainrx.render.emit import plain
from trainrx.render.json import to_json
from trainrx.render.markdown import to_markdown
from trainrx.render.page import View

FOLDER = Path(__file__).parents[1] / "golden"
FORMS = ("txt", "explain.txt", "md", "json")


def render(name: str, lang: Lang, form: str) -> str:
    answer = diagnoses.ALL[name](lang)
    if form == "md":
        return to_markdown(answer, lang)
    if form == "json":
        return to_json(answer)
    return plain(page(answer, View(lang, 80, form == "explain.txt")))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", diagnoses.ALL)
def test_the_answer_reads_as_it_was_approved(name, lang, form):
    golden = FOLDER / f"{name}.{lang}.{form}"

    text = render(name, lang, form)

    if os.environ.get("TRAINRX_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
