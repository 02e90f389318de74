from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.environment import read_environment


def values(text: str) -> dict[str, str | None]:
    return {v.name: v.value for v in read_environment(text, "env.txt").variables}


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("MAX_PIXELS=602112", "MAX_PIXELS", "602112"),
        ("export NPROC_PER_NODE=8", "NPROC_PER_NODE", "8"),
        ('declare -x NCCL_DEBUG="INFO"', "NCCL_DEBUG", "INFO"),
        ("  export  A='x y'  # why", "A", "x y"),
        ('A="x # y"', "A", "x # y"),
        ("A=1 # one", "A", "1"),
        ("export A=1;", "A", "1"),
        ("EMPTY=", "EMPTY", ""),
        ("-e NNODES=2", "NNODES", "2"),
        ("- NNODES=2", "NNODES", "2"),
        ("NCCL_IB_DISABLE: 1", "NCCL_IB_DISABLE", "1"),
        (
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            "PYTORCH_CUDA_ALLOC_CONF",
            "expandable_segments:True",
        ),
    ],
)
def test_assignment_forms(line, name, value):
    assert values(line) == {name: value}


def test_several_assignments_on_one_line():
    assert values("export A=1 B='2 3' C=4") == {"A": "1", "B": "2 3", "C": "4"}


def test_value_with_words_is_one_value():
    assert values("LESSOPEN=| /usr/bin/lesspipe %s") == {"LESSOPEN": "| /usr/bin/lesspipe %s"}


def test_comments_and_prose_are_skipped():
    assert values("# A=1\n\nthis is the environment\nNote: see below\n") == {}


def test_later_line_wins_and_cites_its_own_line():
    found = read_environment("A=1\nA=2\n", "env.txt").variables

    assert [(v.value, str(v.origin)) for v in found] == [("2", "env.txt:2")]


def test_reference_to_a_known_variable_is_put_in():
    assert values("export N=8\nexport NPROC_PER_NODE=$N\nexport L=a${N}b") == {
        "N": "8",
        "NPROC_PER_NODE": "8",
        "L": "a8b",
    }


@pytest.mark.parametrize("line", ["export A=$NO", "export A=$(nproc)", 'export A="${B:-1}"'])
def test_unknown_reference_is_set_but_not_known(line):
    assert values(line) == {"A": None}


def test_dollar_in_printenv_output_is_text():
    assert values("PS1=$ ") == {"PS1": "$"}


def test_secrets_are_not_kept():
    found = read_environment("HF_TOKEN=hf_abc\nWANDB_API_KEY=k1", "env.txt").variables

    assert [v.value for v in found] == ["***", "***"]
    assert "hf_abc" not in repr(found)
    assert "k1" not in repr(found)


def test_complete_when_it_looks_like_a_whole_shell():
    assert read_environment("PATH=/bin\nHOME=/root\nA=1", "e").complete
    assert not read_environment("PATH=/bin\nA=1", "e").complete


def test_spaces_around_the_sign_are_reported():
    unread = read_environment("MAX_PIXELS = 602112\n", "env.txt").unread

    assert [(u.line, u.text) for u in unread] == [(1, "MAX_PIXELS = 602112")]


@given(st.text())
def test_any_text_is_read(text):
    for found in read_environment(text, "e").variables:
        assert found.name.isascii()


@given(
    st.dictionaries(
        st.from_regex(r"[A-Z][A-Z0-9_]{0,8}[0-9]", fullmatch=True),
        st.from_regex(r"[A-Za-z0-9_/.,:+-]{0,20}", fullmatch=True),
        max_size=6,
    )
)
def test_what_export_writes_is_read_back(env):
    text = "\n".join(f"export {name}={value}" for name, value in env.items())

    assert values(text) == env
