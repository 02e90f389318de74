from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from knowledge_folders import CAUSE, GUARD, PACKAGE, RULE, SYMPTOM

from trainrx.entries.problem import find, key_at
from trainrx.entries.structure import mend
from trainrx.knowledge.yaml12 import read_nodes
from trainrx.model.knowledge import Cause, Rule, Symptom
from trainrx.model.levers import Guard
from trainrx.model.packages import PackageEntry

KINDS: dict[str, tuple[type[msgspec.Struct], str]] = {
    "cause": (Cause, CAUSE),
    "symptom": (Symptom, SYMPTOM),
    "rule": (Rule, RULE),
    "guard": (Guard, GUARD),
    "package": (PackageEntry, PACKAGE),
}
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


def data_of(text: str, folder: Path) -> Any:
    path = folder / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return read_nodes(path)[0]


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("entries")
    return {name: data_of(text, folder) for name, (_, text) in KINDS.items()}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("nodes") / "a.yaml"
    path.write_text(CAUSE, encoding="utf-8")
    return read_nodes(path)[1]


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(data, dict):
        return [path, *(p for key, value in data.items() for p in places(value, (*path, key)))]
    if isinstance(data, list):
        return [path, *(p for at, value in enumerate(data) for p in places(value, (*path, at)))]
    return [path]


@given(data=st.data())
def test_what_it_refuses_and_only_that_is_refused_by_the_record(entries, data) -> None:
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    entry = copy.deepcopy(entries[kind])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(entry) if p]))
        holder = entry
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = data.draw(JUNK)

    mended = mend(entry, KINDS[kind][0])

    try:
        msgspec.convert(entry, KINDS[kind][0])
    except msgspec.ValidationError:
        assert mended.problems
    else:
        assert mended.problems == ()
    msgspec.convert(mended.data, KINDS[kind][0])


@given(data=JUNK)
def test_whatever_stands_there_is_made_to_fit(data: object) -> None:
    for kind, _ in KINDS.values():
        msgspec.convert(mend(data, kind).data, kind)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("", 1),
        ("title.zh", 4),
        ("evidence.supports[0].weight", 14),
        ("evidence.died-in-training.weight", 14),
        ("evidence.died-in-training.nothing", 13),
        ("fixes.halve.set.train.micro_batch", 23),
        ("fixes[3]", 18),
        ("references.a.url", 25),
        ("nothing.at.all", 1),
    ],
)
def test_a_key_path_leads_to_its_line(tmp_path: Path, key: str, line: int) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(CAUSE, encoding="utf-8")
    _, node = read_nodes(path)

    assert find(node, key).line == line


@pytest.mark.parametrize(
    ("line", "column", "key", "text"),
    [
        (0, 3, "", None),
        (1, 7, "a.x", "1"),
        (1, 13, "a.y", "two"),
        (2, 9, "b", None),
        (4, 4, "c[1]", "other"),
    ],
)
def test_a_place_leads_to_its_key(
    tmp_path: Path, line: int, column: int, key: str, text: str | None
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("# first\na: {x: 1, y: two}\nb: 3   # why\nc: [one,\n    other]\n")
    _, node = read_nodes(path)

    assert key_at(node, line, column) == (key, text)


@given(key=st.text("abc.[]01 -", max_size=40) | st.text(max_size=10))
def test_any_key_path_leads_to_a_line_of_the_file(nodes, key: str) -> None:
    assert 1 <= find(nodes, key).line <= len(CAUSE.splitlines())
