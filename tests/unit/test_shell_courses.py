"""Conditions that cannot be decided: alternatives, and commands that perhaps run."""

from __future__ import annotations

import pytest

from trainrx.model.job import Script, Word
from trainrx.shell import read_script


def read(text: str) -> Script:
    return read_script(text, "launch.sh")


def words(text: str) -> tuple[Word, ...]:
    return read(text).commands[-1].words


def test_a_word_lists_what_the_branches_make_of_it():
    word = words("if [ -f x ]; then M=a; else M=b; fi\nrun m/$M.json")[1]

    assert word.unknown == ("M",)
    assert word.alternatives == ("m/a.json", "m/b.json")


def test_flags_added_in_a_branch_leave_the_other_words_known():
    found = words('A=(--x 1)\n[ -d y ] && A+=(--y 2)\nrun "${A[@]}" --end')

    assert [word.text for word in found] == ["run", "--x", "1", "$A", "--end"]
    assert found[3].alternatives == ("", "--y 2")


def test_text_added_in_a_branch_leaves_the_command_known():
    found = words("C='python t.py --q 1'\nif [ -f x ]; then C=\"$C --z 3\"; fi\n$C --tail")

    assert [word.text for word in found] == ["python", "t.py", "--q", "1", "$C", "--tail"]


@pytest.mark.parametrize(
    "text",
    [
        "if [ -f x ]; then M=$HOME/a; else M=b; fi\nrun $M",
        "case $1 in " + " ".join(f"{n}) M={n};;" for n in range(9)) + " esac\nrun $M",
        "while [ -f x ]; do M=a$M; done\nrun $M",
    ],
)
def test_alternatives_that_cannot_be_listed_are_none(text):
    word = words(text)[1]

    assert word.unknown
    assert word.alternatives == ()


@pytest.mark.parametrize(
    ("text", "perhaps"),
    [
        ("if [ -f x ]; then run a; else run b; fi", [True, True]),
        ("[ -f x ] || run a; run b", [True, False]),
        ("cd x && run a; run b", [False, False]),
        ('if [ -z "$P" ]; then run a; fi', [False]),
        ("case $1 in a) run a;; esac", [True]),
        ("for x in $HOSTS; do run a; done; run b", [True, False]),
        ("for x in 1 2; do [ -f $x ] && break; run a; done; run b", [True, True, False]),
        ("f() { [ -f x ] && return; run a; }; f; run b", [True, False]),
        ("for x in 1 2; do run a; done", [False, False]),
    ],
)
def test_a_command_of_an_undecided_branch_perhaps_runs(text, perhaps):
    found = [item for item in read(text).commands if item.words[0].text == "run"]

    assert [item.perhaps for item in found] == perhaps


def test_what_a_branch_sets_before_it_leaves_does_not_reach_the_rest():
    text = "M=a\nif [ -f x ]; then M=b; exit 1; fi\nrun $M"

    assert [word.text for word in words(text)] == ["run", "a"]


def test_a_function_that_perhaps_returns_early_has_both_outcomes():
    text = "f() { M=a; [ -f x ] && return; M=b; }\nf\nrun $M"

    assert words(text)[1].alternatives == ("a", "b")


@pytest.mark.parametrize(
    "loop",
    [
        'while [[ $# -gt 0 ]]; do case "$1" in --n) N=$2; shift 2;; *) shift;; esac; done',
        "while getopts n: o; do case $o in n) N=$OPTARG;; esac; done",
        'for a in "$@"; do case $a in n=*) N=${a#n=};; esac; done',
        "while (( $# )); do N=$1; shift; done",
        "if [ $# -gt 0 ]; then N=$1; fi",
    ],
)
def test_without_arguments_the_defaults_stay(loop):
    assert [word.text for word in words(f"N=4\n{loop}\nrun $N")] == ["run", "4"]


def test_a_default_that_arguments_may_change_ends_nothing():
    text = (
        "M=\nwhile [ $# -gt 0 ]; do M=$1; shift; done\n"
        'if [ -z "$M" ]; then echo usage; exit 1; fi\nrun "$M"'
    )

    assert [(word.text, word.unknown) for word in words(text)] == [("run", ()), ("$M", ("M",))]


@pytest.mark.parametrize(
    "name",
    [
        *("RANK", "WORLD_SIZE", "SLURM_NODEID", "PET_NNODES", "MLP_ROLE_INDEX", "VC_WORKER_HOSTS"),
        *("ARNOLD_ID", "METIS_WORKER_0_HOST", "OMPI_COMM_WORLD_RANK", "LSB_HOSTS", "PBS_NODEFILE"),
        *("KUBERNETES_CONTAINER_RESOURCE_GPU", "DLC_JOB_ID", "RAY_ADDRESS", "HOSTNAME"),
    ],
)
def test_a_variable_of_a_scheduler_is_named_as_such(name):
    (item,) = read(f"swift sft --x ${name}").unread

    assert item.reason == f"${name} is set by the scheduler or launcher, not in this script"


@pytest.mark.parametrize(
    "guard",
    [
        'if [ -z "${M:-}" ]; then echo "set M"; exit 1; fi',
        'if [[ -z "${M:-}" || -z "${N-}" ]]; then echo "set both"; exit 1; fi',
        'M=${M:-}\nif [ -z "${M}" ]; then echo "set M"; exit 1; fi',
        'M="${1:-}"\n[ -z "$M" ] && { echo usage; exit 1; }',
        'M=${MODEL-""}\n[ -n "$M" ] || exit 1',
        'M=${M:-}\nif [ "$M" = "" ]; then echo "set M"; exit 1; fi',
        'die() { echo "$1"; exit 1; }\n[ -z "${M-}" ] && die "set M"',
        'for v in M N; do\n  if [ -z "${!v:-}" ]; then echo "$v"; exit 1; fi\ndone',
        ': "${M:?}"',
    ],
)
def test_what_a_script_does_not_go_on_without_is_given(guard: str) -> None:
    found = words(f'{guard}\nrun "$M"')

    assert [word.text for word in found] == ["run", "$M"]
    assert found[1].unknown == ("M",)


def test_what_it_goes_on_without_stays_empty() -> None:
    text = 'M=${M:-}\nif [ -z "$M" ]; then echo "no M"; fi\nrun "$M" "${N:-}"'

    assert [word.text for word in words(text)] == ["run", "", ""]


def test_a_script_that_empties_what_it_needs_leaves() -> None:
    assert read('M=\n[ -z "${M:-}" ] && exit 1\nrun').commands == ()
