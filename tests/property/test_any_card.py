"""A message keeps within what its platform takes and is whole, whatever an answer says."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from examples import examples
from trainrx import diagnose
from trainrx.model.result import Diagnosis
from trainrx.render.cards import card
from trainrx.render.document import View
from trainrx.render.markup import load, names

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOUNDING = ("01-vl7b-grpo-2xA800-80g", "03-vl72b-grpo-hang-8xA100-80g")
FREE = {
    "title",
    "text",
    "reason",
    "cost",
    "model",
    "from",
    "to",
    "source",
    "what",
    "how",
    "command",
}
"""Fields of an answer that hold texts of inputs or of knowledge."""
HOSTILE = st.sampled_from(
    [
        *("@channel", "<!here>", "<@U024BE7LH>", "@everyone", "<at id=all></at>", "@all #12 !7"),
        *("[a](http://a.b/c)", "![x](http://a.b/c.png)", "<img src=x onerror=alert(1)>", "<b>"),
        *("```", "``", "`", "**bold", "_it_", "~no~", "# head", "> quote", "- item", "1. one"),
        *("</code></pre>", "&lt;b&gt;", "&amp;", "www.a.b", "\u202eright", "\x1b[31mred", "a\nb"),
        *("显存不足" * 40, "x" * 700, "🙂" * 30, "a|b|c", "\\", "$(reboot)", "#!", "]("),
    ]
)
TEXTS = st.lists(HOSTILE, min_size=1, max_size=4).map(" ".join)
MENTION = re.compile(r"(?<![\w/])@\w")


@cache
def answers() -> tuple[Diagnosis, ...]:
    return tuple(diagnose(EXAMPLES / name, lang=lang) for name in FOUNDING for lang in ("en", "zh"))


def spoilt(part: object, texts: list[str], field: str = "") -> object:
    """Give an answer that says other things, each text one of some."""
    if isinstance(part, str) and field in FREE:
        return texts[len(part) % len(texts)]
    if isinstance(part, dict):
        return {key: spoilt(value, texts, key) for key, value in part.items()}
    return [spoilt(item, texts, field) for item in part] if isinstance(part, list) else part


class Tags(HTMLParser):
    """The tags that are open, and what stands between them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.bare = ""

    def handle_starttag(self, tag, attrs):
        assert {name for name, _ in attrs} <= {"class"}
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.bare += "" if "code" in self.open else data


def live_in_telegram(text: str) -> list[str]:
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.open == []
    return [*(tags.seen - {"b", "i", "pre", "code"}), *MENTION.findall(tags.bare)]


def live_in_slack(text: str) -> list[str]:
    assert text.count("```") % 2 == 0
    return re.findall(r"[<>]|&(?!amp;|lt;|gt;)", text)


def live_in_markdown(text: str) -> list[str]:
    found = []
    for token in MarkdownIt("commonmark", {"linkify": False}).parse(text):
        for one in (token, *(token.children or ())):
            if one.type in ("link_open", "image", "html_inline", "html_block"):
                found.append(one.type)
            if one.type == "text":
                found += MENTION.findall(one.content)
    return found


def live_without_escapes(text: str) -> list[str]:
    return re.findall(r"<[a-zA-Z@/!]|!\[|\]\(", text)


def live_in_wecom(text: str) -> list[str]:
    return live_without_escapes(re.sub("`[^`\n]*`", "", text))


LIVE = {
    "telegram": live_in_telegram,
    "slack": live_in_slack,
    "wecom": live_in_wecom,
    "dingtalk": live_without_escapes,
}


@pytest.mark.parametrize("platform", names())
@examples(12)
@given(texts=st.lists(TEXTS, min_size=1, max_size=5), which=st.integers(0, 3))
def test_a_message_fits_is_whole_and_nothing_in_it_is_obeyed(platform, texts, which):
    answer = answers()[which]
    changed = spoilt(msgspec.to_builtins(answer), texts)

    said = card(msgspec.convert(changed, Diagnosis), platform, View("en"))

    markup = load(platform)
    assert markup.limit is None or markup.size(said) <= markup.limit
    if platform != "plain":
        assert LIVE.get(platform, live_in_markdown)(said) == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", said)


@pytest.mark.parametrize("platform", names())
@pytest.mark.parametrize("which", range(4))
def test_the_verdict_and_the_first_change_stand_in_front(platform, which):
    answer = answers()[which]

    said = card(answer, platform, View("zh" if which % 2 else "en"))

    assert answer.plan is not None
    assert answer.causes[0].title in said[:300]
    assert answer.plan.changes[0].spelled in said[:300]


def test_what_does_not_fit_goes_from_the_end_on(monkeypatch):
    answer = answers()[0]
    monkeypatch.setattr(type(load("discord")), "limit", 400)

    said = card(answer, "discord", View("en"))

    assert len(said) <= 400
    assert said.startswith("**")
    assert "MAX_PIXELS" in said


def test_a_command_is_copied_from_a_robot_as_it_is_typed() -> None:
    command = 'pip install "trl>=0.8.6,<=0.9.6"'

    assert load("dingtalk").code(command) == command
    assert "<img" not in load("dingtalk").code("<img src=x>")
