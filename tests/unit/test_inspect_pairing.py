from __future__ import annotations

import inspections
import msgspec
import pytest

from trainrx.inspect.pairing import Paired, compare_facts, pair_values
from trainrx.model.inspection import InspectedJob, Item


def side(
    *arguments: Item, env: tuple[Item, ...] = (), settings: tuple[Item, ...] = ()
) -> InspectedJob:
    return inspections.job(arguments=arguments, settings=settings, env=env, facts=(), strangers=())


def given(name: str, value: object, canonical: str = "") -> Item:
    return inspections.arg("batch", name, value, 3, canonical=canonical)


def rest(name: str, value: object, canonical: str = "") -> Item:
    return inspections.default("batch", name, value, canonical=canonical)


def names(found: Paired) -> dict[str, list[str]]:
    listed = found._asdict()
    return {key: [p.name for p in listed[key]] for key in listed if key != "same" and listed[key]}


def test_equal_values_are_only_counted():
    found = pair_values(side(given("max_length", 8)), side(rest("max_length", 8)))

    assert names(found) == {}
    assert found.same == 1


def test_a_changed_default_counts_when_its_meaning_is_known():
    found = pair_values(
        side(rest("freeze_vit", False, "freeze.vision")),
        side(rest("freeze_vit", True, "freeze.vision")),
    )

    assert [(p.name, p.matters) for p in found.changes] == [("freeze_vit", True)]


def test_a_changed_default_of_no_known_meaning_has_no_weight():
    found = pair_values(side(rest("lang", "en")), side(rest("lang", "zh")))

    assert [(p.name, p.matters) for p in found.changes] == [("lang", False)]


def test_names_of_one_meaning_are_compared_as_one():
    found = pair_values(
        side(given("batch_size", 1, "train.micro_batch")),
        side(given("per_device_train_batch_size", 1, "train.micro_batch")),
    )

    assert names(found) == {"renamed": ["per_device_train_batch_size"]}


def test_a_given_argument_without_counterpart_stands_alone():
    found = pair_values(side(given("custom", 1)), side(rest("max_length", 8)))

    assert names(found)["lone"] == ["custom"]
    assert names(found)["defaults"] == ["max_length"]


def test_a_dropped_variable_is_a_change_and_keeps_its_name():
    lost = inspections.default("vision", "max_pixels", None, canonical="vision.max_pixels")

    found = pair_values(side(env=(inspections.PIXELS,), settings=(inspections.PIXELS,)), side(lost))

    assert [(p.name, p.topic, p.matters) for p in found.changes] == [("MAX_PIXELS", "vision", True)]


def test_what_is_not_known_on_one_side_is_not_called_different():
    found = pair_values(side(inspections.HIDDEN), side(given("max_length", 8, "train.max_length")))

    assert names(found) == {"open": ["max_length"]}


@pytest.mark.parametrize(
    ("good", "bad", "canonical"),
    [
        (1, 1.0, ""),
        ("true", True, "train.packing"),
        (["a"], "a", "train.dataset"),
        ("ALL", "all-linear", "tuner.targets"),
        ("/a/Qwen2-VL-7B", "Qwen/Qwen2-VL-7B", "model.name"),
        ("None", None, ""),
        ([], None, ""),
    ],
)
def test_two_ways_to_write_one_value_are_equal(good, bad, canonical):
    found = pair_values(side(given("x", good, canonical)), side(given("x", bad, canonical)))

    assert found.changes == []


@pytest.mark.parametrize(("good", "bad"), [(1, 2), (True, 1), ("a", "b"), (0, None), (1e-4, 1e-5)])
def test_different_values_are_different(good, bad):
    found = pair_values(side(given("x", good)), side(given("x", bad)))

    assert [p.name for p in found.changes] == ["x"]


def test_where_a_job_runs_has_no_weight():
    port = given("MASTER_PORT", 1, "parallel.master_port")
    other = msgspec.structs.replace(port, value=2)

    found = pair_values(side(port), side(other))

    assert [p.matters for p in found.changes] == [False]


def test_derived_values_are_compared_where_both_sides_have_them():
    facts = (inspections.derived("batch", "batch.effective", 64),)
    good = inspections.job(facts=facts)
    bad = inspections.job(facts=(inspections.derived("batch", "batch.effective", 32),))

    assert [p.name for p in compare_facts(good, bad)] == ["batch.effective"]
    assert [*compare_facts(good, inspections.job(facts=()))] == []
