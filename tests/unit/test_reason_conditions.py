from __future__ import annotations

import msgspec
import pytest
from entries import WORDS

from trainrx.knowledge.conditions import refuse_malformed
from trainrx.model.errors import KnowledgeError
from trainrx.model.facts import Fact, Facts, Origin, Scalar, fact
from trainrx.model.knowledge import Symptom
from trainrx.model.parts import Condition
from trainrx.reason.conditions import Situation, decide, evidence, holds

FACTS = Facts((fact("a", 3), fact("b", True), fact("c", "flash_attn"), fact("unset", "none")))
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
        (Condition(package="ms-swift", versions="<3.5", known=True), True),
        (Condition(package="ms-swift", versions="<3.5", known=False), False),
        (Condition(package="vllm", versions="<3.5", known=False), True),
        # nobody can tell which number "flash_attn" would be
        (Condition(fact="c", ne=3), None),
        (Condition(fact="c", one_of=(3, "sdpa")), None),
        (Condition(fact="c", one_of=(3, "flash_attn")), True),
        # what is set to nothing is no number and no switch
        (Condition(fact="unset", eq=True), False),
        (Condition(fact="unset", ne=3), True),
        (Condition(fact="unset", one_of=(1, 2)), False),
        (Condition(fact="unset", lt=3), None),
        (Condition(fact="unset", eq="none"), True),
        # of a launch no log speaks
        (Condition(symptom="cuda-oom"), None),
        (Condition(symptom="cuda-oom", seen=False), None),
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


def sighting(symptom: str, line: int = 1, **fields: Scalar) -> Fact:
    origin = Origin(source="train.log", line=line)
    return Fact(kind=f"symptom.{symptom}", fields=tuple(fields.items()), origins=(origin,))


def symptom(**more: object) -> Symptom:
    entry = {"schema": 1, "id": "seen-slow", "title": WORDS}
    entry |= {"role": "failure", "since": "0.1.0", "updated": "2026-11-21", "patterns": []}
    return msgspec.convert(entry | {"samples": {"match": [], "near_miss": []}} | more, Symptom)


def shown(condition: Condition, *facts: Fact) -> bool | None:
    return decide(condition, Situation(Facts(facts), {}, {}))


LOG = fact("log.given", True)


def test_a_sighting_whose_tested_field_is_unknown_leaves_the_test_open() -> None:
    later = Condition(symptom="cuda-oom", if_={"rank": {"gt": 0}})

    assert shown(later, LOG, sighting("cuda-oom", rank=3)) is True
    assert shown(later, LOG, sighting("cuda-oom", rank=0)) is False
    assert shown(later, LOG, sighting("cuda-oom")) is None
    assert shown(later, LOG) is False
    assert shown(later) is None


def test_a_symptom_is_not_absent_without_a_log() -> None:
    unseen = Condition(symptom="cuda-oom", seen=False)

    assert shown(unseen) is None
    assert shown(unseen, LOG) is True
    assert shown(unseen, LOG, sighting("cuda-oom")) is False


@pytest.mark.parametrize("log", [(), (LOG,)])
def test_a_symptom_somebody_looked_for_in_vain_is_false_and_cites_who_looked(
    log: tuple[Fact, ...],
) -> None:
    looked = fact("unseen.xid-error", True, Origin(source="answer symptom.xid-error"))
    situation = Situation(Facts((*log, looked)), {}, {})

    assert decide(Condition(symptom="xid-error"), situation) is False
    assert decide(Condition(symptom="xid-error", seen=False), situation) is True
    assert decide(Condition(symptom="ecc-error"), situation) is (False if log else None)
    assert evidence(Condition(symptom="xid-error"), situation) == (looked,)


@pytest.mark.parametrize("entry", [symptom(role="observation"), symptom(found_by=WORDS)])
def test_a_log_says_nothing_of_what_shows_elsewhere(entry: Symptom) -> None:
    condition = Condition(symptom="seen-slow")
    without, with_one = Facts((LOG,)), Facts((LOG, sighting("seen-slow")))

    assert decide(condition, Situation(without, {}, {"seen-slow": entry})) is None
    assert decide(condition, Situation(with_one, {}, {"seen-slow": entry})) is True
    assert decide(condition, Situation(without, {}, {"seen-slow": symptom()})) is False


def lines(condition: Condition, *facts: Fact) -> list[int | None]:
    found = evidence(condition, Situation(Facts(facts), {}, {}))
    return [origin.line for item in found for origin in item.origins]


def test_evidence_comes_in_the_order_of_the_facts() -> None:
    condition = Condition(any=(Condition(symptom="b"), Condition(symptom="a")))
    facts = (sighting("a", 9, at=9), sighting("b", 10, at=10), sighting("a", 11, at=11))

    assert lines(condition, *facts) == [9, 10, 11]


def test_only_the_parts_that_decide_are_evidence() -> None:
    condition = Condition(any=(Condition(symptom="a", if_={"rank": 1}), Condition(symptom="b")))

    assert lines(condition, sighting("a", 1, rank=0), sighting("b", 2)) == [2]
    assert lines(condition, LOG, sighting("a", 1, rank=1), sighting("c", 2)) == [1]


def test_of_sightings_alike_the_first_few_are_evidence() -> None:
    alike = [sighting("a", at, at=at) for at in range(9)]
    ranks = [sighting("a", rank, at=rank, rank=rank % 2) for rank in range(20)]

    assert lines(Condition(symptom="a"), *reversed(alike)) == [3, 2, 1, 0]
    assert lines(Condition(symptom="a", if_={"rank": {"ge": 0}}), *ranks) == list(range(8))


def place(line: int) -> Origin:
    return Origin(source="f", line=line, text="x")


def test_no_line_shows_an_absence_but_the_launch_stands_for_it() -> None:
    framework = fact("launch.framework", "ms-swift", place(1))
    launch = fact("launch.given", True, place(5))
    named = Condition(fact="launch.framework", eq="ms-swift")
    given = Condition(fact="launch.given", eq=True)
    unset = Condition(fact="a", known=False)

    assert lines(Condition(all=(named, given, unset)), framework, launch) == [5]
    assert lines(Condition(all=(named, unset)), framework, launch) == []
    assert lines(Condition(all=(named, Condition(symptom="s", seen=False))), LOG, framework) == []


def test_what_holds_of_the_whole_job_is_evidence_only_where_nothing_else_is() -> None:
    framework = fact("launch.framework", "ms-swift", place(1))
    setting = fact("a", 3, place(9))
    named = Condition(fact="launch.framework", eq="ms-swift")

    assert lines(Condition(all=(named, Condition(fact="a", eq=3))), framework, setting) == [9]
    assert lines(named, framework, setting) == [1]


def test_a_release_is_evidence_of_its_range() -> None:
    old = Situation(Facts(), {"vllm": "0.7.3"}, {})

    (found,) = evidence(Condition(package="vllm", versions="<0.8"), old)

    assert [str(origin) for origin in found.origins] == ["vllm 0.7.3"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (Condition(), "exactly one"),
        (Condition(fact="a", gt=float("inf")), "cannot be compared"),
        (Condition(symptom="a", if_={"rank": {"like": 1}}), "knows only"),
        (Condition(symptom="a", if_={"rank": {"known": 3}}), "known is true or false"),
        (Condition(symptom="a", if_={"rank": {"gt": "x"}}), "needs a number"),
        (Condition(symptom="a", if_={"rank": float("nan")}), "cannot be compared"),
        (Condition(symptom="a", known=True), "belongs to a fact"),
        (Condition(package="a", versions="<2", eq=1), "belongs to a fact"),
        (Condition(fact="a", ge=1, lt=2), "exactly one"),
        (Condition(any=(Condition(fact="a", ge=1), Condition(fact="a", eq="x"))), "two types"),
        (Condition(fact="a", one_of=(1, "x")), "two types"),
        (Condition(fact="b", eq=True), "b used with two types: number and switch"),
        (Condition(not_=Condition(all=())), "all is empty"),
    ],
)
def test_a_malformed_condition_is_refused_by_its_id(condition: Condition, message: str) -> None:
    good = Condition(fact="b", eq=1)

    with pytest.raises(KnowledgeError) as refused:
        refuse_malformed([("good", good), ("c/for/v", condition)])

    assert refused.value.path == "c/for/v"
    assert message in refused.value.message


@pytest.mark.parametrize(
    "condition",
    [
        Condition(symptom="a", if_={"rank": 2.0**70}),
        Condition(symptom="a", if_={"rank": {"known": True}}),
        Condition(package="a", versions="<2", known=False),
        Condition(fact="a", one_of=("x", "y")),
    ],
)
def test_what_can_be_decided_is_not_refused(condition: Condition) -> None:
    refuse_malformed([("c/for/v", condition)])


def test_what_is_set_to_something_nobody_can_tell_is_not_unset() -> None:
    facts = Facts((fact("launch.unresolved", "b parallel.node_rank"),))

    assert holds(Condition(fact="parallel.node_rank", known=False), facts, {}) is None
    assert holds(Condition(fact="parallel.nodes", known=False), facts, {}) is True
