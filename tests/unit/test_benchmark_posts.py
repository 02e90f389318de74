"""What the benchmark of pasted posts counts and lists."""

from __future__ import annotations

from accuracy_table import Outcome
from posts import Pair, table


def outcome(case: str, first: bool, third: bool) -> Outcome:
    return Outcome(
        case=case,
        set="a",
        date="",
        family="oom",
        named="oom",
        verdict="suspected",
        likely=False,
        probability=0.3,
        symptom=True,
        hit=(first, third),
        causes=("too-long:0.30",),
    )


def test_a_post_that_answers_less_as_a_paste_is_listed_and_lowers_the_ratio() -> None:
    pairs = [
        Pair(outcome("alike", True, True), outcome("alike", True, True)),
        Pair(outcome("third", True, True), outcome("third", False, True)),
        Pair(outcome("better", False, False), outcome("better", False, True)),
    ]

    lines = list(table(pairs))

    assert lines[3].split() == ["ratio", "0.500", "1.500"]
    differ = [line.splitlines()[0] for line in lines if line[:2] in ("< ", "> ")]
    assert differ == ["< third", "> better"]
