"""Both engines infer the same, on random rule bases and on the shipped rules with random facts."""

from __future__ import annotations

from functools import cache

from hypothesis import assume, given
from hypothesis import strategies as st

from examples import examples
from trainrx.knowledge.load import load
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.reason.base import (
    Check,
    Copy,
    EngineError,
    EngineRule,
    Inference,
    Join,
    Pattern,
    RuleError,
    Template,
)
from trainrx.reason.conditions import Situation
from trainrx.reason.durable import DurableEngine
from trainrx.reason.reasoner import Reasoner
from trainrx.reason.reference import PyEngine
from trainrx.reason.rulebase import RuleBase

KINDS = st.sampled_from(["a", "b", "c.d", "symptom.cuda-oom"])
FIELDS = st.sampled_from(["v", "w", "id"])
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.5, 1e-5, 1e16, -0.0, 2**53, 2**53 - 1, 2**70]),
    st.floats(),
)
TEXTS = st.one_of(st.sampled_from(["", "x", "显存", 'a"b', "1", "true"]), st.text(max_size=6))
VALUES = st.one_of(NUMBERS, TEXTS, st.booleans())


@st.composite
def checks(draw):
    # v is a number, w text, id boolean: most random rules then agree on the sort of a field
    field = draw(FIELDS)
    op = draw(st.sampled_from(["eq", "ne", "known", "missing", *(["lt", "ge"] * (field == "v"))]))
    values = {"v": NUMBERS, "w": TEXTS, "id": st.booleans()}[field]
    return Check(field, op, None if op in ("known", "missing") else draw(values))


@st.composite
def patterns(draw, alias=""):
    return Pattern(
        kind=draw(KINDS), checks=tuple(draw(st.lists(checks(), max_size=2))), alias=alias
    )


@st.composite
def rules(draw, ident):
    positive = [draw(patterns(f"p{at}")) for at in range(draw(st.integers(1, 3)))]
    absent = [
        Pattern(kind=p.kind, checks=p.checks, absent=True, lenient=draw(st.booleans()))
        for p in draw(st.lists(patterns(), max_size=2))
    ]
    joins = draw(
        st.lists(
            st.builds(
                Join,
                left=st.just("p0"),
                left_field=FIELDS,
                op=st.sampled_from(["eq", "ne", "lt", "ge"]),
                right=st.just(f"p{len(positive) - 1}"),
                right_field=FIELDS,
                same=st.sampled_from([(), ("w",)]),
            ),
            max_size=1,
        )
    )
    fields = st.tuples(FIELDS, st.one_of(VALUES, st.builds(Copy, st.just("p0"), FIELDS)))
    made = st.builds(
        lambda kind, pairs: Template(kind=kind, fields=tuple(pairs)),
        st.sampled_from(["c.d", "derived", "e"]),
        st.lists(fields, max_size=2, unique_by=lambda pair: pair[0]),
    )
    return EngineRule(
        id=ident,
        when=tuple(draw(st.permutations([*positive, *absent]))),
        joins=tuple(joins),
        derive=tuple(draw(st.lists(made, max_size=2))),
    )


@st.composite
def rule_bases(draw):
    return [draw(rules(f"r{at}")) for at in range(draw(st.integers(1, 5)))]


facts = st.lists(
    st.builds(
        lambda kind, fields, source: Fact(
            kind=kind,
            fields=tuple(fields),
            origins=(Origin(source=source),) if source else (),
        ),
        st.one_of(KINDS, st.just("nobody.reads")),
        st.lists(st.tuples(FIELDS, VALUES), max_size=3, unique_by=lambda pair: pair[0]),
        st.sampled_from(["", "", "x.log"]),
    ),
    max_size=8,
)


def outcome(engine: DurableEngine | PyEngine, given_facts: list[Fact]) -> Inference | str:
    try:
        return engine.infer(given_facts)
    except EngineError as error:
        return type(error).__name__


@examples(100)
@given(made=rule_bases(), known=facts, order=st.randoms(use_true_random=False))
def test_both_engines_infer_the_same_in_any_order(made, known, order):
    try:
        base = RuleBase(made)
    except RuleError:
        assume(condition=False)
    durable = DurableEngine(base)
    shuffled = list(known)
    order.shuffle(shuffled)

    one, two = outcome(durable, known), outcome(PyEngine(base), shuffled)

    durable.close()
    assert repr(one) == repr(two)


@cache
def knowledge() -> Knowledge:
    return load()


@cache
def reasoners() -> tuple[Reasoner, Reasoner]:
    rules_of_kb = knowledge().rules.values()
    return Reasoner(rules_of_kb), Reasoner(rules_of_kb, "reference")


def plain_facts():
    types = {p.id: p.type for p in knowledge().params.values()}
    types |= {f.id: f.type for f in knowledge().facts.values()}
    of_type = {
        "int": st.sampled_from([0, 1, 2, 3, 4, 8, 32, 16384]),
        "float": st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.5, 24.0, 80.0]),
        "bool": st.booleans(),
        "text": st.sampled_from(["train", "load", "colocate", "fp16", "zero3", "dropped", "sdpa"]),
    }
    each = [st.tuples(st.just(name), of_type[kind]) for name, kind in sorted(types.items())]
    return st.lists(st.one_of(each), max_size=40, unique_by=lambda pair: pair[0])


def sightings():
    places = st.fixed_dictionaries(
        {},
        optional={
            "rank": st.integers(0, 2),
            "at": st.integers(0, 50),
            "phase": st.sampled_from(["train", "tokenize"]),
            "xid": st.sampled_from([31, 79]),
            "clock": st.sampled_from(["wall", "a.log"]),
        },
    )
    return st.lists(st.tuples(st.sampled_from(sorted(knowledge().symptoms)), places), max_size=25)


def situation(plain, seen) -> list[Fact]:
    return [
        *(fact(name, value) for name, value in plain),
        *(Fact(kind=f"symptom.{name}", fields=tuple(at.items())) for name, at in seen),
    ]


@examples(20)
@given(data=st.data(), order=st.randoms(use_true_random=False))
def test_the_shipped_rules_conclude_the_same_on_both_engines_in_any_order(data, order):
    known = situation(data.draw(plain_facts()), data.draw(sightings()))
    shuffled = list(known)
    order.shuffle(shuffled)
    durable, reference = reasoners()

    one, two = (
        engine.reason(Situation(Facts(facts), {}, {}))
        for engine, facts in ((durable, known), (reference, shuffled))
    )

    assert one.engine_name.startswith("durable_rules")
    assert one.notes == two.notes == ()
    for part in ("firings", "suggestions", "explanations", "asks"):
        assert repr(getattr(one, part)) == repr(getattr(two, part))


def test_the_shipped_rules_fit_the_engine_in_few_rule_bases():
    durable, _ = reasoners()

    bases = [stage.base for stage in durable._stages()]

    assert len(bases) <= 16
    assert all(stage.why_not is None for stage in durable._stages())
