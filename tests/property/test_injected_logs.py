"""What a log says is a quotation in every output: nobody is called, nothing is run or loaded."""

from __future__ import annotations

import json
import re
from functools import cache

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
from trainrx.share.serve.page import fragment

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TAG = re.compile(r"<(?!/?(?:p|ul|ol|li|pre|code|strong|em|hr|h[1-6]|br)\b[^>]*>)[a-zA-Z/!]")
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
