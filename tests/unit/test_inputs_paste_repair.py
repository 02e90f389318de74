"""What copying does to code is undone, and told."""

from __future__ import annotations

import pytest

from trainrx.inputs.paste.post import split_post

PLAIN = 'swift sft --model "Qwen/Q" --lr 1e-5 --system_prompt "you & me"'


def told(text: str) -> tuple[str, set[str]]:
    """Give the script of a post, and what was repaired."""
    post = split_post(f"My command:\n```bash\n{text}\n```\n", "x")
    script = "".join(part.text for part in post.parts if part.kind == "script")
    return script, {repair.what for repair in post.repairs}


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (PLAIN.replace('"', "”"), "signs"),
        (PLAIN.replace("--", "—"), "signs"),
        (PLAIN.replace("--", "－－"), "signs"),
        (PLAIN.replace("=", "＝").replace("_", "＿").replace("/", "／"), "signs"),
        (PLAIN.replace("1e-5", "１ｅ-５"), "signs"),
        (PLAIN.replace(" ", "\u00a0"), "spaces"),
        (PLAIN.replace(" ", "\u3000"), "spaces"),
        (PLAIN.replace("--", "\u200b--"), "spaces"),
        (PLAIN.replace("--lr", "\\ --lr"), "continuation"),
        (PLAIN.replace("&", "&amp;").replace('"', "&quot;"), "entities"),
        (PLAIN.replace('"', "&#34;"), "entities"),
    ],
)
def test_a_broken_command_is_the_plain_one(broken, what):
    assert told(broken) == (PLAIN, {what})


def test_a_plain_command_needs_no_repair():
    assert told(PLAIN) == (PLAIN, set())


def test_brackets_of_web_pages_in_a_log_are_read_as_themselves():
    text = "```\nTypeError: &#x27;&lt;&#x27; not supported between &lt;class int&gt; and str\n```\n"

    post = split_post(text, "x")

    assert post.parts[0].text == "TypeError: '<' not supported between <class int> and str"


def test_a_wide_colon_behind_a_key_is_a_plain_one():
    post = split_post("```yaml\nstage： sft\nlora_rank：16\nprompt: 你好：世界\n```\n", "x")

    assert post.parts[0].text == "stage: sft\nlora_rank: 16\nprompt: 你好：世界"


def test_what_is_repaired_in_words_is_not_told():
    post = split_post("I’m lost\u00a0here, “why” does it stop — any hint?\n", "x")

    assert post.repairs == ()


def test_a_positional_argument_between_lost_breaks_goes_on():
    script, _ = told("accelerate launch\n  examples/sft.py\n  --lr 1e-5")

    assert script == "accelerate launch \\\n  examples/sft.py \\\n  --lr 1e-5"


def test_two_commands_stay_two():
    script, what = told("cd /work\nsource env.sh\nswift sft --model Q\necho done")

    assert script == "cd /work\nsource env.sh\nswift sft --model Q\necho done"
    assert what == set()


def test_variables_above_a_command_that_lost_its_breaks_belong_to_it():
    script, what = told("NPROC_PER_NODE=2\nCUDA_VISIBLE_DEVICES=0,1\nswift sft\n  --model Q")

    assert script == "NPROC_PER_NODE=2 \\\nCUDA_VISIBLE_DEVICES=0,1 \\\nswift sft \\\n  --model Q"
    assert what == {"continuation"}


def test_variables_above_a_whole_command_stay_as_they_are():
    text = "NPROC_PER_NODE=2\nswift sft \\\n  --model Q"

    assert told(text) == (text, set())
