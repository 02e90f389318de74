"""Conditions decided directly are decided as the engine decides them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from trainrx.facts.all import version_facts
from trainrx.fix.holds import holds
from trainrx.model.facts import Facts, fact
from trainrx.model.parts import Condition
from trainrx.reason.conditions import version_tests
from trainrx.reason.reasoner import Reasoner

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-2, 3)
WORDS = st.sampled_from(["x", "y"])
# a fact is of one sort in all conditions: a is a number, b a text, c a switch
TESTS = st.one_of(
    st.builds(lambda v: Condition(fact="a", ge=v), NUMBERS),
    st.builds(lambda v: Condition(fact="a", lt=v), NUMBERS),
    st.builds(lambda v: Condition(fact="b", eq=v), WORDS),
    st.builds(lambda v: Condition(fact="b", ne=v), WORDS),
    st.builds(lambda v: Condition(fact="b", one_of=(v, "z")), WORDS),
    st.builds(lambda v: Condition(fact="c", eq=v), st.booleans()),
    st.builds(lambda n, v: Condition(fact=n, known=v), NAMES, st.booleans()),
    st.just(Condition(package="p", versions=">=2")),
    st.just(Condition(package="q", versions="<1")),
)
CONDITIONS = st.recursive(
    TESTS,
    lambda part: st.one_of(
        st.lists(part, min_size=1, max_size=3).map(lambda p: Condition(all=tuple(p))),
        st.lists(part, min_size=1, max_size=3).map(lambda p: Condition(any=tuple(p))),
        part.map(lambda p: Condition(not_=p)),
    ),
    max_leaves=5,
)
FACTS = st.fixed_dictionaries({}, optional={"a": NUMBERS, "b": WORDS, "c": st.booleans()})


@settings(max_examples=60, deadline=None)
@given(CONDITIONS, FACTS, st.sampled_from([{}, {"p": "2.1"}, {"p": "1.0", "q": "0.5"}]))
def test_direct_and_engine_agree(
    condition: Condition, values: dict[str, object], versions: dict[str, str]
) -> None:
    facts = Facts(fact(name, value) for name, value in values.items())  # type: ignore[arg-type]
    tested = version_facts(version_tests([condition]), versions)
    reasoner = Reasoner((), {"it": condition}, engine="reference")

    told = reasoner.reason((*facts, *tested)).truths["it"].holds
    reasoner.close()

    assert holds(condition, facts, versions) is told
