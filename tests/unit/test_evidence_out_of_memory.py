"""Who holds the card whose memory ran out, by the figures of the message alone."""

from __future__ import annotations

import pytest

from trainrx.evidence.out_of_memory import oom_facts
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, fact
from trainrx.model.job import Hit, SymptomHits

KNOWLEDGE = load()
OWN = "Including non-PyTorch memory, this process"


def others(
    holders: str, *, free: float = 0.5, allocated: float | None, unused: float = 0.5
) -> float | None:
    """Give what other processes hold of a card of 80 GiB, as the message is read."""
    known = {"oom.card_gib": 80.0, "oom.free_gib": free}
    if allocated is not None:
        known |= {"oom.allocated_gib": allocated, "oom.reserved_unused_gib": unused}
    facts = Facts()
    facts.add(*(fact(name, value) for name, value in known.items()))
    captured = (("holders", holders),)
    hit = Hit(symptom="cuda-oom", source="train.log", line=1, text="", captures=captured)
    seen = SymptomHits(symptom="cuda-oom", count=1, hits=(hit,))
    facts.add(*oom_facts([seen], KNOWLEDGE.symptoms, facts))
    return facts.number("oom.other_process_gib")


def named(*sizes: float) -> str:
    return "".join(
        f" Process {pid} has {size} GiB memory in use." for pid, size in enumerate(sizes)
    )


@pytest.mark.parametrize(
    ("holders", "found"),
    [
        (f" {OWN} has 49.5 GiB memory in use.{named(20, 10)}", 30.0),
        (f"{named(20)} {OWN} has 59.5 GiB memory in use.{named(0)}", 20.0),
        (named(79.5), 0.0),
        (named(60.0, 19.5), 60.0),
        (named(30.0, 30.0, 19.5), 60.0),
    ],
)
def test_the_own_process_is_not_counted_even_where_it_is_printed_by_a_number(
    holders: str, found: float
) -> None:
    allocated = 70.0 if holders == named(79.5) else 16.0

    assert others(holders, allocated=allocated) == pytest.approx(found)


def test_who_is_named_is_another_where_the_own_memory_lies_outside() -> None:
    assert others(named(60.0), free=1.0, allocated=16.0) == 60.0


def test_one_process_that_holds_all_of_the_card_is_this_one() -> None:
    assert others(named(79.5), allocated=10.0) == 0.0


def test_a_message_cut_before_the_own_memory_says_the_least_the_others_hold() -> None:
    assert others(named(30.0, 49.0), allocated=None) == 30.0
    assert others(named(60.0), allocated=None) is None
    assert others("", allocated=16.0) is None
