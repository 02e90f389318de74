"""Measures that name a fact."""

from __future__ import annotations

import pytest

from trainrx.fix.measures import commands_here, measure_changes, measure_text
from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.knowledge import Measure

APPEND = Measure(kind="arg", param="++$hydra.append", action="add")
PLAIN = Measure(kind="hardware", param="host RAM", action="raise")


def _params(*facts: Fact) -> list[str]:
    return [change.param for change in measure_changes([APPEND, PLAIN], Facts(facts))]


def test_the_text_of_a_fact_takes_its_place() -> None:
    assert _params(fact("hydra.append", "trainer.x")) == ["++trainer.x", "host RAM"]


def test_a_measure_whose_fact_is_unknown_is_left_out() -> None:
    assert _params() == ["host RAM"]


def test_the_value_may_be_told_by_a_fact_too() -> None:
    told = Measure(kind="arg", param="$advice.setting", action="set", to="$advice.value")
    facts = Facts([fact("advice.setting", "use_cache"), fact("advice.value", "False")])

    (change,) = measure_changes([told], facts)

    assert (change.param, change.to) == ("use_cache", "False")
    assert not list(measure_changes([told], Facts([fact("advice.setting", "use_cache")])))


OWNED = (
    Measure(kind="arg", param="--log-probs-chunk-size", action="set", to="1", of=("slime",)),
    Measure(kind="arg", param="policy.logprob_chunk_size", action="set", to="1", of=("nemo-rl",)),
    Measure(kind="arg", param="optimizer-cpu-offload", action="add", of=("megatron-core",)),
)
LIBRARYS = "optimizer-cpu-offload"


@pytest.mark.parametrize(
    ("told", "params"),
    [
        ((), [*(measure.param for measure in OWNED)]),
        ((fact("launch.framework", "nemo-rl"),), ["policy.logprob_chunk_size", LIBRARYS]),
        ((fact("launch.framework", "slime"),), ["--log-probs-chunk-size", LIBRARYS]),
        ((fact("launch.framework", "miles"),), ["--log-probs-chunk-size", LIBRARYS]),
        ((fact("launch.framework", "verl"),), [LIBRARYS]),
        ((fact("launch.package", "megatron-core"),), [*(measure.param for measure in OWNED)]),
    ],
)
def test_a_name_is_given_to_its_framework_and_to_nobody_else(
    told: tuple[Fact, ...], params: list[str]
) -> None:
    assert [change.param for change in measure_changes(OWNED, Facts(told))] == params


def test_the_page_of_an_entry_says_whose_name_it_is() -> None:
    assert measure_text(OWNED[0], "en") == "set --log-probs-chunk-size: 1 (slime)"


def test_commands_of_another_framework_are_left_out() -> None:
    commands = (
        "swift sft --help | grep -i lora",
        "FORCE_TORCHRUN=1 llamafactory-cli train x.yaml",
        "pip show trl",
        "nvidia-smi",
    )
    job = Facts([fact("launch.framework", "ms-swift")])

    assert [*commands_here(commands, job)] == [commands[0], *commands[2:]]
    assert [*commands_here(commands, Facts())] == [*commands]
