"""Other files of a script: sourced, run, written by it; and the machines it reaches."""

from __future__ import annotations

import pytest

from trainrx.model.job import Script, ShellCommand
from trainrx.shell import read_script

_FILES = {
    "env.sh": "# settings\nexport A=1\nX=(a b)\ngreet() { run hello $1; }\n",
    "conf/env.sh": "export A=2\n",
    "run.sh": "python t.py --n $1 ${2:-none}\n",
    "broken.sh": "python t.py \\\n  # low\n  --lr 1\n",
    "loop.sh": "source loop.sh\nrun again\n",
    "hosts": "n1\nn2\n",
}


def read(text: str) -> Script:
    return read_script(text, "launch.sh", files=_FILES.get)


def lines(script: Script) -> list[str]:
    return [" ".join(word.text for word in command.words) for command in script.commands]


def command(text: str) -> ShellCommand:
    return read(text).commands[-1]


@pytest.mark.parametrize(
    "name",
    [
        "env.sh",
        "./env.sh",
        "$(dirname $0)/env.sh",
        '"$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/env.sh"',
        '"$PWD/env.sh"',
    ],
)
def test_a_sourced_file_at_hand_takes_effect_and_is_cited(name):
    script = read(f'source {name}\nrun "${{X[@]}}"; greet $A\n')

    assert lines(script) == ["run a b", "run hello 1"]
    first = script.commands[0]
    source = first.words[1].source
    assert (source.removeprefix("./"), first.words[1].line) == ("env.sh", 3)
    assert (first.env[0].origin.source, first.env[0].origin.line) == (source, 2)
    assert first.env[0].origin.text == "export A=1"
    assert script.env_complete
    assert script.files == ((source, _FILES["env.sh"]),)


def test_a_folder_above_the_script_is_asked_for_by_that_name():
    asked: list[str] = []
    text = 'R="$(cd "$(dirname "$0")/.." && pwd)"\n. $R/conf/env.sh\n'

    read_script(text, "x.sh", files=asked.append)

    assert asked[0] == "../conf/env.sh"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bash run.sh 7", "python t.py --n 7 none"),
        ("sh -x ./run.sh 7 8", "python t.py --n 7 8"),
        ("nohup ./run.sh 7", "nohup python t.py --n 7 none"),
        ("srun -N 2 bash run.sh 7", "srun -N 2 python t.py --n 7 none"),
        ("sbatch --nodes 2 run.sh 7", "sbatch --nodes 2 python t.py --n 7 none"),
    ],
)
def test_a_script_at_hand_is_run_with_its_arguments(text, expected):
    assert lines(read(text)) == [expected]


def test_a_script_that_is_run_leaves_no_variable_behind():
    assert lines(read("bash env.sh\nrun ${A:-none}")) == ["run none"]


def test_defects_of_another_file_name_it():
    (defect,) = read("bash broken.sh").defects

    assert (defect.id, defect.source, defect.line, defect.column) == (
        "continuation-broken", "broken.sh", 3, 3,
    )  # fmt: skip


def test_a_file_that_sources_itself_comes_to_an_end():
    assert "run again" in lines(read("bash loop.sh"))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("cat > c.yaml <<EOF\na: $X\nb: 1\nEOF\n", ("c.yaml", "a: $X\nb: 1\n", 2)),
        ("cat <<EOF > c.yaml\na: 1\nEOF\n", ("c.yaml", "a: 1\n", 2)),
        ("Y=1\ntee c.yaml <<EOF\na: $Y\nEOF\n", ("c.yaml", "a: 1\n", 3)),
        ("cat <<-EOF | tee c.yaml\n\ta: 1\n\tEOF\n", ("c.yaml", "a: 1\n", 2)),
        ("cat <<'EOF' > c.yaml\na: $X\nEOF\n", ("c.yaml", "a: $X\n", 2)),
        ("echo 'n1 slots=8' > h\necho n2 >> h\n", ("h", "n1 slots=8\nn2\n", 1)),
        ("printf '%s\\n' a b > h\n", ("h", "a\nb\n", 1)),
        ("{ echo a; echo b; } > h\n", ("h", "a\nb\n", 1)),
    ],
)
def test_a_file_that_commands_write_is_at_hand(text, written):
    assert read(text).written == (written,)


def test_a_file_written_by_a_program_is_not_known():
    assert read("echo a > h\npython make.py > h\n").written == ()


def test_a_written_script_is_run_and_its_words_stand_in_the_here_document():
    script = read("cat > go.sh <<'EOF'\nswift sft \\\n  --x $1\nEOF\nbash go.sh 3\n")

    words = script.commands[-1].words
    assert [(word.text, word.line) for word in words] == [
        ("swift", 2), ("sft", 2), ("--x", 3), ("3", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for h in $(cat hosts); do run $h; done", ["run n1", "run n2"]),
        ("while read -r h; do run $h; done < hosts", ["run n1", "run n2"]),
        ("run $(wc -l < hosts)", ["run 2"]),
    ],
)
def test_a_file_at_hand_is_read(text, expected):
    assert lines(read(text)) == expected


@pytest.mark.parametrize(
    "call",
    [
        'ssh -p 22 root@$h "cd /x && NODE_RANK=$i torchrun t.py"',
        "ssh root@$h NODE_RANK=$i torchrun t.py",
        "ssh root@$h <<EOF\nexport NODE_RANK=$i\ntorchrun t.py\nEOF\n",
        "ssh root@$h bash -s <<EOF\nexport NODE_RANK=$i\ntorchrun t.py\nEOF\n",
    ],
)
def test_a_loop_over_machines_gives_a_command_for_each(call):
    script = read(f"i=0\nfor h in a b; do\n{call}\n((i++))\ndone\n")

    found = [item for item in script.commands if item.words[0].text == "torchrun"]
    assert [(item.host, item.env[0].value) for item in found] == [("root@a", "0"), ("root@b", "1")]


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ("run > a.log 2>&1", ("a.log",)),
        ("run 2>&1 | tee -a a.log", ("a.log",)),
        ("run &> a.log &", ("a.log",)),
        ("{ run; } >> a.log", ("a.log",)),
        ("exec > >(tee a.log) 2>&1\nrun", ("a.log",)),
        ("run > /dev/null 2> err.txt", ("err.txt",)),
        ("D=logs\nrun > $D/$RANK.log", ("logs/$RANK.log",)),
        ("run", ()),
    ],
)
def test_a_command_says_which_files_its_output_goes_to(text, outputs):
    found = [item for item in read(text).commands if item.words[0].text == "run"]

    assert [item.outputs for item in found] == [outputs]
