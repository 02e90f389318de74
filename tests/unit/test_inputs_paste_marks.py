"""Marks in front of lines are taken off where whole stretches bear them."""

from __future__ import annotations

from trainrx.inputs.paste.post import split_post

YAML = "stage: sft\nlora_rank: 16\nbf16: true"


def texts(text: str, kind: str) -> list[str]:
    return [part.text for part in split_post(text, "x").parts if part.kind == kind]


def test_a_quoted_mail_is_read_like_the_mail():
    quoted = "\n".join(f"> > {line}" for line in YAML.splitlines())

    assert texts(f"On Tuesday it was written:\n\n{quoted}\n", "config") == [YAML]


def test_a_quoted_fence_is_a_fence():
    text = "> My config:\n> ```yaml\n> stage: sft\n> lora_rank: 16\n> ```\n> Is it right?\n"

    assert texts(text, "config") == ["stage: sft\nlora_rank: 16"]


def test_numbers_of_lines_are_no_part_of_them():
    for sign in (" ", ": ", " | ", "\t"):
        text = "\n".join(
            f"{at:4}{sign}{line}" if sign != " " else f"{at:4}  {line}"
            for at, line in enumerate(YAML.splitlines(), start=7)
        )

        assert texts(text, "config") == [YAML]


def test_numbers_that_do_not_count_up_stay():
    text = "3  apples\n9  pears\n2  plums\n"

    assert "9  pears" in "\n".join(part.text for part in split_post(text, "x").parts)


def test_of_a_fenced_diff_the_applied_side_counts_and_is_told():
    text = (
        "I changed this:\n```diff\n stage: sft\n-lora_rank: 8\n+lora_rank: 16\n bf16: true\n```\n"
    )

    post = split_post(text, "x")

    assert [part.text for part in post.parts if part.kind == "config"] == [
        "stage: sft\n\nlora_rank: 16\nbf16: true"
    ]
    assert [(one.line, one.what) for one in post.repairs] == [(2, "diff")]


def test_of_a_printed_diff_the_applied_side_counts():
    text = (
        "diff --git a/run.sh b/run.sh\nindex 3f1c2aa..4d2e0b1 100644\n--- a/run.sh\n+++ b/run.sh\n"
        "@@ -1,3 +1,3 @@\n swift sft \\\n-  --lr 1e-4 \\\n+  --lr 1e-5 \\\n   --model Qwen/Q\n"
        "This is what I tried.\n"
    )

    assert texts(text, "script") == ["swift sft \\\n\n  --lr 1e-5 \\\n  --model Qwen/Q"]
    assert texts(text, "prose") == ["This is what I tried."]


def test_a_list_is_no_diff():
    text = "What I tried:\n- lower the batch size\n- another seed\n"

    assert "lower the batch size" in texts(text, "prose")[0]
