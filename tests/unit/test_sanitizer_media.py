from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.sanitizer import media
from trainrx.sanitizer.controls import HIDDEN, clean, tame, visible

SEEN_BY_NOBODY = (
    "\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2061\u2063\u2064\u2066\u2069\u061c\u00ad"
    "\u180e\ufeff\U000e0001\U000e0041\U000e007f\u034f\u115f\u3164\ufe0f\U000e0100"
)
OSC_52 = "\x1b]52;c;cm0gLXJmIH4=\x07"
ATTACKS = (
    OSC_52,
    "\x9d52;c;cm0gLXJmIH4=\x9c",
    "\x1b[31mred\x1b[0m",
    "\x9b31m",
    "\x1bPq\x1b\\",
    "a\x00b\x07c\x08d\x7fe\x85f",
    "line\u2028line",
    SEEN_BY_NOBODY,
    "\udc9b",
)
COMMANDS = ("::error::x", "  ::set-env name=A::b", "##[error]x", "x ##vso[task.complete]y")
MEDIA = (media.terminal, media.markdown, media.json, media.xml, media.annotation, media.editor)
_BAD = re.compile(f"[{HIDDEN}\ud800-\udfff\ufe00-\ufe0f]")


@pytest.mark.parametrize("medium", MEDIA, ids=lambda medium: medium.__name__)
@pytest.mark.parametrize("attack", ATTACKS, ids=ascii)
def test_nothing_hidden_leaves_by_any_medium(medium, attack):
    shown = medium(f"before {attack} after")

    # a page may hold the selectors of emoji: they change how a sign looks, nothing else
    allowed = {"\ufe0f"} if medium in (media.terminal, media.markdown) else set()
    allowed |= {media.BREAKER} if medium is media.markdown else set()
    assert set(_BAD.findall(shown)) <= allowed
    assert shown.startswith("before ")
    assert shown.endswith(" after")


@pytest.mark.parametrize("medium", [media.terminal, media.markdown, media.xml])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_quoted_line_is_no_command_to_a_runner(medium, command):
    shown = medium(f"a\n{command}\n")

    assert not re.search(r"(?m)^\s*::[A-Za-z]|##(?:vso|teamcity)?\[", shown)


def test_a_new_line_in_an_annotation_is_escaped():
    assert media.annotation("a\n::error::b%") == "a%0A: :error::b%25"
    assert media.annotation_property("a\nb,c:d\x1b[0m") == "a%0Ab%2Cc%3Ad"


def test_only_colours_pass_where_colours_are_wanted():
    page = f"\x1b[1;31mred\x1b[0m{OSC_52}\x1b[2J\n"

    assert media.terminal(page, colour=True) == "\x1b[1;31mred\x1b[0m\n"
    assert media.terminal(page) == "red\n"


@given(st.text(max_size=80))
def test_json_and_xml_mean_the_same(text):
    page = json.dumps({"a": text}, ensure_ascii=False)
    sound = "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff"))
    # XML itself makes every line end a \n
    tree = f"<a>{sound.replace('&', '&amp;').replace('<', '&lt;')}</a>"

    assert json.loads(media.json(page)) == {"a": text}
    assert (ET.fromstring(media.xml(tree)).text or "") == sound  # noqa: S314


@given(st.text(max_size=80))
def test_a_line_keeps_its_columns(text):
    line = text.replace("\n", " ")

    assert len(tame(line)) == len(line)


@given(st.text(alphabet="ab显存 -=/.:", max_size=80))
def test_what_is_seen_stays(text):
    assert clean(text) == visible(text) == text
    assert media.terminal(text).replace(": :", "::") == text.replace(": :", "::")
