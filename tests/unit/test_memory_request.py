from __future__ import annotations

import msgspec
import pytest
from model_shapes import LLAMA_7B, QWEN_7B

from trainrx.memory.request import recovered_facts
from trainrx.model.facts import Facts, Origin, Scalar, fact
from trainrx.model.hardware import ModelShape, Tower

VISION_7B = msgspec.structs.replace(
    QWEN_7B,
    id="Qwen/Qwen2-VL-7B-Instruct",
    vision=True,
    tower=Tower(depth=32, hidden=1280, heads=16, inter=5120, merge=2, temporal_patch=2),
)
LLAMA_3B = ModelShape(
    id="meta-llama/Llama-3.2-3B",
    params_b=3.21,
    layers=28,
    hidden=3072,
    heads=24,
    kv_heads=8,
    head_dim=128,
    inter=8192,
    vocab=128256,
    tie=True,
)
QWEN_32B = ModelShape(
    id="Qwen/Qwen2.5-32B",
    params_b=32.76,
    layers=64,
    hidden=5120,
    heads=40,
    kv_heads=8,
    inter=27648,
    vocab=152064,
    tie=False,
)
QWEN_30B_A3B = ModelShape(
    id="Qwen/Qwen3-30B-A3B-Instruct-2507",
    params_b=30.53,
    layers=48,
    hidden=2048,
    heads=32,
    kv_heads=4,
    head_dim=128,
    vocab=151936,
    tie=False,
    experts=128,
    moe_inter=768,
    experts_per_token=8,
)
GPT_2_LIKE = ModelShape(
    id="own", layers=12, hidden=6912, heads=12, kv_heads=12, inter=27648, gated=False, vocab=50257
)
SFT = {
    "launch__task": "sft",
    "launch__framework": "ms-swift",
    "train__micro_batch": 2,
    "train__max_length": 8192,
    "batch__tokens_per_micro_batch": 16384,
    "oom__phase": "train",
}
FULL_ZERO2 = {"tuner__type": "full", "parallel__zero_stage": 2, "oom__phase": "train"}


def told(
    asked: str, shape: ModelShape | None, torch: str = "", **values: Scalar
) -> dict[str, Scalar | None]:
    number, unit = asked.split()
    gib = round(float(number) * {"MiB": 2**-10, "GiB": 1.0}[unit], 6)
    line = Origin(source="train.log", line=9, text=f"Tried to allocate {asked}. GPU 0 has a total")
    given = Facts(
        [
            fact("oom.asked_gib", gib, line),
            *(fact(name.replace("__", "."), value) for name, value in values.items()),
        ]
    )
    return {item.kind: item.value for item in recovered_facts(given, shape, torch)}


def test_all_tokens_of_the_micro_batch_are_recognised_without_a_traceback() -> None:
    out = told("9.28 GiB", QWEN_7B, **SFT)

    assert out == {
        "oom.asked_is": "logits",
        "oom.tokens": 16384,
        "oom.implied_length": 8192,
        "oom.tokens_in_logits": 16384,
        "oom.tokens_over_cap": False,
    }


def test_two_widths_are_told_apart_where_one_breaks_the_limit() -> None:
    out = told("8.00 GiB", QWEN_7B, oom__site="logits", **SFT)

    # 14,120 tokens in float32 fit the limit of 16,384; 28,240 in bf16 do not
    assert out["oom.asked_is"] == "logits"
    assert out["oom.tokens"] == pytest.approx(8 * 2**30 / (152064 * 4), rel=0.001)


def test_two_widths_within_the_limit_leave_the_count_open() -> None:
    out = told("4.00 GiB", QWEN_7B, oom__site="logits", **SFT)

    assert "oom.tokens" not in out
    assert out["oom.tokens_in_logits"] == pytest.approx(2**32 / (152064 * 4), rel=0.002)
    assert out["oom.tokens_over_cap"] is False


def test_more_tokens_than_the_limit_in_either_width_are_over_it() -> None:
    out = told("20.00 GiB", QWEN_7B, oom__site="logits", **SFT)

    assert out["oom.tokens_over_cap"] is True


def test_over_the_limit_in_one_width_only_is_unknown() -> None:
    vision = {**SFT, "launch__framework": "ms-swift"}

    out = told("6.00 GiB", VISION_7B, oom__site="logits", **vision)

    assert "oom.tokens_over_cap" not in out
    assert "oom.tokens" not in out


def test_without_a_limit_the_width_is_open() -> None:
    out = told("9.28 GiB", QWEN_7B, oom__site="logits", oom__phase="train")

    assert out["oom.asked_is"] == "logits"
    assert "oom.tokens" not in out
    assert "oom.tokens_over_cap" not in out


def test_completions_of_grpo_are_recognised() -> None:
    out = told(
        "4.64 GiB",
        QWEN_7B,
        launch__task="grpo",
        train__micro_batch=8,
        rlhf__max_completion_length=1024,
        batch__tokens_per_micro_batch=8 * 3072,
        oom__phase="train",
    )

    assert out["oom.tokens"] == 8192
    assert "oom.implied_length" not in out


def test_scores_of_the_longest_sample() -> None:
    # 28 heads x 8,192 x 8,192 x 4 bytes x 2 samples
    out = told("14.00 GiB", QWEN_7B, oom__site="attention", train__attention="eager", **SFT)

    assert out["oom.asked_is"] == "attention-scores"
    assert out["oom.implied_length"] == 8192
    assert out["oom.tokens"] == 16384


def test_flash_attention_has_no_scores() -> None:
    out = told("14.00 GiB", QWEN_7B, oom__site="attention", train__attention="flash_attn", **SFT)

    assert out.get("oom.asked_is") != "attention-scores"


@pytest.mark.parametrize("asked", ["20.00 MiB", "2.00 MiB"])
def test_a_coarse_figure_proves_nothing(asked: str) -> None:
    assert told(asked, QWEN_7B, oom__site="logits", parallel__zero_stage=2, **SFT) == {}


def test_a_bucket_needs_deepspeed() -> None:
    with_it = told("954.00 MiB", QWEN_7B, parallel__zero_stage=2, oom__phase="train")
    without = told("954.00 MiB", QWEN_7B, oom__phase="train")

    assert with_it["oom.asked_is"] == "bucket"
    assert "oom.asked_is" not in without


def test_the_cache_of_the_engine_is_recognised_by_its_room() -> None:
    engine = {"vllm__share": 0.6, "hardware__gpu_gib": 79.1, "memory__weights_gib": 14.2}

    out = told("1.10 GiB", QWEN_7B, oom__site="vllm-init", oom__phase="load", **engine)

    assert out["oom.asked_is"] == "kv-cache"


def test_a_gathered_embedding_under_zero_3() -> None:
    out = told("1.02 GiB", QWEN_7B, oom__site="zero-gather", parallel__zero_stage=3)

    assert out["oom.asked_is"] == "embedding"


def test_rounding_to_powers_of_two_hides_the_size() -> None:
    assert told("9.28 GiB", QWEN_7B, alloc__conf="roundup_power2_divisions:4", **SFT) == {}


def test_a_vocabulary_alone_will_do_for_logits() -> None:
    out = told("9.28 GiB", None, model__vocab=152064, **SFT)

    assert out["oom.tokens"] == 16384


def test_nothing_is_recovered_of_an_unknown_model() -> None:
    assert told("9.28 GiB", None, oom__site="logits") == {}


def test_nothing_is_recovered_without_a_failure() -> None:
    assert list(recovered_facts(Facts(), QWEN_7B)) == []


# Failures people posted, with what the traceback or the thread says of them.


def test_adam_over_a_rank_s_part_of_7b() -> None:
    # https://github.com/hiyouga/LlamaFactory/issues/1221: ZeRO-2 on 8 cards, at exp_avg_sq.sqrt()
    out = told(
        "3.14 GiB", LLAMA_7B, oom__site="optimizer-step", parallel__world_size=8, **FULL_ZERO2
    )

    assert out["oom.asked_is"] == "optimizer-state"


def test_adam_over_a_shard_of_one_layer() -> None:
    # https://github.com/meta-llama/llama-cookbook/issues/234: FSDP on 8 cards, at _foreach_sqrt
    fsdp = {"tuner__type": "full", "parallel__fsdp": "full_shard", "parallel__world_size": 8}

    out = told("98.00 MiB", LLAMA_7B, oom__site="optimizer-step", oom__phase="train", **fsdp)

    assert out["oom.asked_is"] == "optimizer-state"


def test_a_shard_of_one_layer_without_a_traceback() -> None:
    # https://github.com/verl-project/verl/issues/1141: full FSDP of Llama-3.2-3B on 4 cards
    fsdp = {"tuner__type": "full", "parallel__strategy": "fsdp", "parallel__world_size": 4}

    assert told("98.00 MiB", LLAMA_3B, **fsdp)["oom.asked_is"] == "flat-buffer"


@pytest.mark.parametrize(("asked", "tokens"), [("9.37 GiB", 16539), ("8.46 GiB", None)])
def test_the_loss_of_a_32b_at_32k(asked: str, tokens: int | None) -> None:
    # https://github.com/simplescaling/s1/issues/106: in cross_entropy on two ranks
    limit = {"train__max_length": 32768, "batch__tokens_per_micro_batch": 32768}
    job = {**SFT, **limit, "train__micro_batch": 1, "launch__framework": "trl"}

    out = told(asked, QWEN_32B, oom__site="logits", **job)

    assert out["oom.asked_is"] == "logits"
    assert out.get("oom.tokens") == tokens
    assert out["oom.tokens_over_cap"] is False


def test_more_tokens_than_the_reporter_expected() -> None:
    # https://github.com/modelscope/ms-swift/issues/6966: 49 GiB at logits.float() where 32k tokens
    # would be 18.5
    limit = {"train__max_length": 32768, "batch__tokens_per_micro_batch": 32768}
    job = {**SFT, **limit, "train__micro_batch": 1, "launch__task": "pt"}

    out = told("49.00 GiB", QWEN_30B_A3B, oom__site="logits", **job)

    assert out["oom.tokens_over_cap"] is True


def test_one_matrix_gathered_by_zero_3() -> None:
    # https://github.com/deepspeedai/DeepSpeed/issues/1624: hidden 6912, in all_gather
    out = told("274.00 MiB", GPT_2_LIKE, oom__site="zero-gather", parallel__zero_stage=3)

    assert out["oom.asked_is"] == "gathered-layer"


def test_images_in_the_plain_attention_of_a_tower() -> None:
    # https://github.com/hiyouga/LlamaFactory/issues/7798: torch 2.8; four images of 756 x 756 at
    # the default pixel cap are 11,664 patches
    out = told("8.11 GiB", VISION_7B, "2.8.0.dev20250407+cu128", oom__site="vision-attention")

    assert out["oom.asked_is"] == "vision-attention"
    assert out["oom.patches"] == pytest.approx(11664, abs=4)


def test_without_the_release_of_torch_patches_stay_open() -> None:
    # https://github.com/modelscope/ms-swift/issues/3456
    out = told("23.41 GiB", VISION_7B, oom__site="vision-attention", train__micro_batch=1)

    assert out == {"oom.asked_is": "vision-attention"}


def test_a_failure_that_may_be_anything_stays_open() -> None:
    # https://github.com/modelscope/ms-swift/issues/2536: neither traceback nor length
    assert told("19.53 GiB", VISION_7B, vision__pixel_cap=12845056) == {}
