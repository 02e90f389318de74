"""How words are expanded."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.shell import read_script


def argv(script: str, **inherited: str) -> list[str]:
    return [word.text for word in read_script(script, "launch.sh", inherited).commands[-1].words]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("run 'a b' \"c  d\" e\\ f", ["run", "a b", "c  d", "e f"]),
        (
            'run --max_memory \'{0: "3GB", 1: "10GB"}\'',
            ["run", "--max_memory", '{0: "3GB", 1: "10GB"}'],
        ),
        ("X=1\nrun $X ${X} \"$X\" '$X' a${X}b", ["run", "1", "1", "1", "$X", "a1b"]),
        ("X='a  b'\nrun $X \"$X\"", ["run", "a", "b", "a  b"]),
        ('X=\nrun a $X "$X" b', ["run", "a", "", "b"]),
        ("run ${X:-5} ${X-6} ${X:+7} end", ["run", "5", "6", "end"]),
        ("X=3\nrun ${X:-5} ${X:+7}", ["run", "3", "7"]),
        ("run ${A:-${B:-c}}", ["run", "c"]),
        ("run ${A:=4} $A", ["run", "4", "4"]),
        (
            "F=/a/b.tar.gz\nrun ${F##*/} ${F%.*} ${F%%.*} ${F#/}",
            ["run", "b.tar.gz", "/a/b.tar", "/a/b", "a/b.tar.gz"],
        ),
        (
            "V=a-b-c\nrun ${V/-/_} ${V//-/_} ${V:1:2} ${V: -1} ${#V} ${V^^}",
            ["run", "a_b-c", "a_b_c", "-b", "c", "5", "A-B-C"],
        ),
        (
            "A=(1 'b c')\nA+=(d)\nrun \"${A[@]}\" ${#A[@]} ${A[1]} ${A[@]:1:1}",
            ["run", "1", "b c", "d", "3", "b", "c", "b", "c"],
        ),
        ("n=3\nrun $((n*2+1)) $(( (n + 1) / 2 )) $((n>2))", ["run", "7", "2", "1"]),
        ("run {a,b}.json {1..3} x{,y}", ["run", "a.json", "b.json", "1", "2", "3", "x", "xy"]),
        (
            "run $(basename /m/qwen.json .json) $(dirname /m/q) $(expr 16 / 2)",
            ["run", "qwen", "/m", "8"],
        ),
        (
            "G=0,1,2\nrun $(echo $G | tr ',' '\\n' | wc -l) $(echo $G | awk -F',' '{print NF}')",
            ["run", "3", "3"],
        ),
        ("IFS=',' read -ra G <<< '4,5,6'\nrun ${#G[@]} ${G[0]}", ["run", "3", "4"]),
        ("run $'a\\tb' a=$", ["run", "a\tb", "a=$"]),
        ('set -- x y\nrun $1 $# "$@"', ["run", "x", "2", "x", "y"]),
        ("X=a\nX+=b\nrun $X", ["run", "ab"]),
        ("K=X\nX=9\nrun ${!K}", ["run", "9"]),
    ],
)
def test_words_are_expanded_as_bash_does(script, expected):
    assert argv(script) == expected


@pytest.mark.parametrize(
    ("word", "names", "text"),
    [
        ("$RANK", ("RANK",), "$RANK"),
        (
            '"$MASTER_ADDR:$MASTER_PORT"',
            ("MASTER_ADDR", "MASTER_PORT"),
            "$MASTER_ADDR:$MASTER_PORT",
        ),
        ("$(hostname -i)", ("$(hostname -i)",), "$(hostname -i)"),
        ("`date +%F`", ("$(date +%F)",), "$(date +%F)"),
        ("$1", ("1",), "$1"),
        ("$((NODES*8))", ("NODES",), "$((NODES*8))"),
        ("${#MODEL}", ("${#MODEL}",), "${#MODEL}"),
        ("$(echo $GPUS | wc -w)", ("GPUS",), "$(echo $GPUS | wc -w)"),
        ("<path to model>", ("<path to model>",), "<path to model>"),
    ],
)
def test_what_is_not_set_is_unknown_and_named(word, names, text):
    script = read_script(f"swift sft --x {word}", "launch.sh")

    found = script.commands[0].words[-1]
    assert (found.unknown, found.text) == (names, text)


def test_each_unknown_is_unread_once_with_its_reason():
    script = read_script("swift sft --a $RANK --b $RANK\nswift sft --c $RANK $X", "launch.sh")

    reasons = [(item.line, item.reason) for item in script.unread]
    assert reasons == [
        (1, "$RANK is set by the scheduler or launcher, not in this script"),
        (2, "$X is not set in this script (give the environment with --env)"),
    ]


def test_unknown_words_of_chatter_are_not_reported():
    assert read_script("echo $(date) $HOME; mkdir -p $OUT", "launch.sh").unread == ()


def test_given_environment_supplies_values():
    assert argv("run $MODEL ${N:-1}", MODEL="qwen", N="4") == ["run", "qwen", "4"]


def test_slurm_variables_keep_unknown_in_a_batch_script_even_with_a_default():
    script = read_script("#SBATCH --time=60\nrun ${SLURM_NNODES:-1} ${NNODES:-1}", "job.sbatch")

    words = script.commands[0].words
    assert (words[1].unknown, words[2].text) == (("SLURM_NNODES",), "1")


@pytest.mark.parametrize(
    ("directive", "variable", "text"),
    [
        ("--nodes=2", "SLURM_NNODES", "2"),
        ("-N 4", "SLURM_JOB_NUM_NODES", "4"),
        ("--gres=gpu:8", "SLURM_GPUS_ON_NODE", "8"),
        ("--gres=gpu:h100:4", "SLURM_GPUS_ON_NODE", "4"),
        ("--cpus-per-task=16", "SLURM_CPUS_PER_TASK", "16"),
        ("--job-name=sft-7b", "SLURM_JOB_NAME", "sft-7b"),
        ("--job-name=sft-%j", "SLURM_JOB_NAME", None),
        ("--nodes=2-4", "SLURM_NNODES", None),
        ("--nodes=$N", "SLURM_NNODES", None),
        ("--gres=tmpfs:8", "SLURM_GPUS_ON_NODE", None),
    ],
)
def test_slurm_variables_hold_what_the_script_asks_for(directive, variable, text):
    word = read_script(f"#SBATCH {directive}\nrun ${variable}", "job.sbatch").commands[0].words[1]

    assert (word.text, word.unknown) == ((text, ()) if text else (f"${variable}", (variable,)))


def test_a_variable_given_by_part_is_unknown_as_a_whole():
    word = read_script("P=$ROOT/model\nrun $P", "launch.sh").commands[0].words[1]

    assert (word.text, word.unknown) == ("$ROOT/model", ("ROOT",))


def test_text_that_looks_like_an_internal_mark_is_harmless():
    word = read_script("run \ue0000\ue001 \x00", "launch.sh").commands[0].words[1]

    assert word.unknown == ()


@given(
    st.lists(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1), max_size=6)
)
def test_quoted_words_come_back_as_they_were(words):
    line = "run " + " ".join(shlex.quote(word) for word in words)

    assert argv(line) == ["run", *words]


@given(st.lists(st.from_regex(r"[A-Za-z0-9_./:=@%+-]{1,12}", fullmatch=True), min_size=1))
def test_plain_words_agree_with_shlex(words):
    line = "run " + " \\\n  ".join(words)

    assert argv(line) == shlex.split(line.replace("\\\n", " "))
