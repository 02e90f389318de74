"""Remedies hidden from the framework whose names they hold, or offered to another."""

from __future__ import annotations

import pytest

from trainrx.entries.check_owners import is_hidden, owner_problems
from trainrx.knowledge.load import load
from trainrx.model.knowledge import Fix, Measure, PackageChange
from trainrx.model.parts import Condition
from trainrx.model.text import Text

WORDS = Text(en="a", zh="一")
PARAMS = load().params
UNKNOWN = Condition(not_=Condition(fact="launch.framework", known=True))
VERLS = "actor_rollout_ref.actor.strategy"


def _is(framework: str) -> Condition:
    return Condition(fact="launch.framework", eq=framework)


def _fix(
    param: str = "",
    *,
    of: tuple[str, ...] = (),
    only_if: Condition | None = None,
    packages: tuple[PackageChange, ...] = (),
    set_: dict[str, str] | None = None,
) -> Fix:
    measures = (Measure(kind="arg", param=param, action="set", of=of),) if param else ()
    return Fix(
        id="x",
        title=WORDS,
        safety="safe",
        cost=WORDS,
        measures=measures,
        packages=packages,
        only_if=only_if,
        set={**(set_ or {})},
    )


def _said(*fixes: Fix, package: str = "") -> list[str]:
    return [problem.message for problem in owner_problems(fixes, PARAMS, package=package)]


def test_a_name_of_one_framework_that_is_offered_to_others_is_refused() -> None:
    (said,) = _said(_fix(VERLS))

    assert said.startswith("is a name of verl alone, and is offered where axolotl runs")
    assert _said(_fix("--resize-vocab")) != []


@pytest.mark.parametrize(
    "fix",
    [
        _fix(VERLS, of=("verl",)),
        _fix(VERLS, only_if=_is("verl")),
        _fix("learning_rate"),
        _fix("recompute_modules", of=("megatron-core",)),
        _fix("--use-tis", of=("slime",)),
        _fix("no_catalog_has_this"),
    ],
)
def test_a_name_that_finds_its_owner_is_fine(fix: Fix) -> None:
    assert _said(fix) == []


def test_the_check_of_a_framework_itself_needs_no_owner() -> None:
    assert _said(_fix("split_dataset_ratio"), package="ms-swift") == []


def test_a_name_that_is_hidden_from_its_own_framework_is_refused() -> None:
    assert _said(_fix(VERLS, of=("verl",), only_if=UNKNOWN)) == [
        "only_if hides it where verl runs, whose name it is"
    ]
    assert _said(_fix("--use-tis", of=("slime",), only_if=_is("verl"))) == [
        "only_if hides it where slime runs, whose name it is"
    ]


def test_what_another_remedy_writes_there_by_its_parameter_may_be_hidden() -> None:
    twin = _fix(VERLS, of=("verl",), only_if=UNKNOWN)

    assert _said(_fix(set_={"parallel.strategy": "fsdp"}), twin) == []
    assert _said(_fix(set_={"parallel.strategy": "fsdp"}, only_if=_is("trl")), twin) != []


def test_a_release_that_is_hidden_from_its_own_framework_is_refused() -> None:
    newer = (PackageChange(name="ms-swift", spec=">=4"),)

    assert _said(_fix(packages=newer, only_if=UNKNOWN)) == ["only_if hides it where ms-swift runs"]
    assert _said(_fix(packages=newer)) == []


@pytest.mark.parametrize("names", [("verl-2",), ("slime", "mega")])
def test_an_owner_nobody_knows_is_refused(names: tuple[str, ...]) -> None:
    (said,) = _said(_fix("--use-tis", of=names))

    assert said.startswith("of: no framework or library")


def test_an_owner_the_catalogs_contradict_is_refused() -> None:
    (said,) = _said(_fix(VERLS, of=("ms-swift",)))

    assert said == "of says ms-swift, the catalogs know it of verl alone"


def test_not_on_a_fact_nobody_may_know_is_refused() -> None:
    denied = Condition(not_=Condition(fact="train.packing", eq=True))
    either = Condition(any=(Condition(fact="train.packing", known=False), denied))

    (said,) = _said(_fix("learning_rate", only_if=denied))

    assert said.startswith("hides it while train.packing is unknown")
    assert _said(_fix("learning_rate", only_if=either)) == []


@pytest.mark.parametrize(
    ("only_if", "hidden"),
    [
        (None, False),
        (_is("verl"), False),
        (_is("trl"), True),
        (Condition(fact="launch.framework", ne="verl"), True),
        (Condition(fact="launch.framework", one_of=("trl", "verl")), False),
        (Condition(fact="launch.package", known=True), True),
        (Condition(fact="launch.package", eq="slime"), True),
        (Condition(symptom="cuda-oom"), False),
        (Condition(all=(Condition(symptom="cuda-oom"), _is("trl"))), True),
        (Condition(any=(Condition(symptom="cuda-oom"), _is("trl"))), False),
        (Condition(not_=Condition(symptom="cuda-oom")), False),
    ],
)
def test_only_what_can_never_be_true_is_hidden(only_if: Condition | None, *, hidden: bool) -> None:
    assert is_hidden((None, only_if), "verl") is hidden


def test_what_a_cause_requires_hides_its_remedies_only_where_it_is_false() -> None:
    assert is_hidden((_is("trl"), None), "verl")
    assert not is_hidden((_is("trl"), None), "skyrl")


def test_a_key_that_the_configuration_lacks_wants_a_plus() -> None:
    key = "actor_rollout_ref.rollout.engine_kwargs.vllm.moe_backend"

    assert _said(_fix(key, of=("verl",))) == [
        "hydra refuses a key the configuration lacks: write a + in front"
    ]
    assert _said(_fix("+" + key, of=("verl",))) == []
