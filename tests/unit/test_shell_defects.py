"""Mistakes in scripts that bash does not report as such."""

from __future__ import annotations

import pytest

from trainrx.model.job import Script
from trainrx.shell import read_script

_CLEAN = """\
#!/bin/bash
# don't touch: “quoted” – and a blank behind a backslash \\ \n
export CUDA_VISIBLE_DEVICES=0,1
NPROC_PER_NODE=2 \\
swift sft \\
    --model Qwen/Qwen2.5-7B \\
    --system '你是“助手” – 请回答' \\
    --lr 1e-4
cat <<EOF > note.txt
--not a command “x” \\ \nEOF
"""


def read(text: str) -> Script:
    return read_script(text, "launch.sh")


def found(text: str) -> list[tuple[str, int]]:
    return [(item.id, item.line) for item in read(text).defects]


def flags(text: str) -> list[str]:
    return [w.text for c in read(text).commands for w in c.words if w.text.startswith("--")]


def test_a_clean_script_has_no_defect():
    assert found(_CLEAN) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("swift sft \\\n  --a 1\n  --b 2 \\\n  --c 3\n", "line 2 does not end in a backslash"),
        ("swift sft --a 1 \\\n\n  --b 2\n", "line 2 is empty"),
        ("swift sft --a 1 \\\n  # lower\n  --b 2\n", "line 2 is a comment"),
        ("swift sft --a 1 \\\n  --d 4 # lower \\\n  --b 2\n", "line 2 ends in a comment"),
        ("swift sft --a 1\\ \n  --b 2\n", "the backslash of line 1 is followed by a blank"),
    ],
)
def test_a_flag_run_as_a_command_is_reported_with_what_cut_it_off(text, why):
    broken = [item for item in read(text).defects if item.id == "continuation-broken"]

    assert [why in item.message for item in broken] == [True]
    assert broken[0].text.startswith("--b 2")
    assert "--a" in flags(text)
    assert "--b" not in flags(text)


def test_what_cut_off_a_flag_stands_in_front_of_the_assignments_it_comes_with():
    text = "python e.py \\\n  a=b \\ \n  c=d \\\n  e=f \\\n  m.n=1 \\\n  o.p=2\n"

    broken = [item for item in read(text).defects if item.id == "continuation-broken"]

    assert [(item.line, "the backslash of line 2 is" in item.message) for item in broken] == [
        (5, True)
    ]


def test_a_flag_cut_off_in_a_text_is_not_laid_to_the_line_above_the_one_that_runs_it():
    text = 'A=" --a 1 \\ \n --bb 2 "\n\nsrun bash -c "swift sft $A"\n'

    broken = [item for item in read(text).defects if item.id == "continuation-broken"]

    assert len(broken) == 1
    assert "the text that is run here ends a command in front of it" in broken[0].message
    assert broken[0].column is None


def test_a_hydra_override_run_as_a_command_is_reported():
    text = "python -m verl.trainer.main_ppo \\\n  a.b=1\n  +trainer.nnodes=1 \\\n  c.d=2\n"

    assert found(text) == [("continuation-broken", 3)]


def test_a_blank_after_a_backslash_is_reported_where_it_stands():
    text = "swift sft \\\n  --a 1 \\ \n  --b 2\n"

    assert ("space-after-backslash", 2) in found(text)


def test_a_comment_after_a_backslash_is_reported():
    assert ("space-after-backslash", 1) in found("swift sft --a 1 \\  # low\n  --b 2\n")


def test_crlf_line_ends_are_reported_once_and_read_through():
    text = "swift sft \\\r\n  --a 1 \\\r\n  --b 2\r\n"

    assert found(text) == [("crlf-line-ends", 1)]
    assert flags(text) == ["--a", "--b"]


@pytest.mark.parametrize("char", ["“", "”", "‘", "’", "\u3000", "\u00a0", "＂"])
def test_full_width_characters_in_code_are_reported(char):
    assert found(f"swift sft \\\n  --a {char}x") == [("full-width-character", 2)]


@pytest.mark.parametrize("dash", ["–", "—", "−", "－"])
def test_a_flag_with_a_wrong_dash_is_reported(dash):
    assert found(f"swift sft --a 1 {dash}b 2") == [("en-dash-flag", 1)]


def test_an_en_dash_inside_a_value_is_fine():
    assert found("swift sft --out runs/7b–lora") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('swift sft \\\n  --a "x \\\n  --b 2 \\\n  --c 3\n', 2),
        ("swift sft \\\n  --a 'x \\\n  --b 2 \\\n  --c 3\n", 2),
        ('swift sft \\\n  --a "x \\\n  --b 2 \\\n  --s "y z" \\\n  --c 3\n', 2),
        ('X="\nl1\nl2\n"\nswift sft \\\n  --a "x \\\n  --b 2 --c "3"\n', 6),
    ],
)
def test_an_unclosed_quote_is_closed_on_its_line_and_reading_goes_on(text, line):
    assert ("unclosed-quote", line) in found(text)
    assert {"--a", "--b", "--c"} <= set(flags(text))


@pytest.mark.parametrize(
    "text",
    [
        "MAX_PIXELS=1003520\nswift sft",
        "NCCL_P2P_DISABLE=1\nsource x.sh\nswift sft",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\nswift sft",
    ],
)
def test_a_variable_meant_for_the_program_but_not_exported_is_reported(text):
    assert found(text) == [("variable-not-exported", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "export MAX_PIXELS=1\nswift sft",
        "MAX_PIXELS=1\nexport MAX_PIXELS\nswift sft",
        "MAX_PIXELS=1 swift sft",
        "NNODES=2\ntorchrun --nnodes $NNODES t.py",
        "NNODES=2\nNNODES=$NNODES swift sft",
        "set -a\nMAX_PIXELS=1\nswift sft",
        "LEARNING_RATE=1\nswift sft",
        "MAX_PIXELS=1\nNPROC_PER_NODE=8\n",
    ],
)
def test_a_variable_that_reaches_the_program_or_is_used_is_fine(text):
    assert found(text) == []


def test_an_inherited_variable_is_exported_already():
    script = read_script("MAX_PIXELS=2\nswift sft", "launch.sh", {"MAX_PIXELS": "1"})

    assert script.defects == ()
    assert [(item.name, item.value) for item in script.commands[0].env] == [("MAX_PIXELS", "2")]


def test_a_line_bash_would_refuse_is_unread_and_the_rest_is_read():
    script = read("fi\nswift sft --a 1\n")

    assert [item.line for item in script.unread] == [1]
    assert flags("fi\nswift sft --a 1\n") == ["--a"]


def test_an_empty_line_ends_assignments_that_were_to_be_continued():
    script = read_script("A=1 \\\nNPROC_PER_NODE=2 \\\n\nswift sft --x 1\n", "run.sh")

    (command,) = script.commands
    assert command.env == ()
    assert command.origin.line == 4


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("swift sft --a 1 \\ \n  --b 2\n", ("space-after-backslash", 1, 17)),
        ("swift sft \\\n  --a “x”\n", ("full-width-character", 2, 7)),
        ("swift sft —a 1\n", ("en-dash-flag", 1, 11)),
        ("swift sft --a 'x\n  --b 2\n", ("unclosed-quote", 1, 15)),
        ("swift sft --a 1\n  --b 2\n", ("continuation-broken", 2, 3)),
        ("  MAX_PIXELS=1\nswift sft\n", ("variable-not-exported", 1, 14)),
        ("swift sft\r\n", ("crlf-line-ends", 1, None)),
    ],
)
def test_a_defect_has_a_column(text, place):
    places = [(item.id, item.line, item.column) for item in read(text).defects]

    assert place in places


@pytest.mark.parametrize(
    "text",
    [
        "swift sft --a 1 \\ \n  --b 2 \\\n  --c\n",
        "swift sft --a 1 \\\n# x\n  --b 2 \\\n  --c\n",
        'C="swift sft --a 1 \\ \n  --b 2 \\\n  --c"\neval $C\n',
    ],
)
def test_a_message_names_the_flags_that_are_lost(text):
    assert "--b, --c" in read(text).defects[0].message


@pytest.mark.parametrize(
    "text",
    [
        "torchrun --x 1 \\\n# note\n  $(dirname $0)/test.py $CONFIG\n",
        "torchrun --x 1 \\\n\n    train.py --b 2\n",
        "A=1 \\\n# note\nswift sample x.yaml\n",
        "python -m verl.trainer.main_ppo \\\n  a.b=1 \\\n  # c\n  data.files=x \\\n  c.d=2\n",
    ],
)
def test_words_cut_off_by_a_comment_or_an_empty_line_are_reported(text):
    assert "continuation-broken" in [item.id for item in read(text).defects]


@pytest.mark.parametrize(
    "text",
    [
        "run a \\\n\nrun b\n",
        "run a \\\n# done\nexport B=1\nrun b\n",
        "if x; then\n  run a \\\n\n  run b\nfi\n",
    ],
)
def test_a_backslash_too_many_at_the_end_of_a_command_is_no_loss(text):
    assert found(text) == []
