from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.reprs import MAX_LEAVES, flatten, read_fields, read_repr, whole


def test_a_dataclass_is_read_with_all_kinds_of_values():
    text = (
        "SftArguments(model='Qwen/Qwen2.5', system=\"it's\", max_steps=-1, lr=1e-05, dtype=None, "
        "strategy=<IntervalStrategy.STEPS: 'steps'>, scheduler=SchedulerType.COSINE, "
        "torch_dtype=torch.bfloat16, dataset=['a', 'b'], report_to=[], kwargs={'device_map': 'cpu'}"
        ", nested=Foo(a=1, b=(2, 3)), call=PosixPath('/x'), f=<function <lambda> at 0x7f>) and more"
    )

    values = read_repr(text)

    assert values == {
        "model": "Qwen/Qwen2.5",
        "system": "it's",
        "max_steps": "-1",
        "lr": "1e-05",
        "dtype": "null",
        "strategy": "steps",
        "scheduler": "cosine",
        "torch_dtype": "torch.bfloat16",
        "dataset": ["a", "b"],
        "report_to": [],
        "kwargs": {"device_map": "cpu"},
        "nested": {"a": "1", "b": ["2", "3"]},
        "call": "/x",
        "f": None,
    }


def test_bare_words_and_json_are_read():
    text = (
        "model='/x', tokenizer_mode=auto,  device_config=cuda:1, load_format=LoadFormat.AUTO, "
        'cc={"level":3,"ops":["none"],"graph":true}, '
    )

    assert read_fields(text) == {
        "model": "/x",
        "tokenizer_mode": "auto",
        "device_config": "cuda:1",
        "load_format": "auto",
        "cc": {"level": "3", "ops": ["none"], "graph": "true"},
    }


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("X(a=1, b='trunc", {"a": "1"}),
        ("X(a=1, b=['t', 'u", {"a": "1", "b": ["t"]}),
        ("{'a': {'b': 1, 'c': 'lo", {"a": {"b": "1"}}),
    ],
)
def test_a_text_that_breaks_off_keeps_what_is_whole(text, kept):
    assert read_repr(text) == kept


def test_strings_broken_over_lines_are_joined():
    assert read_repr("{'p': 'ab '\n      'cd',\n 'q': 1}") == {"p": "ab cd", "q": "1"}


def test_leaves_have_dotted_names():
    node = read_repr("{'a': {'b': 1}, 'l': [{'p': 'x'}, {'p': 'y'}], 'e': [], 'u': [<o at 1>]}")

    assert dict(flatten(node)) == {
        "a.b": ("1",),
        "l.0.p": ("x",),
        "l.1.p": ("y",),
        "e": (),
        "u": None,
    }


def test_a_mapping_may_be_kept_whole():
    node = read_repr("X(a={'b': 1, 'c': None, 'd': True, 'e': 1e-05, 'f': 'x'}, g={}, h=[1])")

    assert dict(whole(node)) == {
        "a": ('{"b": 1, "c": null, "d": true, "e": 1e-05, "f": "x"}',),
        "g": ("{}",),
        "h": ("1",),
    }


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200000,
        "X(" + "a=" * 100000,
        "[" + "'" * 200001,
        "{" * 200000,
        "<" * 200000,
        "X(" + "a=<" * 60000,
        "x(" * 100000,
        "((" + ",)" * 100000,
        "{'" + "a" * 200000,
    ],
)
def test_hostile_text_takes_linear_time(text):
    start = time.process_time()

    node = read_repr(text)

    assert time.process_time() - start < 2
    assert sum(1 for _ in flatten({"x": node})) <= MAX_LEAVES


@given(st.text(alphabet="abX(){}[]<>'\"=:, \\\n.1", max_size=200))
def test_any_text_is_read_without_raising(text):
    leaves = list(flatten({"x": read_repr(text)} | read_fields(text)))

    assert all(name for name, _ in leaves)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)


def _told(value):
    if isinstance(value, dict):
        return {key: _told(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_told(item) for item in value]
    return "null" if value is None else value if isinstance(value, str) else str(value)


@given(st.dictionaries(st.text(max_size=8), _VALUES, min_size=1, max_size=5))
def test_what_python_prints_is_read_back(mapping):
    assert read_repr(repr(mapping)) == _told(mapping)
