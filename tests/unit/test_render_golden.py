from __future__ import annotations

import os
from pathlib import Path

import diagnoses
import pytest

from trainrx.model.text import Lang
from trainrx.render import render
from trainrx.render.cards import card
from trainrx.render.document import View

FOLDER = Path(__file__).parents[1] / "golden"
FORMS = ("txt", "explain.txt", "md", "json")
CARDS = {
    "en": ("slack", "discord", "teams", "telegram", "github"),
    "zh": ("feishu", "dingtalk", "wecom", "gitlab", "plain"),
}
"""Each platform once, in the language most of its users write."""


def shown(name: str, lang: Lang, form: str) -> str:
    answer = diagnoses.ALL[name](lang)
    if form == "md":
        return render(answer, "markdown", View(lang))
    if form == "json":
        return render(answer, "json", View(lang))
    return render(answer, "text", View(lang, 80, form == "explain.txt"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", diagnoses.ALL)
def test_the_answer_reads_as_it_was_approved(name, lang, form):
    golden = FOLDER / f"{name}.{lang}.{form}"

    text = shown(name, lang, form)

    if os.environ.get("TRAINRX_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(("lang", "platforms"), CARDS.items())
@pytest.mark.parametrize("name", ["oom", "unknown"])
def test_the_message_in_a_chat_reads_as_it_was_approved(name, lang, platforms):
    golden = FOLDER / f"{name}.{lang}.cards.txt"

    said = (f"=== {one}\n{card(diagnoses.ALL[name](lang), one, View(lang))}" for one in platforms)
    text = "\n".join(said)

    if os.environ.get("TRAINRX_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(("lang", "title"), [("en", "Not offered"), ("zh", "未给出")])
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_fixes_that_are_not_offered_are_shown_where_all_is_explained(form, lang, title):
    answer = diagnoses.ALL["oom"](lang)

    some, every = (render(answer, form, View(lang, 80, all_of_it)) for all_of_it in (False, True))

    assert title not in some
    assert "two-processes" in every.partition(title)[2]
