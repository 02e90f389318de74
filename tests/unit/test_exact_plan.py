"""What of a workload becomes a step to count: no torch is needed for any of it."""

import msgspec
import pytest

from trainrx.exact.config import given_config, shape_config
from trainrx.exact.plan import plan
from trainrx.exact.record import Recipe
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Images, Length, Refusal, Rollout, Workload

SHAPE = ModelShape(
    id="Qwen/Qwen2.5-7B",
    layers=28,
    hidden=3584,
    heads=28,
    kv_heads=4,
    inter=18944,
    vocab=152064,
    tie=False,
)
LENGTH = Length(low=100, typical=1000, high=2048, how="exact")


def load(**more):
    return Workload(**{"shape": SHAPE, "length": LENGTH, **more})


def recipe(**more):
    found = plan(load(**more), None)
    assert isinstance(found, Recipe)
    return found


def test_shape_becomes_a_configuration_of_its_own_class():
    found = recipe()

    assert found.model_type == "qwen2"
    assert found.config["num_key_value_heads"] == 4
    assert found.config["intermediate_size"] == 18944
    assert found.length == 2048
    assert not any("counted as" in said for said in found.assumptions)


def test_unknown_family_is_counted_as_llama_and_says_so():
    found = shape_config(msgspec.structs.replace(SHAPE, id="acme/own-7b"), 2048)

    assert found.model_type == "llama"
    assert found.assumptions == ("acme/own-7b is counted as a llama model of the same shape",)


def test_two_matrix_feed_forward_is_no_llama():
    found = shape_config(msgspec.structs.replace(SHAPE, id="acme/own-7b", gated=False), 2048)

    assert found.model_type == "starcoder2"


@pytest.mark.parametrize(
    ("name", "more", "kind", "keys"),
    [
        ("Qwen/Qwen3-30B-A3B", {}, "qwen3_moe", {"num_experts": 64, "moe_intermediate_size": 768}),
        (
            "acme/experts",
            {"shared_inter": 1536},
            "qwen2_moe",
            {"shared_expert_intermediate_size": 1536},
        ),
        (
            "mistralai/Mixtral-8x7B",
            {},
            "mixtral",
            {"num_local_experts": 64, "intermediate_size": 768},
        ),
        (
            "deepseek-ai/DeepSeek-V3",
            {"kv_lora": 512, "shared_inter": 1536, "first_dense": 3},
            "deepseek_v3",
            {"n_routed_experts": 64, "n_shared_experts": 2, "first_k_dense_replace": 3},
        ),
    ],
)
def test_experts_keep_their_counts_and_widths(name, more, kind, keys):
    shape = msgspec.structs.replace(
        SHAPE, id=name, experts=64, experts_per_token=8, moe_inter=768, **more
    )

    found = shape_config(shape, 2048)

    assert found.model_type == kind
    assert keys.items() <= found.values.items()


def test_sparse_name_without_experts_is_not_a_sparse_class():
    found = shape_config(msgspec.structs.replace(SHAPE, id="Qwen/Qwen3-30B-A3B"), 2048)

    assert found.model_type == "llama"
    assert found.assumptions


def test_incomplete_shape_asks_for_the_config():
    found = plan(load(shape=ModelShape(id="acme/x", params_b=7.0)), None)

    assert isinstance(found, Refusal)
    assert found.kind == "unknown"
    assert "layers, hidden, heads, inter, vocab not known" in found.reason


@pytest.mark.parametrize("more", [{"linear_layers": 24}, {"encoder_layers": 12}])
def test_layers_no_plain_class_has_ask_for_the_config(more):
    found = shape_config(msgspec.structs.replace(SHAPE, **more), 2048)

    assert isinstance(found, Refusal)
    assert found.asks == ("--model-config",)


def test_own_config_is_taken_without_code_and_quantisation():
    config = {
        "model_type": "qwen2",
        "auto_map": {"AutoModel": "evil.Model"},
        "quantization_config": {"bits": 4},
        "torch_dtype": "float16",
        "hidden_size": 64,
        "max_position_embeddings": 512,
    }

    found = given_config(config, 2048)

    assert found.model_type == "qwen2"
    assert found.values == {"hidden_size": 64, "max_position_embeddings": 2048}


@pytest.mark.parametrize("config", [{}, {"model_type": None}, {"model_type": ""}, {"a": 1}])
def test_config_without_a_type_is_refused(config):
    assert isinstance(plan(load(), config), Refusal)


@pytest.mark.parametrize(
    "more",
    [
        {"task": "grpo"},
        {"tensor": 2},
        {"pipeline": 2},
        {"device_map": 2},
        {"tuner": "freeze"},
        {"optimizer": "galore_adamw"},
        {"optimizer": "adafactor"},
        {"images": Images(pixels=1e6)},
        {"rollout": Rollout(mode="colocate", share=0.5)},
        {"copies": (SHAPE,)},
        {"recompute": "selective"},
        {"step_in_backward": True},
    ],
)
def test_what_one_process_does_not_do_is_no_figure(more):
    found = plan(load(**more), None)

    assert isinstance(found, Refusal)
    assert found.kind == "unmodelled"


@pytest.mark.parametrize(
    "more", [{"micro_batch": 0.0}, {"length": Length(low=0, typical=0, high=0)}]
)
def test_no_tokens_are_impossible(more):
    assert plan(load(**more), None).kind == "impossible"


def test_full_tuning_of_fp32_weights_runs_in_fp32():
    assert recipe(precision="autocast", weight_bytes=4.0).weight_dtype == "float32"
    assert recipe(precision="autocast", weight_bytes=2.0).weight_dtype == "bfloat16"
    assert recipe(precision="upcast").weight_dtype == "float32"
    assert recipe(precision="pure", weight_bytes=4.0).weight_dtype == "bfloat16"


def test_adapters_are_fp32_but_where_the_framework_has_its_own():
    assert recipe(tuner="lora").adapter_dtype == "float32"
    assert recipe(tuner="lora", framework="litgpt").adapter_dtype == "bfloat16"
    assert recipe(tuner="lora", precision="deepspeed").adapter_dtype == "bfloat16"


def test_adapters_on_an_upcasting_trainer_leave_the_base_as_it_is():
    assert recipe(tuner="lora", precision="upcast").weight_dtype == "bfloat16"


@pytest.mark.parametrize(
    ("stage", "parameters", "gradients", "states"),
    [(0, 1, 1, 1), (1, 1, 1, 0.25), (2, 1, 0.25, 0.25), (3, 0.25, 0.25, 0.25)],
)
def test_stages_divide_what_they_shard(stage, parameters, gradients, states):
    shares = recipe(zero_stage=stage, data=4, world=4, precision="deepspeed").shares

    assert (shares.parameters, shares.gradients, shares.states) == (parameters, gradients, states)
    assert shares.states_bytes == 12.0
    assert bool(shares.gathered_units) == (stage == 3)


def test_offloaded_states_take_nothing_of_the_card():
    shares = recipe(zero_stage=2, data=4, precision="deepspeed", offload_optimizer=True).shares

    assert shares.states == 0.0


def test_megatron_gradients_are_twice_as_wide():
    assert recipe(precision="megatron").shares.gradients == 2.0


def test_states_of_8_bit_and_paged_optimizers_are_closed_forms():
    assert recipe(optimizer="adamw_bnb_8bit").shares.states_bytes == pytest.approx(2.03, abs=0.01)
    assert recipe(optimizer="paged_adamw_8bit").shares.states_bytes == 0.0
    assert recipe(optimizer="adamw_torch").shares.states_bytes is None


def test_padding_free_is_one_long_row():
    found = recipe(padding_free=True, micro_batch=4.0)

    assert (found.micro_batch, found.length) == (1, 4 * 2048)


def test_what_is_not_counted_is_named():
    found = recipe(quant_bits=4, tuner="lora", compiled=True)

    assert any("bitsandbytes" in said for said in found.left_out)
    assert any("torch.compile" in said for said in found.left_out)


def test_recipe_survives_the_way_to_the_trial():
    found = recipe(tuner="lora", rank=4, targets=("q", "v"), zero_stage=3, data=8)

    assert msgspec.json.decode(msgspec.json.encode(found), type=Recipe) == found
