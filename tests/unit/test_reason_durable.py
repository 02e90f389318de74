"""Guards for what was measured to go wrong with durable_rules; each runs on both engines."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import threading
from importlib.metadata import version

import pytest
from engine_rules import absent, both, concludes, fired, given, join, pattern, rule

from trainrx.model.facts import Fact
from trainrx.reason import durable as durable_module
from trainrx.reason.base import EngineError, RuleError
from trainrx.reason.durable import DurableEngine
from trainrx.reason.limits import MAX_FAN, MAX_KINDS, MAX_SHARED
from trainrx.reason.reasoner import spread
from trainrx.reason.reference import PyEngine
from trainrx.reason.rulebase import RuleBase


@pytest.mark.parametrize("rate", [1e-5, 2e-05, 1e16, 1e22, 1e-300, 5e-324, 1.5e-7, 3])
def test_t01_floats_with_exponents_cross_unharmed(rate):
    rules = [
        rule("same", pattern("lr", ("v", "eq", rate))),
        rule("more", pattern("lr", ("v", "gt", rate))),
    ]

    assert fired(both(rules, [given("lr", v=rate)])) == ["same"]


@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, -math.inf, None, 2**63, 2**53 + 1, 1e300, [1], dict, b"x"]
)
def test_t02_t04_values_that_cannot_be_compared_match_nothing(bad):
    rules = [
        rule("other", pattern("x", ("v", "ne", 0))),
        rule("known", pattern("x", ("v", "known"))),
        rule("missing", pattern("x", ("v", "missing"))),
        rule("any", pattern("x")),
    ]

    assert fired(both(rules, [Fact(kind="x", fields=(("v", bad),))])) == ["missing", "any"]


def test_t02_a_constant_that_cannot_be_compared_is_refused():
    with pytest.raises(RuleError, match=r"r: x\.v"):
        RuleBase([rule("r", pattern("x", ("v", "gt", math.inf)))])


def test_t05_t30_facts_differ_by_value_sort_and_origin():
    facts = [
        given("x", v=1),
        given("x", v="1"),
        given("x", v=True),
        given("x", v=1.0),
        given("x", v=1),
        given("x", "a.log", v=1),
    ]

    found = both([rule("r", pattern("x", ("v", "known")))], facts)

    assert len(found.facts) == 5
    assert len(found.firings) == 5


def test_t07_long_text_matches_nothing_instead_of_being_cut():
    rules = [rule("r", pattern("x", ("v", "eq", "a" * 3000)))]

    found = both(rules, [given("x", v="a" * 3000), given("x", v="a" * 3000 + "b" * 65536)])

    assert fired(found) == ["r"]


@pytest.mark.parametrize(
    "text", ["a\nb", 'a"b', "a\\b", "\0\x1f", "显存不足", "😀", "'", "", "\\u0041", "\ud800"]
)
def test_t08_text_is_compared_as_it_is(text):
    rules = [
        rule("same", pattern("x", ("v", "eq", text.encode("utf-8", "replace").decode()))),
        rule("other", pattern("x", ("v", "ne", "something else"))),
        rule("differs", pattern("x", ("v", "ne", text))),
    ]

    assert fired(both(rules[:2], [given("x", v=text)])) == ["same", "other"]


def test_t12_only_fields_that_rules_use_travel():
    fields = tuple((f"p{i}", i) for i in range(1000))

    found = both([rule("r", pattern("x", ("p7", "eq", 7)))], [Fact(kind="x", fields=fields)])

    assert fired(found) == ["r"]


def _one_kind(number):
    return [rule(f"r{i}", pattern("x", ("v", "gt", -i))) for i in range(1, number + 1)]


def test_t13_one_fact_may_match_as_many_patterns_as_allowed():
    assert len(both(_one_kind(MAX_FAN), [given("x", v=1)]).firings) == MAX_FAN


def test_t13_more_patterns_on_one_kind_are_refused():
    with pytest.raises(RuleError, match="split"):
        RuleBase(_one_kind(MAX_FAN + 1))


def test_t14_kinds_are_limited():
    rules = [rule(f"r{i}", pattern(f"k{i}")) for i in range(MAX_KINDS + 1)]

    assert fired(both(rules[:-1], [given("k3")])) == ["r3"]
    with pytest.raises(RuleError, match="kinds"):
        RuleBase(rules)


def test_t15_rules_on_one_pattern_are_limited():
    rules = [rule(f"r{i}", pattern("x")) for i in range(MAX_SHARED + 1)]

    assert len(both(rules[:-1], [given("x")]).firings) == MAX_SHARED
    with pytest.raises(RuleError, match="share one pattern"):
        RuleBase(rules)


def test_t19_patterns_of_a_rule_are_limited():
    patterns = [pattern(f"k{i}") for i in range(9)]

    assert fired(both([rule("r", *patterns[:8])], [given(f"k{i}") for i in range(8)])) == ["r"]
    with pytest.raises(RuleError, match="1 to 8"):
        RuleBase([rule("r", *patterns)])


def _joined(left, right):
    rules = [
        rule(
            "r", pattern("p", alias="a"), pattern("q", alias="b"), joins=[join("a.v", "gt", "b.v")]
        )
    ]
    return fired(both(rules, [Fact(kind="p", fields=left), Fact(kind="q", fields=right)]))


def test_t20_a_join_compares_two_facts():
    assert _joined((("v", 2),), (("v", 1),)) == ["r"]


@pytest.mark.parametrize("other", [(), (("v", None),), (("v", "a"),), (("v", True),), (("v", 9),)])
def test_t20_a_join_that_cannot_be_decided_does_not_hold(other):
    assert _joined((("v", 2),), other) == []


def test_t22_a_field_has_one_sort():
    number, text = (rule(i, pattern("x", ("v", "eq", v))) for i, v in (("a", 1), ("b", "1")))

    with pytest.raises(RuleError, match="two types"):
        RuleBase([number, text])


def test_t22_values_of_another_sort_match_nothing():
    rules = [rule("a", pattern("x", ("v", "eq", 1)))]

    found = both(rules, [given("x", v="1"), given("x", v=True), given("x", v=1.0)])

    assert [found.facts[f.facts[0]].get("v") for f in found.firings] == [1.0]


def _python(code, **env):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_t28_a_session_in_which_nothing_fires_is_deleted_safely():
    code = """
from trainrx.reason.base import EngineRule, Pattern
from trainrx.reason.durable import DurableEngine
from trainrx.reason.rulebase import RuleBase
from trainrx.model.facts import Fact
for _ in range(50):
    engine = DurableEngine(RuleBase([EngineRule(id="r", when=(Pattern(kind="x"),))]))
    for facts in ([], [Fact(kind="y")], [Fact(kind="x")]):
        engine.infer(facts)
    engine.close()
print("alive")
"""

    assert _python(code, MALLOC_PERTURB_="165").stdout == "alive\n"


def test_t27_sessions_do_not_pile_up():
    engine = DurableEngine(RuleBase([rule("r", pattern("x"))]))

    assert all(len(engine.infer([given("x")]).firings) == 1 for _ in range(3000))


def test_t33_the_order_of_input_does_not_matter():
    rules = [rule(f"r{i}", pattern("x"), pattern("y")) for i in range(5)]
    facts = [given("x", "a"), given("y", "b"), given("x", "c")]

    one, two = both(rules, facts), both(rules, facts[::-1])

    assert one == two
    assert [(f.rule, f.facts) for f in one.firings] == sorted(
        (f.rule, f.facts) for f in one.firings
    )


NEGATION = [
    rule("n", pattern("p"), absent("q"), derive=[concludes("sym")]),
    rule("m", pattern("z"), derive=[concludes("q")]),
    rule("o", pattern("sym"), absent("w")),
]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [("p", "no"), ("pq", ""), ("qp", ""), ("pz", "m"), ("zpw", "m"), ("pw", "n")],
)
def test_t38_absence_is_decided_after_what_may_derive_it(kinds, expected):
    assert fired(both(NEGATION, map(given, kinds))) == list(expected)


def test_t38_a_cycle_through_absence_is_refused():
    with pytest.raises(RuleError, match="cycle"):
        RuleBase([rule("a", pattern("p"), absent("q"), derive=[concludes("q")])])


def test_t38_two_levels_of_absence():
    rules = [
        rule("one", pattern("p"), absent("q"), derive=[concludes("sym")]),
        rule("two", pattern("p"), absent("sym"), derive=[concludes("t")]),
    ]

    assert fired(both(rules, [given("p")])) == ["one"]
    assert fired(both(rules, [given("p"), given("q")])) == ["two"]


class _Breaks(str):
    """A value whose comparison fails: stands for any defect met while a rule fires."""

    __slots__ = ()

    def encode(self, *_):
        raise ZeroDivisionError


def test_h01_what_breaks_while_firing_is_raised_and_leaves_the_engine_whole():
    pair = (pattern("x", alias="a"), pattern("y", alias="b"))
    engine = DurableEngine(RuleBase([rule("r", *pair, joins=[join("a.v", "eq", "b.v")])]))

    with pytest.raises(ZeroDivisionError):
        engine.infer([given("x", v=_Breaks("v")), given("y", v="v")])

    assert fired(engine.infer([given("x", v=1), given("y", v=1)])) == ["r"]


def test_h02_what_nobody_reads_is_kept():
    found = both([rule("r", pattern("x"), derive=[concludes("nobody.reads")])], [given("x")])

    assert [fact.kind for fact in found.facts] == ["x", "nobody.reads"]


def test_h08_no_threads_and_the_c_module_is_loaded_late():
    code = """
import sys, threading
from trainrx.reason.base import EngineRule, Pattern
from trainrx.reason.durable import DurableEngine
from trainrx.reason.rulebase import RuleBase
from trainrx.model.facts import Fact
import trainrx.reason.stage
assert "durable_rules_engine" not in sys.modules
DurableEngine(RuleBase([EngineRule(id="r", when=(Pattern(kind="x"),))])).infer([Fact(kind="x")])
print(threading.active_count(), "durable" in sys.modules)
"""

    assert _python(code).stdout == "1 False\n"


def test_h14_threads_share_an_engine():
    chain = [
        rule("r", pattern("x", ("v", "ge", 0)), derive=[concludes("y")]),
        rule("s", pattern("y")),
    ]
    engine = DurableEngine(RuleBase(chain))
    wrong = []

    def work():
        wrong.extend(i for i in range(200) if fired(engine.infer([given("x", v=i)])) != ["r", "s"])

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_may_use_the_engine():
    engine = DurableEngine(RuleBase([rule("r", pattern("x"))]))

    child = os.fork()
    if child == 0:
        os._exit(0 if len(engine.infer([given("x")]).firings) == 1 else 1)

    assert os.waitpid(child, 0)[1] == 0


def test_a_derived_fact_says_what_it_rests_on():
    rules = [
        rule("a", pattern("x"), derive=[concludes("s")]),
        rule("b", pattern("y"), derive=[concludes("s")]),
        rule("c", pattern("s")),
    ]

    found = both(rules, [given("x", "l:1"), given("y", "l:2")])

    derived = next(i for i, fact in enumerate(found.facts) if fact.kind == "s")
    assert [firing.rule for firing in found.support[derived]] == ["a", "b"]
    assert fired(found) == ["a", "b", "c"]


@pytest.mark.parametrize("engine", [DurableEngine, PyEngine])
def test_t37_combinations_are_bounded_before_they_are_built(engine):
    runs = engine(RuleBase([rule("r", pattern("x"), pattern("x"), pattern("x"))]))

    with pytest.raises(EngineError, match="summarise"):
        runs.infer([given("x", f"l{i}") for i in range(100)])
    assert len(runs.infer([given("x", f"l{i}") for i in range(5)]).firings) == 60


@pytest.mark.parametrize("engine", [DurableEngine, PyEngine])
def test_t37_combinations_of_derived_facts_are_bounded_too(engine):
    rules = [
        rule(f"d{i}", pattern("seed", ("v", "ge", 0)), derive=[concludes("x", v=i)])
        for i in range(100)
    ]
    runs = engine(RuleBase([*rules, rule("r", pattern("x"), pattern("x"), pattern("x"))]))

    with pytest.raises(EngineError, match="summarise"):
        runs.infer([given("seed", v=1)])


@pytest.mark.parametrize("engine", [DurableEngine, PyEngine])
def test_firings_are_bounded(engine):
    rules = [rule(f"r{i}", pattern("x")) for i in range(150)]

    with pytest.raises(EngineError, match="firings"):
        engine(RuleBase(rules)).infer([given("x", v=i) for i in range(150)])


def test_two_identical_absent_patterns_count_as_one():
    assert fired(both([rule("r", pattern("b"), absent("a"), absent("a"))], [given("b")])) == ["r"]


def test_absent_patterns_are_limited():
    rules = [rule(f"r{i}", pattern(f"b{i % 3}"), absent(f"a{i}")) for i in range(MAX_KINDS + 1)]

    with pytest.raises(RuleError, match="absent"):
        RuleBase(rules)


@pytest.mark.parametrize(
    "bad",
    [
        rule("r", pattern("x" * 10**6)),
        rule("r", pattern("")),
        rule("~r", pattern("x")),
        rule("r", pattern("~x")),
        rule("r", pattern("x", ("f" * 300, "known"))),
        rule("r", absent("x")),
        rule("r"),
        rule("r", pattern("x", ("v", "like", 1))),
        rule("r", pattern("x", ("v", "gt", "text"))),
        rule("r", pattern("x", alias="a"), joins=[join("a.v", "eq", "b.v")]),
    ],
)
def test_what_the_c_engine_does_not_bear_is_refused_by_name(bad):
    with pytest.raises(RuleError) as refused:
        RuleBase([bad])

    assert refused.value.rule == bad.id[:40]


def test_a_rule_id_stands_once():
    with pytest.raises(RuleError, match="stands twice"):
        RuleBase([rule("r", pattern("x")), rule("r", pattern("y"))])


def test_a_closed_engine_says_so():
    engine = DurableEngine(RuleBase([rule("r", pattern("x"))]))
    engine.close()
    engine.close()

    with pytest.raises(EngineError, match="closed"):
        engine.infer([])


def test_fields_named_like_the_engine_s_own_are_safe():
    rules = [rule("r", pattern("x", ("id", "eq", "1"), ("sid", "ne", "s"), ("k", "eq", "y")))]

    assert fired(both(rules, [given("x", id="1", sid="a", k="y")])) == ["r"]


def test_loading_the_c_module_leaves_the_linker_flags_as_they_were():
    flags = sys.getdlopenflags()

    durable_module.load_native()

    assert sys.getdlopenflags() == flags


def test_a_system_without_linker_flags_loads_the_c_module_all_the_same(monkeypatch):
    monkeypatch.delattr(sys, "getdlopenflags")

    assert durable_module.load_native().create_ruleset


def test_the_engine_tells_the_version_that_is_installed():
    assert DurableEngine(RuleBase([])).name == f"durable_rules {version('durable_rules')}"


def test_a_c_module_without_package_data_has_no_version(monkeypatch, tmp_path):
    module = durable_module.load_native()
    monkeypatch.setattr(module, "__file__", str(tmp_path / "durable_rules_engine.so"))

    assert DurableEngine(RuleBase([])).name == "durable_rules "


def test_absent_patterns_are_limited_over_all_strata():
    first = [
        rule(f"a{i}", pattern(f"b{i % 5}"), absent(f"k{i}"), derive=[concludes("late")])
        for i in range(201)
    ]
    second = [
        rule(f"z{i}", pattern(f"b{i % 5}"), pattern("late"), absent(f"k{i}")) for i in range(200)
    ]

    assert RuleBase([*first, *second[:150]]).strata == 2
    late = [
        rule(f"y{i}", pattern(f"b{i % 5}"), absent("late"), absent(f"k{i}")) for i in range(200)
    ]
    with pytest.raises(RuleError, match="all strata"):
        RuleBase([*first, *late])


def test_missing_matches_only_facts_without_the_field():
    facts = [given("x", v=1), given("x"), given("x", v="another sort")]
    rules = [
        rule("none", pattern("x", ("v", "missing"))),
        rule("one", pattern("x", ("v", "eq", 1))),
    ]

    found = both(rules, facts)

    matched = {(f.rule, found.facts[f.facts[0]].get("v")) for f in found.firings}
    assert matched == {("none", None), ("none", "another sort"), ("one", 1)}


def test_a_chain_is_followed_to_its_end_whatever_the_order_of_its_rules():
    length = 6
    rules = [
        rule(f"r{at}", pattern(f"k{at}"), derive=[concludes(f"k{at + 1}")]) for at in range(length)
    ]

    assert len(fired(both(rules, [given("k0")]))) == length
    assert len(fired(both(rules[::-1], [given("k0")]))) == length


def test_what_is_left_out_of_many_facts_of_a_kind_is_counted():
    many = [given("symptom.oom", rank=number % 2, at=number) for number in range(5)]

    kept, left_out = spread([*many, given("other")], 3)

    assert left_out == 2
    assert [item.get("at") for item in kept] == [0, 1, 2, None]


def test_an_engine_nobody_holds_is_freed_by_the_next_one_and_not_by_the_collector(monkeypatch):
    freed = []
    base = RuleBase([rule("r", pattern("x"))])
    engine = DurableEngine(base)
    handle = engine._handle
    delete = engine.native.delete_ruleset

    def deleted(one: int) -> None:
        freed.append(one)
        delete(one)

    monkeypatch.setattr(engine.native, "delete_ruleset", deleted)
    del engine
    gc.collect()

    assert handle not in freed
    DurableEngine(base).close()
    assert handle in freed
