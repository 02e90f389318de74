"""What a script starts: commands, environment, control flow."""

from __future__ import annotations

import pytest

from trainrx.model.job import Script
from trainrx.shell import read_script


def read(text: str) -> Script:
    return read_script(text, "launch.sh")


def lines(script: Script) -> list[str]:
    return [" ".join(word.text for word in command.words) for command in script.commands]


def env(script: Script, index: int = -1) -> dict[str, str | None]:
    return {item.name: item.value for item in script.commands[index].env}


def test_every_word_of_a_continued_command_has_its_own_line():
    script = read("FOO=1 \\\nswift sft \\\n  --model x \\\n  --lr 1e-4 > log.txt 2>&1 &\n")

    command = script.commands[0]
    assert [(word.text, word.line) for word in command.words] == [
        ("swift", 2), ("sft", 2), ("--model", 3), ("x", 3), ("--lr", 4), ("1e-4", 4),
    ]  # fmt: skip
    assert (command.origin.line, command.origin.text) == (2, "swift sft \\")
    assert (command.env[0].origin.line, command.env[0].origin.text) == (1, "FOO=1 \\")


def test_words_of_arrays_and_variables_stand_where_they_were_set():
    script = read(
        'ARGS=(\n  --lr 1\n  --bs 2\n)\nOPT="\n  --a 1 \\\n  --b 2\n"\n'
        'swift sft "${ARGS[@]}" $OPT\n'
    )

    found = {word.text: word.line for word in script.commands[0].words if word.text[0] == "-"}
    assert found == {"--lr": 2, "--bs": 3, "--a": 6, "--b": 7}


@pytest.mark.parametrize("call", ['eval "$CMD"', "eval $CMD", "$CMD", 'bash -c "$CMD"'])
def test_a_command_kept_in_a_variable_is_run_with_its_lines(call):
    script = read(f'CMD="torchrun \\\n  t.py \\\n  --lr 1"\n{call}\n')

    found = [(word.text, word.line) for word in script.commands[-1].words]
    assert found == [("torchrun", 1), ("t.py", 2), ("--lr", 3), ("1", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "srun --nodes=2 bash -c '\n  export Z=1\n  swift sft \\\n    --lr 1\n'",
        'srun --nodes=2 bash -lc "\n  export Z=1\n  swift sft \\\n    --lr 1\n"',
        "bash <<'EOF'\n  export Z=1\n  swift sft \\\n    --lr 1\nEOF\n",
    ],
)
def test_a_script_within_the_script_keeps_its_lines(text):
    script = read(text)

    words = script.commands[0].words
    assert [(word.text, word.line) for word in words[-2:]] == [("--lr", 4), ("1", 4)]
    assert env(script, 0) == {"Z": "1"}


def test_wrapper_words_stay_in_front_of_the_inner_command():
    assert lines(read("srun -N 2 bash -c 'swift sft --lr 1'")) == ["srun -N 2 swift sft --lr 1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export A=1\nrun", {"A": "1"}),
        ("A=1\nexport A\nrun", {"A": "1"}),
        ("A=1 run", {"A": "1"}),
        ("A=1\nrun", {}),
        ("set -a\nA=1\nset +a\nB=2\nrun", {"A": "1"}),
        ("declare -x A=1\nB=1\nrun", {"A": "1"}),
        ("export A=1\nexport -n A\nrun", {}),
        ("export A=1\nunset A\nrun", {}),
        ("export A=1\nA=2\nrun", {"A": "2"}),
        ("export A=1\nA=2 run", {"A": "2"}),
        ("export A=1 B='x y'\nrun", {"A": "1", "B": "x y"}),
        ("export A=$RANK\nrun", {"A": None}),
        ("(export A=1); run", {}),
        ("export A=1 | cat; run", {}),
        ("f() { export A=1; }; f; run", {"A": "1"}),
        ("f() { local A=1; run; }; export A=0; f", {"A": "1"}),
        ("f() { local A=1; }; export A=0; f; run", {"A": "0"}),
    ],
)
def test_only_exported_and_prefixed_variables_reach_a_command(text, expected):
    assert env(read(text)) == expected


def test_the_environment_of_the_script_is_what_it_exports_at_the_end():
    script = read("export A=1\nB=2\nexport C=3\nunset C\n")

    assert [(item.name, item.value, item.origin.line) for item in script.env] == [("A", "1", 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if [ 1 -eq 1 ]; then run a; else run b; fi", ["run a"]),
        (
            "X=2\nif [[ $X == 1 ]]; then run a; elif [ $X = 2 ]; then run b; else run c; fi",
            ["run b"],
        ),
        ('if [ -z "$P" ]; then P=29500; fi\nrun $P', ["run 29500"]),
        ('if [ -n "$P" ] && [ 1 = 1 ]; then run a; fi; run b', ["run b"]),
        ("if [[ $1 == a ]]; then run a; else run b; fi", ["run a", "run b"]),
        ("case v2 in v1) run a;; v*|w) run b;; *) run c;; esac", ["run b"]),
        ("for x in a b; do run $x; done", ["run a", "run b"]),
        ("for x in {1..3}; do run $x; done", ["run 1", "run 2", "run 3"]),
        ("f() { run \"$@\" $#; }\nf a 'b c'", ["run a b c 2"]),
        ("function f { run; }\nrun x", ["run x"]),
        ("cd x && run a || exit 1\nrun b", ["cd x", "run a", "run b"]),
        ("true && run a; false && run b; false || run c", ["run a", "run c"]),
        ("run a; exit 0; run b", ["run a"]),
        ("if [ ! -f x ]; then exit 1; fi\nrun b", ["run b"]),
        ('if [ -z "$MODEL" ]; then echo usage; exit 1; fi\nrun b', ["echo usage", "run b"]),
        ("A=1; ((A++)); (( A > 1 )) && run $A", ["run 2"]),
        ("{ run a; run b; } > log 2>&1 &", ["run a", "run b"]),
        ('cat <<EOF > x.yaml\na: "b\nEOF\nrun', ["cat", "run"]),
        ("run a | tee log; run b &> x", ["run a", "tee log", "run b"]),
        ("run > out.log 2>&1 --lr 1", ["run --lr 1"]),
        ("! run a; time run b; exec run c", ["run a", "time run b", "run c"]),
        ("while read -r x; do run $x; done < f", ["run $x"]),
        ("source env.sh; . ./b; run", ["run"]),
        ("[ -f x ] && echo y\ncommand -v swift\nrun", ["echo y", "run"]),
        ("ssh node1 'cd x && run a'", ["cd x", "run a"]),
        ("read -r -d '' C <<EOF\nmod \\\n --lr 1\nEOF\nrun $C", ["run mod --lr 1"]),
    ],
)
def test_control_flow_is_followed_without_running_anything(text, expected):
    assert lines(read(text)) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("if [ $1 = a ]; then N=1; else N=2; fi\nrun $N", "N"),
        ("case $1 in a) N=1;; *) N=2;; esac\nrun $N", "N"),
        ("N=1\n[ -f x ] && N=2\nrun $N", "N"),
        ("for ((i=0;i<N;i++)); do run $i; done", "i"),
    ],
)
def test_a_value_that_depends_on_an_undecided_course_is_unknown(text, name):
    assert read(text).commands[-1].words[-1].unknown == (name,)


def test_branches_that_agree_leave_the_value_known():
    assert lines(read("if [ $1 ]; then N=1; else N=1; fi\nrun $N")) == ["run 1"]


def test_the_reason_names_the_undecided_condition():
    unread = read("if [ $1 = a ]; then N=1; else N=2; fi\nswift sft --n $N").unread

    assert unread[0].reason == "$N depends on a condition that cannot be decided here"


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("swift sft", True),
        ("source venv/bin/activate\nswift sft", True),
        ("source ~/.bashrc\nswift sft", False),
        (". ./env.sh\nswift sft", False),
        ("module load cuda\nswift sft", False),
        ("export $(cat .env | xargs)\nswift sft", False),
    ],
)
def test_hidden_environment_is_admitted(text, complete):
    script = read(text)

    assert script.env_complete is complete
    assert bool(script.unread) is not complete


def test_another_script_that_is_run_is_unread():
    assert read("bash train.sh 4").unread[0].reason.startswith("train.sh is run from here")


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        (
            "#SBATCH -N 2 -n 16 --gres=gpu:8  # two nodes",
            (("N", "2"), ("n", "16"), ("gres", "gpu:8")),
        ),
        ("#SBATCH -N2", (("N", "2"),)),
        ('#SBATCH --job-name="my job" --exclusive', (("job-name", "my job"), ("exclusive", ""))),
        ("#SBATCH -J it's", (("J", "it's"),)),
        ("#PBS -l nodes=2:ppn=8", (("l", "nodes=2:ppn=8"),)),
        ("#$ -pe smp 8", (("pe", "smp 8"),)),
    ],
)
def test_a_line_may_hold_several_directives(line: str, asked: tuple[tuple[str, str], ...]) -> None:
    script = read(f"#!/bin/bash\n{line}\n")

    assert script.directives == tuple((*one, 2) for one in asked)


def test_batch_directives_are_kept_with_their_lines():
    script = read("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH -p gpu  # queue\n#SBATCH --exclusive\n")

    assert script.directives == (("nodes", "2", 2), ("p", "gpu", 3), ("exclusive", "", 4))


@pytest.mark.parametrize(
    "text",
    [
        "FOO=1 swift sft --lr 1",
        "$ FOO=1 swift sft --lr 1",
        "(base) root@node-1:~/w# FOO=1 swift sft --lr 1",
        "$ FOO=1 swift sft \\\n> --lr 1",
        "```bash\nFOO=1 swift sft --lr 1\n```",
        "!FOO=1 swift sft --lr 1",
        "FOO=1 swift sft --lr 1 \\",
        "\ufeffFOO=1 swift sft --lr 1",
    ],
)
def test_a_pasted_command_is_read(text):
    script = read(text)

    assert lines(script) == ["swift sft --lr 1"]
    assert env(script) == {"FOO": "1"}
    assert script.defects == ()
