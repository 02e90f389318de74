"""Where the grammar alone would lose its way."""

from __future__ import annotations

import subprocess
import sys

import pytest

from trainrx.shell import read_script


def commands(text: str) -> list[str]:
    found = read_script(text, "x.sh").commands
    return [" ".join(word.text for word in command.words) for command in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run > log a 2>&1 b <<< x c", ["run a b c"]),
        ("a && run > log b", ["a", "run b"]),
        ("cat <<EOF | tee x && run\nb $X\n  \nEOF\nrun b", ["cat", "tee x", "run", "run b"]),
        ("cat <<A <<B\nrun a\nA\nrun b\nB\nrun c", ["cat", "run c"]),
        ("cat <<EOF\nrun a", ["cat"]),
        ("run 模型\u3000a b\u00a0c 变量=1", ["run 模型\u3000a b\u00a0c 变量=1"]),
        ("run --a \\ b", ["run --a  b"]),
        ("if x; then\nrun a --b", ["x", "run a --b"]),
        ("! a | b; ! c && d || e", ["a", "b", "c", "d", "e"]),
        ("select x in a; do run $x; done; until y; do z; done", ["run a", "y", "z"]),
    ],
)
def test_commands_are_read_where_the_grammar_sees_them_otherwise(text, expected):
    assert commands(text) == expected


def test_assignments_on_lines_of_their_own_are_no_prefix():
    script = read_script("A=1 \\\nB=2\nrun\nC=3 \\\n  run", "x.sh")

    assert [[item.name for item in command.env] for command in script.commands] == [[], ["C"]]


@pytest.mark.parametrize("junk", [")", "((", "if ", '"', "a | ", "<", "{a,"])
def test_a_hostile_line_does_not_hide_the_launch_below_it(junk):
    text = "run first\n" + (junk * 100_000)[:100_000] + "\nswift sft --lr 1\n"

    found = commands(text)

    assert found[0] == "run first"
    assert found[-1].endswith("swift sft --lr 1")
    assert read_script(text, "x.sh").unread


def test_a_script_longer_than_what_is_parsed_at_once_is_read_as_a_whole():
    block = "if true; then\n  run 'a\nb' \\\n    {}\nfi\nf{}() {{\n  never\n}}\n"
    text = "".join(block.format(number, number) for number in range(900))

    assert commands(text) == [f"run a\nb {number}" for number in range(900)]


def test_the_grammar_is_loaded_only_for_a_script():
    program = (
        "import sys; from trainrx.shell import read_script; before = 'tree_sitter' in"
        " sys.modules; read_script('a', 'x'); print(before, 'tree_sitter' in sys.modules)"
    )

    result = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert result.stdout.split() == [b"False", b"True"]


@pytest.mark.parametrize("length", range(12_150, 12_300, 10))
def test_a_long_script_cuts_no_command_in_two(length):
    before = "\n".join(["echo 0123456789"] * 900)[:length]
    command = "python -m verl.trainer.main_ppo \\\n    a.b=1 \\\n    c.d=2 \\\n    e.f=3\n"

    script = read_script(f"{before}\n{command}", "x")

    assert script.defects == ()
    words = [word.text for word in script.commands[-1].words]
    assert words[-3:] == ["a.b=1", "c.d=2", "e.f=3"]
