from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.facts.guards import guard_facts
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, Origin, Scalar, fact
from trainrx.model.parts import Relation, RelationKind

KNOWN = load()


def judged(kind: RelationKind, left: list[Scalar], right: list[Scalar]) -> bool | None:
    names = tuple(f"a.{i}" for i in range(len(left))), tuple(f"b.{i}" for i in range(len(right)))
    given_facts = [fact(n, v) for n, v in zip((*names[0], *names[1]), (*left, *right), strict=True)]
    relation = Relation(kind=kind, left=names[0], right=names[1])
    found = list(guard_facts(Facts(given_facts), {"guard.it": relation}))
    return None if not found else found[0].value is True


@pytest.mark.parametrize(
    ("kind", "left", "right", "expected"),
    [
        ("divides", [2, 4], [16], True),
        ("divides", [3, 4], [16], False),
        ("divides", [32], [16], False),
        ("at-most", [8], [2, 4], True),
        ("at-most", [9], [2, 4], False),
        ("equal", [2, 4], [8], True),
        ("equal", [2, 4], [6], False),
        ("sums-to", [2, 4], [6], True),
        ("sums-to", [2, 4], [8], False),
    ],
)
def test_relation_compares_the_two_sides(
    kind: RelationKind, left: list[Scalar], right: list[Scalar], expected: bool
) -> None:
    assert judged(kind, left, right) is expected


@pytest.mark.parametrize("value", [0, -1, 1.5, "none", "auto", True])
def test_what_is_no_positive_whole_number_leaves_the_relation_open(value: Scalar) -> None:
    assert judged("divides", [value], [8]) is None
    assert judged("divides", [8], [value]) is None


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_number_divides_its_multiples_only(left: int, right: int) -> None:
    assert judged("divides", [left], [left * right]) is True
    assert judged("divides", [left], [right]) is (right % left == 0)


def test_a_missing_number_leaves_the_relation_open() -> None:
    facts = Facts([fact("train.micro_batch", 2), fact("train.global_batch", 8)])

    assert list(guard_facts(facts, KNOWN.relations)) == []


def test_a_relation_cites_where_its_numbers_stand() -> None:
    micro, whole = Origin(source="run.sh", line=3), Origin(source="run.sh", line=4)
    facts = Facts(
        [
            fact("train.micro_batch", 3, micro),
            fact("parallel.data_parallel", 2),
            fact("train.global_batch", 16, whole),
        ]
    )

    found = {item.kind: item for item in guard_facts(facts, KNOWN.relations)}

    assert found["guard.micro_batches_fit_global_batch"].value is False
    assert found["guard.micro_batches_fit_global_batch"].origins == (micro, whole)
    assert found["guard.global_batch_holds_a_micro_batch"].value is True


@pytest.mark.parametrize(("steps", "expected"), [(500, True), (500.5, False), (0.1, None)])
def test_a_count_of_steps_is_whole_and_a_share_is_left_alone(
    steps: float, expected: bool | None
) -> None:
    found = list(guard_facts(Facts([fact("train.save_steps", steps)]), KNOWN.relations))

    assert [item.value for item in found] == ([] if expected is None else [expected])


def test_the_checks_of_frameworks_have_their_arithmetic() -> None:
    assert len(KNOWN.relations) >= 42
    assert {name.partition(".")[0] for name in KNOWN.relations} == {"guard"}
