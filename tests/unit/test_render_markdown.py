from __future__ import annotations

import re

import diagnoses
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.model.facts import Origin
from trainrx.model.result import Diagnosis
from trainrx.model.text import Lang
from trainrx.render import render
from trainrx.render.document import View
from trainrx.render.formats.markdown import MARKDOWN
from trainrx.render.markup._commonmark import CodeBlock, guard
from trainrx.render.screen.page import ROOM


def as_markdown(answer: Diagnosis, lang: Lang, *, everything: bool = False) -> str:
    return render(answer, "markdown", View(lang, everything=everything))


EVIL = "@all @user see https://evil.example <!channel> closes #12 ```` ``` </details> [x](http://y)"


def quoting(text: str) -> Diagnosis:
    answer = diagnoses.oom()
    reason = msgspec.structs.replace(
        answer.causes[0].reasons[0], evidence=(Origin(source="a.log", line=1, text=text),)
    )
    cause = msgspec.structs.replace(answer.causes[0], reasons=(reason,))
    return msgspec.structs.replace(answer, causes=(cause,))


def outside_code(text: str) -> str:
    fenced = re.sub(r"(?ms)^ *(`{3,})\w*\n.*?^ *\1$", "", text)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", fenced)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_verdict_and_first_fix_stand_in_the_first_300_characters(lang):
    start = as_markdown(diagnoses.oom(lang), lang)[:300]

    assert ("已定位" if lang == "zh" else "Diagnosed") in start
    assert "\nMAX_PIXELS=602112  #" in start


def test_a_post_keeps_its_size_by_default_and_says_all_when_asked():
    short, whole = (as_markdown(diagnoses.oom(), "en", everything=all_) for all_ in (False, True))

    assert len(short.encode()) <= ROOM.size
    assert "(likely)" in short
    assert "likely 91%" in whole
    assert "--freeze_vit true" in whole


def test_the_lines_to_copy_are_fenced_and_whole():
    text = as_markdown(diagnoses.oom(), "en")

    assert "```bash\nMAX_PIXELS=602112  # not set now\n```\n" in text


def test_it_holds_no_table():
    assert not re.search(r"^\s*\|", as_markdown(diagnoses.oom(), "en"), re.MULTILINE)


def test_quoted_backticks_do_not_close_the_fence():
    text = as_markdown(quoting(EVIL), "en", everything=True)

    assert "  `````text\n" in text
    assert "evil" not in outside_code(text)


def test_mentions_links_and_issue_numbers_of_a_log_are_neutralised():
    text = as_markdown(quoting(EVIL), "en")

    for live in ("@all", "@user", "https://evil", "<!channel", "#12", "http://y"):
        assert live not in text


def test_guarded_text_looks_the_same():
    assert guard(EVIL).replace("\u200b", "") == EVIL


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a *b* <c> [d] ~~e~~", r"a \*b\* \<c\> \[d\] \~\~e\~\~"),
        ("1 -> 2", "1 -> 2"),
        ("MAX_PIXELS and __init__", r"MAX_PIXELS and \_\_init\_\_"),
        ("# head", r"\# head"),
        ("- item", r"\- item"),
        ("12. item", r"12\. item"),
        ("--cmd launch.sh", "--cmd launch.sh"),
        ("run `pip list` now", "run `pip list` now"),
        ("odd ` tick", r"odd \` tick"),
        ("a &lt; b & c", r"a \&lt; b & c"),
    ],
)
def test_prose_stands_for_itself(text, wanted):
    assert MARKDOWN.prose(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a`", "`` `a` ``"), ("```", "```` ``` ````")],
)
def test_inline_code_survives_its_own_backticks(text, wanted):
    assert MARKDOWN.code(text) == wanted


def test_secrets_are_masked_always():
    token = "hf_" + "abcdEFGHijklMNOPqrstuvWXyz"

    text = as_markdown(quoting(f"export HF_TOKEN={token}"), "en")

    assert token not in text
    assert "HF_TOKEN=***" in text


def test_unknown_says_what_to_collect():
    text = as_markdown(diagnoses.unknown(), "en")

    assert text.startswith("**Cause unknown**: the cause was not found; this does not mean")
    assert "--redirects 3 --log-dir logs" in text


def test_healthy_says_what_was_checked():
    text = as_markdown(diagnoses.healthy("zh"), "zh")

    assert text.startswith("**正常**：没有发现问题")
    assert "启动命令中的 2 项设置" in text


@given(st.text(max_size=200))
def test_no_quoted_text_escapes_its_fence(text):
    page = as_markdown(quoting("x" + text), "en", everything=True)

    fences = re.findall(r"(?m)^ *(`{3,})(?:\w*)$", page)

    assert len(fences) % 2 == 0


@given(st.lists(st.text("`a ", max_size=20), max_size=5))
def test_a_fence_is_longer_than_any_run_of_backticks_in_it(lines):
    block = list(MARKDOWN.block(CodeBlock(lines)))

    assert all(block[0] not in line for line in lines)
    assert block[0] == block[-1]
