from __future__ import annotations

import pytest

from trainrx.facts.batch import generation_batch
from trainrx.facts.compare import changed_facts
from trainrx.facts.layout import layout_facts, visible_gpus
from trainrx.facts.training import QWEN_DEFAULT_CAP, vision_facts
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, Origin, Scalar, fact
from trainrx.models.facts import find_shape, model_facts


def facts(**values: Scalar) -> Facts:
    return Facts(fact(name.replace("__", "."), value) for name, value in values.items())


def derived(given: Facts) -> dict[str, Scalar | None]:
    return {item.kind: item.value for item in layout_facts(given)}


def swift(**values: Scalar) -> Facts:
    return facts(
        launch__given=True, launch__env_complete=True, launch__framework="ms-swift", **values
    )


def test_one_process_leaves_the_other_cards_idle() -> None:
    out = derived(swift(parallel__visible_gpus="0,1,2,3", parallel__processes_per_node=1))

    assert out["parallel.world_size"] == 1
    assert out["parallel.idle_gpus"] == 3


def alone(**values: Scalar) -> Facts:
    told = facts(
        launch__given=True, launch__env_complete=True, launch__framework="transformers", **values
    )
    told.add(fact("parallel.processes_per_node", 1, how="default"))
    return told


def test_one_process_of_the_trainer_has_a_replica_on_each_card() -> None:
    out = derived(alone(parallel__visible_gpus="0,1,2,3"))

    assert out["parallel.world_size"] == 1
    assert "parallel.idle_gpus" not in out
    assert "parallel.data_parallel" not in out  # its program may spread the model instead


def test_one_process_of_the_trainer_on_one_card_is_one_replica() -> None:
    assert derived(alone(parallel__visible_gpus="0"))["parallel.data_parallel"] == 1


def test_one_process_a_launcher_was_told_of_leaves_the_other_cards_idle() -> None:
    given = facts(
        launch__given=True,
        launch__env_complete=True,
        launch__framework="transformers",
        parallel__visible_gpus="0,1,2,3",
        parallel__processes_per_node=1,
    )

    out = derived(given)

    assert (out["parallel.idle_gpus"], out["parallel.data_parallel"]) == (3, 1)


def test_a_sourced_file_leaves_the_number_of_processes_unknown() -> None:
    given = facts(launch__given=True, launch__framework="ms-swift", parallel__visible_gpus="0,1")

    assert "parallel.world_size" not in derived(given)


def test_llamafactory_takes_all_gpus() -> None:
    given = facts(
        launch__given=True,
        launch__env_complete=True,
        launch__framework="llamafactory",
        hardware__gpus=8,
    )

    assert derived(given)["parallel.world_size"] == 8


def test_zero3_shards_over_the_world_and_zero2_does_not() -> None:
    for stage, shards in ((3, 16), (2, 1)):
        given = swift(parallel__processes_per_node=8, parallel__nodes=2, parallel__zero_stage=stage)
        assert derived(given)["parallel.weight_shards"] == shards


def test_infer_workers_on_their_own_cards_are_not_idle() -> None:
    out = derived(
        swift(
            parallel__visible_gpus="0,1,2,3",
            parallel__processes_per_node=3,
            vllm__enabled=True,
            vllm__num_infer_workers=1,
        )
    )

    assert out["parallel.idle_gpus"] == 0
    assert out["vllm.mode"] == "async"


def test_as_many_processes_as_cards_means_colocate() -> None:
    out = derived(swift(parallel__processes_per_node=8, hardware__gpus=8, vllm__enabled=True))

    assert out["vllm.mode"] == "colocate"


@pytest.mark.parametrize(
    ("text", "count"),
    [("0,1,2,3", 4), ("0", 1), ("0,0", 1), ("GPU-ab,GPU-cd", 2), ("$GPUS", None), ("", None)],
)
def test_visible_gpus_are_counted_only_when_plain(text: str, count: int | None) -> None:
    assert visible_gpus(text) == count


@pytest.mark.parametrize(
    ("version", "batch"), [("3.2.1", 16), ("3.4.0", 64), ("3.6.0", 64), ("4.6.0", 64)]
)
def test_the_generation_batch_follows_the_release(version: str, batch: int) -> None:
    given = swift(
        launch__framework_version=version,
        train__micro_batch=2,
        train__grad_accum=4,
        parallel__world_size=8,
    )

    assert generation_batch(given) == batch


def test_an_unknown_version_has_no_generation_batch() -> None:
    assert generation_batch(swift(train__micro_batch=2, parallel__world_size=8)) is None


def test_a_model_is_found_by_path_and_by_words() -> None:
    models = load().models

    by_path = find_shape("/models/Qwen2.5-VL-7B-Instruct/", models)
    by_words = {
        f.kind: f.value
        for f in model_facts(facts(model__name="/data/my-qwen2.5-vl-13b-merged"), models)
    }

    assert by_path is not None
    assert by_path.vision
    assert by_words["model.is_vision"] is True
    assert by_words["model.params_b"] == 13.0


def test_a_nameless_model_stays_unknown() -> None:
    assert model_facts(facts(model__name="/data/checkpoint-500"), load().models) == ()


def test_a_quantity_of_experts_is_not_taken_for_the_size() -> None:
    out = {f.kind: f.value for f in model_facts(facts(model__name="Qwen3-30B-A3B"), load().models)}

    assert out["model.is_moe"] is True
    assert float(str(out["model.params_b"])) > 29


def test_without_a_cap_the_models_own_default_holds() -> None:
    given = swift(model__is_vision=True, model__family="qwen2.5-vl")

    out = {f.kind: f.value for f in vision_facts(given)}

    assert out == {"vision.pixel_cap": QWEN_DEFAULT_CAP, "vision.pixels_capped": False}


def test_the_log_overrules_the_launch_on_the_cap() -> None:
    given = swift(model__is_vision=True, vision__max_pixels=602112, log__max_pixels=12845056)

    assert vision_facts(given)[1].value is False


def test_a_dropped_setting_cites_both_launches() -> None:
    before = Origin(source="good.sh", line=3, text="MAX_PIXELS=602112")
    after = Origin(source="bad.sh", line=1, text="swift sft")
    good = Facts([fact("vision.max_pixels", 602112, before)])
    now = Facts([fact("vision.max_pixels", 12845056, after, how="default")])

    (out,) = changed_facts(now, good, ["vision.max_pixels", "train.max_length"])

    assert out.value == "dropped"
    assert out.origins == (before, after)


def test_equal_launches_differ_in_nothing() -> None:
    same = facts(train__micro_batch=2)

    assert changed_facts(same, same, ["train.micro_batch"]) == ()


def test_the_gpus_of_the_job_are_shared_out_over_its_nodes() -> None:
    out = derived(swift(hardware__gpus=16, hardware__nodes=2))

    assert out["hardware.gpus_per_node"] == 8


def test_one_card_of_the_whole_job_means_one_process_on_one_node() -> None:
    alone = derived(facts(**{"hardware.gpus": 1}))
    several = derived(facts(**{"hardware.gpus": 8}))

    assert (alone["parallel.world_size"], alone["hardware.nodes"]) == (1, 1)
    assert "parallel.world_size" not in several
    assert "hardware.nodes" not in several
