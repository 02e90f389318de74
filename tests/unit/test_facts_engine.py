from __future__ import annotations

from trainrx.facts.engine import engine_facts
from trainrx.model.facts import Facts, Scalar, fact
from trainrx.model.hardware import ModelShape

QWEN_7B = ModelShape(id="qwen2.5-7b", layers=28, hidden=3584, heads=28, kv_heads=4)


def told(shape: ModelShape | None = QWEN_7B, **values: Scalar) -> dict[str, Scalar | None]:
    given = Facts(fact(name.replace("__", "."), value) for name, value in values.items())
    return {item.kind: item.value for item in engine_facts(given, shape)}


def engine(**values: Scalar) -> dict[str, Scalar | None]:
    base: dict[str, Scalar] = {
        "vllm__enabled": True,
        "hardware__gpu_gib": 24.0,
        "memory__weights_gib": 14.2,
    }
    return told(**{**base, **values})


def test_a_share_below_the_weights_leaves_less_than_nothing() -> None:
    out = engine(vllm__share=0.5)

    assert out == {"vllm.room_gib": -2.2, "vllm.request_fits": False}


def test_tensor_parallel_ranks_share_weights_and_heads() -> None:
    out = engine(vllm__share=0.5, vllm__tensor_parallel=2, vllm__max_model_len=32768)

    assert out["vllm.room_gib"] == 4.9
    assert out["vllm.request_gib"] == 0.88
    assert out["vllm.request_fits"] is True


def test_more_ranks_than_heads_keep_one_head_each() -> None:
    four, eight = (
        engine(vllm__tensor_parallel=ranks, vllm__max_model_len=32768)["vllm.request_gib"]
        for ranks in (4, 8)
    )

    assert four == eight == 0.44


def test_an_eight_bit_cache_halves_the_request() -> None:
    out = engine(vllm__max_model_len=32768, vllm__kv_cache_dtype="fp8")

    assert out["vllm.request_gib"] == 0.88


def test_a_request_larger_than_the_room_does_not_fit() -> None:
    out = engine(vllm__share=0.65, vllm__max_model_len=131072)

    assert out["vllm.request_fits"] is False


def test_a_close_call_is_left_open() -> None:
    out = engine(vllm__share=0.7, vllm__max_model_len=32768)

    assert "vllm.request_fits" not in out


def test_without_an_engine_nothing_is_said() -> None:
    assert told(hardware__gpu_gib=24.0, memory__weights_gib=14.2, vllm__share=0.9) == {}


def test_a_completion_of_full_length_takes_its_room_from_the_prompt() -> None:
    out = told(None, vllm__max_model_len=512, rlhf__max_completion_length=512)

    assert out == {"vllm.prompt_room": 0}


def test_the_room_for_prompts_is_not_known_without_both_lengths() -> None:
    assert told(None, rlhf__max_completion_length=512) == {}
