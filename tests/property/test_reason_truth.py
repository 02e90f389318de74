"""Conditions are decided as Kleene's three-valued logic does."""

from __future__ import annotations

import operator

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.knowledge import Cause, EvidenceSet, PriorCase
from trainrx.model.parts import Condition
from trainrx.model.text import Text
from trainrx.reason.conditions import MOST_EVIDENCE, Situation, decide, evidence, of_fact
from trainrx.reason.formulas import DecidedFormulas, Formulas
from trainrx.reason.outcomes import Truth, truth

OPS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
NUMBERS = st.sampled_from([0, 1, 2, 2.5, 1e-5, -3, 2**40])
WORDS = st.sampled_from(["train", "显存", "a b", ""])
RANGE = "<0.8"
RELEASES = st.sampled_from([{}, {"vllm": "0.7.3"}, {"vllm": "0.8.1"}, {"vllm": "0.x"}])
IN_RANGE = {None: None, "0.7.3": True, "0.8.1": False, "0.x": None}


CAUSE = Cause(
    schema=1,
    id="any",
    family="oom",
    title=Text(en="", zh=""),
    summary=Text(en="", zh=""),
    since="",
    updated="",
    severity="fatal",
    explains=(),
    prior=0.1,
    evidence=EvidenceSet(),
    fixes=(),
    references=(),
)


def evaluate(c, plain, sightings, versions):
    """Kleene's logic, read off the definition."""
    if c.not_ is not None:
        inner = evaluate(c.not_, plain, sightings, versions)
        return None if inner is None else not inner
    for parts, decisive in ((c.all, False), (c.any, True)):
        if parts is not None:
            values = [evaluate(part, plain, sightings, versions) for part in parts]
            if decisive in values:
                return decisive
            return None if None in values else not decisive
    if c.symptom is not None:
        each = [
            [known and OPS[op](s[f], v) if (known := f in s) else None for f, op, v in _tests(c)]
            for s in sightings.get(c.symptom, ())
        ]
        sure = any(all(v is True for v in tests) for tests in each)
        ruled_out = plain.get("log.given") is True and all(False in tests for tests in each)
        seen = True if sure else False if ruled_out else None
        return seen if c.seen or seen is None else not seen
    value = IN_RANGE[versions.get("vllm")] if c.package else plain.get(c.fact)
    if c.known is not None:
        return (value is not None) == c.known
    if value is None or c.package:
        return value
    if c.one_of is not None:
        return value in c.one_of
    return next(OPS[op](value, getattr(c, op)) for op in OPS if getattr(c, op) is not None)


def _tests(condition):
    for field, test in (condition.if_ or {}).items():
        for op, value in (test if isinstance(test, dict) else {"eq": test}).items():
            yield field, op, value


number_tests = st.builds(
    lambda name, op, value: Condition(fact=f"n{name}", **{op: value}),
    st.integers(0, 2),
    st.sampled_from(list(OPS)),
    NUMBERS,
)
word_tests = st.builds(
    lambda op, value: Condition(fact="w", **{op: value}), st.sampled_from(["eq", "ne"]), WORDS
)
choices = st.builds(
    lambda values: Condition(fact="w", one_of=tuple(values)), st.lists(WORDS, min_size=1)
)
known = st.builds(
    lambda name, known: Condition(fact=name, known=known),
    st.sampled_from(["n0", "w"]),
    st.booleans(),
)
fields = st.dictionaries(
    st.sampled_from(["rank", "asked"]),
    st.one_of(NUMBERS, st.dictionaries(st.sampled_from(list(OPS)), NUMBERS, min_size=1)),
)
symptoms = st.builds(
    lambda name, seen, tests: Condition(symptom=name, seen=seen, if_=tests or None),
    st.sampled_from(["cuda-oom", "loss-nan"]),
    st.booleans(),
    fields,
)
packages = st.builds(
    lambda known: Condition(package="vllm", versions=RANGE, known=known),
    st.sampled_from([None, True, False]),
)
conditions = st.recursive(
    st.one_of(number_tests, word_tests, choices, known, symptoms, packages),
    lambda inner: st.one_of(
        st.builds(
            lambda parts: Condition(all=tuple(parts)), st.lists(inner, min_size=1, max_size=12)
        ),
        st.builds(
            lambda parts: Condition(any=tuple(parts)), st.lists(inner, min_size=1, max_size=12)
        ),
        st.builds(lambda part: Condition(not_=part), inner),
    ),
    max_leaves=25,
)
plain_facts = st.fixed_dictionaries(
    {},
    optional={
        "n0": NUMBERS,
        "n1": NUMBERS,
        "w": WORDS,
        "log.given": st.booleans(),
    },
)
seen_lines = st.dictionaries(
    st.sampled_from(["cuda-oom", "loss-nan"]),
    st.lists(st.dictionaries(st.sampled_from(["rank", "asked", "at"]), NUMBERS), max_size=4),
)


def as_facts(plain, sightings):
    yield from (fact(name, value) for name, value in plain.items())
    for name, seen in sightings.items():
        yield from (Fact(kind=f"symptom.{name}", fields=tuple(s.items())) for s in seen)


def situation(plain, sightings, versions):
    return Situation(Facts(as_facts(plain, sightings)), versions, {})


@given(wanted=conditions, plain=plain_facts, sightings=seen_lines, versions=RELEASES)
def test_conditions_are_decided_as_kleene_does(wanted, plain, sightings, versions):
    found = decide(wanted, situation(plain, sightings, versions))

    assert found is evaluate(wanted, plain, sightings, versions)


@given(wanted=conditions, plain=plain_facts, sightings=seen_lines, versions=RELEASES)
def test_evidence_decides_alone_what_it_decided_with_all_else(wanted, plain, sightings, versions):
    if _asks_known(wanted):
        return
    whole = situation(plain, sightings, versions)
    log = [item for item in whole.facts if item.kind == "log.given"]
    shown = [f for f in evidence(wanted, whole) if f.kind != "log.given"]
    ruled_out = [f for f in whole.facts if f.kind.startswith("symptom.") and f not in shown]

    alone = Situation(Facts((*log, *shown, *ruled_out)), versions, {})

    assert decide(wanted, alone) is decide(wanted, whole) or len(shown) >= MOST_EVIDENCE


@given(
    wanted=conditions,
    plain=plain_facts,
    sightings=seen_lines,
    versions=RELEASES,
    order=st.randoms(use_true_random=False),
)
def test_the_order_of_facts_changes_no_truth_and_no_set_of_evidence(
    wanted, plain, sightings, versions, order
):
    facts = list(as_facts(plain, sightings))
    one = Situation(Facts(facts), versions, {})
    order.shuffle(facts)

    two = Situation(Facts(facts), versions, {})

    assert decide(wanted, one) is decide(wanted, two)
    assert set(map(repr, evidence(wanted, one))) == set(map(repr, evidence(wanted, two)))


@given(wanted=conditions, plain=plain_facts, sightings=seen_lines)
def test_an_unknown_fact_decides_nothing(wanted, plain, sightings):
    """Taking facts away may only turn an answer into unknown, unless knowing itself is asked."""
    if _asks_known(wanted):
        return
    full = decide(wanted, situation(plain, sightings, {}))
    for name in [n for n in plain if n != "log.given"]:
        fewer = {key: value for key, value in plain.items() if key != name}

        less = decide(wanted, situation(fewer, sightings, {}))

        assert less in (full, None)


@given(wanted=conditions, plain=plain_facts, sightings=seen_lines, versions=RELEASES, n2=NUMBERS)
def test_outcomes_decide_a_condition_all_at_once_as_each_does_alone(
    wanted, plain, sightings, versions, n2
):
    known = situation(plain, sightings, versions)
    values = (n2, n2 + 1)

    cause = msgspec.structs.replace(CAUSE, priors=(PriorCase(when=wanted, prior=0.5),))
    taken_apart = Formulas({"any": cause}).of("any")
    (formula,) = taken_apart.cases

    def said(test):
        found = [of_fact(test.condition, value) for value in values]
        bits = [sum(1 << at for at in (0, 1) if found[at] is holds) for holds in (True, False)]
        return Truth(*bits)

    asked = taken_apart.asked.get("n2")
    open_ = {} if asked is None else {test: said(test) for test in asked.tests}
    found = truth(formula, "n2", open_, DecidedFormulas(known))

    for at, value in enumerate(values):
        then = situation({**plain, "n2": value}, sightings, versions)
        assert found.at(at) is decide(wanted, then)


def _asks_known(condition):
    parts = (*(condition.all or ()), *(condition.any or ()))
    inner = (condition.not_,) if condition.not_ is not None else ()
    return condition.known is not None or any(map(_asks_known, (*parts, *inner)))
