"""What a log says is a quotation in every output: nobody is called, nothing is run or loaded."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

import pytest
from injected_logs import PAYLOADS, log_with
from markdown_it import MarkdownIt
from test_any_card import LIVE, live_in_markdown

from trainrx import diagnose
from trainrx.model.result import Diagnosis
from trainrx.render import render
from trainrx.render.cards import card
from trainrx.render.document import View
from trainrx.render.formats import names as formats
from trainrx.render.markup import names as platforms
from trainrx.share.agents.answers import diagnosed
from trainrx.share.serve.page import fragment

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TAG = re.compile(r"<(?!/?(?:p|ul|ol|li|pre|code|strong|em|hr|h[1-6]|br)\b[^>]*>)[a-zA-Z/!]")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
COMMAND = re.compile(r"(?m)^\s*::[a-z]+|##\[")


@cache
def answer(payload: str) -> Diagnosis:
    return diagnose("-", stdin=log_with(payload).encode("utf-8", "surrogatepass"))


def test_there_are_fifty() -> None:
    assert len(set(PAYLOADS)) == 50


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_quoted_line_is_inert_in_every_output(payload: str) -> None:
    found = answer(payload)
    assert found.symptoms[0].id == "cuda-oom"
    for everything in (False, True):
        view = View("en", everything=everything)
        for form in formats("Diagnosis"):
            text = render(found, form, view)
            assert not HIDDEN.search(text)
            assert not COMMAND.search(text)
    # the whole page links the sources of the knowledge
    post = render(found, "markdown", View("en"))
    assert live_in_markdown(post) == []
    assert TAG.findall(fragment(post)) == []
    json.loads(render(found, "json", View("en")))
    for platform in platforms():
        said = card(found, platform, View("en"))
        assert not HIDDEN.search(said)
        assert platform == "plain" or LIVE.get(platform, live_in_markdown)(said) == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_an_agent_gets_it_as_code(payload: str) -> None:
    told = card(answer(payload), "github", View("en"))

    inline = (part for block in MarkdownIt().parse(told) for part in block.children or ())
    bare = "".join(part.content for part in inline if part.type == "text").replace("\u200b", "")
    assert payload not in bare


def _told_outside_of_quotations(part: object) -> Iterator[str]:
    """Give the texts of a typed answer that are not lines of what was given."""
    if isinstance(part, dict):
        quoted = part.keys() == {"source", "line", "text"}
        yield from () if quoted else _told_outside_of_quotations(list(part.values()))
    elif isinstance(part, list):
        for item in part:
            yield from _told_outside_of_quotations(item)
    elif isinstance(part, str):
        yield part


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_typed_answer_of_an_agent_holds_it_in_quotations_alone(payload: str) -> None:
    said = json.loads(render(answer(payload), "json", View("en")))

    told = diagnosed(said, "").model_dump()

    assert not [text for text in _told_outside_of_quotations(told) if payload in text]


@pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None,
    reason="no Chromium is installed, or nothing that drives it",
)
def test_a_browser_runs_and_loads_nothing_of_them() -> None:
    from playwright.sync_api import sync_playwright

    found = [answer(payload) for payload in PAYLOADS]
    shown = [fragment(render(one, "markdown", View("en"))) for one in found]
    shown += [card(one, "telegram", View("zh")) for one in found]
    happened: list[str] = []
    with sync_playwright() as play:
        # a container has no namespaces for the sandbox; nothing is loaded from anywhere
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("dialog", lambda dialog: (happened.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: happened.append(request.url))
        page.set_content("<meta charset=utf-8>" + "<hr>".join(shown))
        links = page.eval_on_selector_all("a, [src], [onerror], [onload]", "all => all.length")
        page.click("body")
        browser.close()

    assert happened == []
    assert links == 0
