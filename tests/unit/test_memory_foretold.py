"""What the memory model says of a launch, as facts the causes are weighed by."""

from __future__ import annotations

from trainrx.facts.all import derive
from trainrx.knowledge.load import load
from trainrx.model.facts import Facts, fact

GIVEN = {
    "launch.framework": "ms-swift",
    "launch.task": "sft",
    "model.name": "Qwen/Qwen2.5-7B-Instruct",
    "tuner.type": "lora",
    "tuner.rank": 8,
    "train.max_length": 4096,
    "train.micro_batch": 8,
    "train.precision": "bf16",
    "train.gradient_checkpointing": True,
    "train.attention": "flash_attn",
    "parallel.world_size": 1,
    "parallel.zero_stage": 0,
    "hardware.gpu_gib": 79.2,
}


def derived(**changed: object) -> Facts:
    given = {**GIVEN, **{name.replace("__", "."): value for name, value in changed.items()}}
    facts = [fact(name, value, how="given") for name, value in given.items() if value is not None]
    return derive(facts, load())


def test_many_tokens_of_a_large_vocabulary_make_the_loss_the_peak():
    facts = derived()

    assert facts.text("memory.peak_phase") == "loss"
    assert (facts.number("memory.logits_share") or 0.0) > 0.5
    assert facts.text("memory.verdict") in ("tight", "does-not-fit")


def test_full_tuning_of_short_samples_is_a_matter_of_states():
    facts = derived(tuner__type="full", train__max_length=256, train__micro_batch=1)

    assert (facts.number("memory.states_share") or 0.0) > 0.5
    assert (facts.number("memory.logits_share") or 1.0) < 0.2


def test_without_a_length_nothing_is_foretold():
    facts = derived(train__max_length=None)

    assert facts.number("memory.logits_share") is None
    assert facts.text("memory.verdict") is None


def test_without_the_card_there_is_no_verdict_but_there_are_shares():
    facts = derived(hardware__gpu_gib=None)

    assert facts.text("memory.verdict") is None
    assert facts.number("memory.logits_share") is not None


def test_no_part_is_larger_than_the_peak():
    shares = {item.kind: item.value for item in derived() if item.kind.endswith("_share")}

    assert shares["memory.logits_share"] > 0.5
    assert all(0 <= share <= 1 for name, share in shares.items() if name.startswith("memory."))


def test_an_engine_on_a_server_takes_nothing_of_the_card():
    facts = derived(vllm__enabled=True, vllm__mode="server", vllm__share=0.9)

    assert facts.number("memory.vllm_gib") == 0
    assert facts.number("memory.left_for_training_gib") == 79.2
