"""Headings, labels, forms and pages: what they say, and what of them is no evidence."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.paste.post import post_inputs, split_post

LOG = "RuntimeError: CUDA error: an illegal memory access was encountered"


def texts(text: str, kind: str) -> str:
    return "\n".join(part.text for part in split_post(text, "x").parts if part.kind == kind)


def kinds(text: str) -> set[str]:
    return {part.kind for part in split_post(text, "x").parts}


@pytest.mark.parametrize(
    "heading",
    [
        "### Describe the bug",
        "## What happened?",
        "**Expected behavior**",
        "### 问题描述",
        "### Reproduction",
        "#### 复现步骤",
        "### System Info",
        "**Your hardware and system info**",
        "### 环境信息",
        "### Logs",
        "### 报错信息",
        "### Checklist / 检查清单",
        "### Before submitting",
    ],
)
def test_a_heading_of_a_form_is_no_evidence(heading):
    text = f"{heading}\n\nIt stops after the first step and I do not know why.\n"

    found = split_post(text, "x").parts

    assert [part.text for part in found] == ["It stops after the first step and I do not know why."]


@pytest.mark.parametrize(
    "title",
    ["GRPO of Qwen3-VL runs out of memory on 8 x H20", "GRPO 训练报错 OOM", "My card is slow"],
)
def test_a_title_is_what_somebody_says(title):
    assert title in texts(f"# {title}\n\n{LOG}\n", "prose")


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("### Logs", "log"),
        ("### 报错信息", "log"),
        ("### Config", "config"),
        ("### 启动命令", "script"),
    ],
)
def test_a_heading_says_what_a_fence_below_it_is(heading, kind):
    assert kind in kinds(f"{heading}\n\n```\nfoo bar\n```\n")


@pytest.mark.parametrize("label", ["报错如下：", "Error message:", "The log is below:", "日志："])
def test_a_label_says_what_the_lines_below_it_are(label):
    text = f"{label}\nFailed to register worker to Raylet\n"

    assert texts(text, "log") == "Failed to register worker to Raylet"


def test_a_label_ends_with_its_paragraph():
    text = f"Error message:\n{LOG}\n\nMy colleague has the same cards and it works for him.\n"

    assert texts(text, "prose").endswith("it works for him.")


def test_a_comment_beside_code_is_no_heading():
    text = "# run on two nodes\nexport NNODES=2\n# the model\nswift sft --model Qwen/Q\n"

    assert texts(text, "script") == text.rstrip("\n")


def test_what_nobody_filled_in_is_no_evidence():
    text = (
        "### Describe the bug\n\nIt hangs at the first step of the second epoch.\n\n"
        "### Logs\n\n_No response_\n\n### Others\n\n无\n\n- [x] I have read the README\n- [ ] OOM\n"
        "<!-- CUDA out of memory?\nfill in -->\n"
    )

    assert [part.text for part in split_post(text, "x").parts if part.kind != "prose"] == []
    assert "README" not in texts(text, "prose")
    assert "out of memory" not in texts(text, "prose")


def test_collapsed_details_are_read():
    text = (
        "<details><summary>Full log</summary>\n\n```\n" + LOG + "\n```\n\n</details>\n\n"
        "<details>\n<summary>pip list</summary>\n<pre>\ntorch   2.6.0\ntrl     0.19.1\n</pre>\n"
        "</details>\nThat is all I have.\n"
    )

    assert texts(text, "log") == LOG
    assert texts(text, "versions") == "torch   2.6.0\ntrl     0.19.1"
    assert texts(text, "prose") == "That is all I have."


def test_images_and_links_to_files_are_named_as_unread():
    text = (
        "See ![log](https://example.org/a.png) and\n"
        '<img width="800" src="https://example.org/b.png">\n'
        "[train.log](https://example.org/user-attachments/files/1/train.log)\n"
        "The docs say https://example.org/docs/index.html otherwise.\n"
    )

    post = split_post(text, "x")

    assert [(one.line, "image" in one.reason) for one in post.unread] == [
        (1, True),
        (2, True),
        (3, False),
    ]


def test_a_link_in_a_command_is_no_attachment():
    text = "wget https://example.org/data/train.json -O /data/train.json\n"

    assert split_post(text, "x").unread == ()


def test_a_word_alone_above_a_fence_introduces_it():
    text = "outputs:\n\n```\nfoo bar baz\n```\n"

    assert texts(text, "log") == "foo bar baz"


def test_a_table_of_words_is_prose():
    text = "| config | optimizer | result |\n| --- | --- | --- |\n| stage 1 | AdamW | it trains |\n"

    assert kinds(text) == {"prose"}


FENCES = st.sampled_from(["```", "````", "~~~", "```bash", "> ```", "  ```yaml", "`` ` ``"])
LINES = st.sampled_from(
    ["lr: 1", "swift sft \\", "<!--", "-->", "# x", "<details>", "$ ls", "", "@@"]
)


@given(st.lists(st.one_of(FENCES, LINES), max_size=40))
def test_any_nesting_of_fences_is_taken_apart_at_lines_it_has(lines):
    post = split_post("\n".join(lines), "x")

    numbers = [line.number for part in post.parts for line in part.lines]
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(range(1, len(lines) + 1))


@pytest.mark.parametrize(
    "unit",
    [
        " ",
        "> ",
        "```\n",
        "- ",
        "![a](http",
        "<img ",
        "https://",
        "a:",
        "\\ --",
        "报错：\n",
        "# a\n",
    ],
)
def test_the_time_grows_with_the_length_alone(unit):
    started = time.process_time()

    split_post(unit * (30_000 // len(unit)), "x")

    assert time.process_time() - started < 5.0  # a square of it takes minutes


def test_a_title_above_what_somebody_says_makes_no_script_of_a_post():
    said = "# GRPO OOM on 8xA100\n我跑 GRPO 报错。脚本："
    text = f"{said}\nswift rlhf\n  --rlhf_type grpo\n报错：\n{LOG}\n"

    found = post_inputs(text, "x")

    assert found is not None
    assert {one.kind for one in found[0]} == {"script", "note", "log"}
