from __future__ import annotations

import pytest

from trainrx.fix.holds import holds
from trainrx.model.facts import Facts, fact
from trainrx.model.parts import Condition

FACTS = Facts((fact("a", 3), fact("b", True), fact("c", "flash_attn")))
VERSIONS = {"ms-swift": "3.2.1"}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Condition(fact="a", ge=3), True),
        (Condition(fact="a", lt=3), False),
        (Condition(fact="a", eq=3.0), True),
        (Condition(fact="missing", ge=3), None),
        (Condition(fact="missing", known=False), True),
        (Condition(fact="b", eq=True), True),
        (Condition(fact="b", eq="x"), None),
        (Condition(fact="b", ge=1), None),
        (Condition(fact="c", one_of=("sdpa", "flash_attn")), True),
        (Condition(fact="c", ne="sdpa"), True),
        (Condition(package="ms-swift", versions="<3.5"), True),
        (Condition(package="vllm", versions="<3.5"), None),
    ],
)
def test_a_single_test_is_true_false_or_unknown(
    condition: Condition, expected: bool | None
) -> None:
    assert holds(condition, FACTS, VERSIONS) is expected


def test_one_false_part_makes_all_false_whatever_is_unknown() -> None:
    parts = (Condition(fact="missing", ge=1), Condition(fact="a", lt=0))

    assert holds(Condition(all=parts), FACTS, VERSIONS) is False


def test_one_true_part_makes_any_true_whatever_is_unknown() -> None:
    parts = (Condition(fact="missing", ge=1), Condition(fact="a", ge=0))

    assert holds(Condition(any=parts), FACTS, VERSIONS) is True


def test_the_opposite_of_unknown_is_unknown() -> None:
    assert holds(Condition(not_=Condition(fact="missing", ge=1)), FACTS, VERSIONS) is None
