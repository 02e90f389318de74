"""Small models really run; skipped where torch, transformers and peft are not installed."""

import msgspec
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `exact`")
pytest.importorskip("transformers", reason="needs the extra `exact`")
pytest.importorskip("peft", reason="needs the extra `exact`")

from trainrx.exact import ExactResult, run_exact  # noqa: E402
from trainrx.exact.trial.counter import LiveStorage  # noqa: E402
from trainrx.model.hardware import ModelShape  # noqa: E402
from trainrx.model.memory import Length, Refusal, Workload  # noqa: E402

GIB = 2.0**30
SHAPE = ModelShape(
    id="meta-llama/tiny",
    layers=4,
    hidden=512,
    heads=8,
    kv_heads=4,
    inter=1024,
    vocab=32000,
    tie=False,
)


def count(config=None, **more):
    settings = {
        "shape": SHAPE,
        "length": Length(low=512, typical=512, high=512, how="exact"),
        "micro_batch": 2.0,
        "precision": "pure",
    }
    found = run_exact(Workload(**{**settings, **more}), config, seconds=300)
    assert isinstance(found, ExactResult), found
    return found


def parts(found, phase):
    peak = next(one for one in found.phases if one.phase == phase)
    return {one.name: one.gib for one in peak.parts}


def test_live_storage_is_rounded_counted_once_and_let_go():
    counter = LiveStorage({})
    counter.enter("forward")
    with counter:
        one = torch.zeros(100)  # 400 bytes
        view = one.view(10, 10)
        assert counter.total == 512
        two = torch.zeros(129)  # 516 bytes
        assert counter.total == 1536
        del one, two
        assert counter.total == 512
        del view

    assert counter.total == 0
    assert counter.peaks["forward"][0] == 1536


def test_full_tuning_in_pure_bf16_is_ten_bytes_a_parameter_at_the_step():
    found = count()

    step = next(one for one in found.phases if one.phase == "step")
    assert step.gib == pytest.approx(found.parameters_b * 1e9 * 10 / GIB, rel=0.01)


def test_fewer_bytes_at_the_step_without_foreach():
    assert max(p.gib for p in count(foreach=False).phases if p.phase == "step") < max(
        p.gib for p in count().phases if p.phase == "step"
    )


def test_no_checkpointing_keeps_more_and_linear_loss_keeps_no_logits():
    plain, kept, linear = count(), count(checkpointing=False), count(loss="linear")

    assert parts(kept, "loss")["activations"] > 2 * parts(plain, "loss")["activations"]
    assert parts(linear, "loss")["logits"] < parts(plain, "loss")["logits"] / 3


def test_eager_loss_takes_at_least_ten_bytes_a_logit():
    assert parts(count(), "loss")["logits"] >= 0.99 * 2 * 512 * 32000 * 10 / GIB


def test_adapters_train_little_and_keep_the_base():
    found = count(tuner="lora", rank=8, targets=("q", "v"))

    # A: rank x in, B: out x rank, on q (512 -> 512) and v (512 -> 256) of four layers
    assert found.trained_b * 1e9 == pytest.approx(4 * 8 * (1024 + 768), abs=1e5)
    assert parts(found, "step").get("gradients", 0.0) < 0.001


def test_packed_weights_take_half_a_byte():
    whole, packed = count(tuner="lora"), count(tuner="lora", quant_bits=4)

    saved = parts(whole, "loss")["parameters"] - parts(packed, "loss")["parameters"]
    linear = 4 * (512 * (512 + 256) * 2 + 3 * 512 * 1024)
    assert saved == pytest.approx(linear * (2 - 0.516) / GIB, abs=0.002)


def test_sharding_divides_the_states():
    one, four = count(precision="deepspeed"), count(precision="deepspeed", zero_stage=3, data=4)

    assert parts(four, "loss")["optimizer"] == pytest.approx(
        parts(one, "loss")["optimizer"] / 4, abs=0.002
    )
    assert parts(four, "loss")["parameters"] < parts(one, "loss")["parameters"] / 2


def test_own_config_is_read():
    config = {
        "model_type": "qwen2",
        "hidden_size": 256,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 512,
        "vocab_size": 1000,
    }

    found = count(config)

    assert found.model_class == "Qwen2ForCausalLM"
    assert found.peak in ("step", "loss", "backward", "forward")


def test_class_nobody_has_is_counted_by_shape_or_refused():
    assert count({"model_type": "acme-9"}).assumptions[0].endswith("of the same shape")
    nothing = Workload(
        shape=ModelShape(id="acme/x"),
        length=Length(low=64, typical=64, high=64, how="exact"),
    )

    found = run_exact(nothing, {"model_type": "acme-9"}, seconds=300)

    assert isinstance(found, Refusal)
    assert found.id == "exact-unknown-class"


def test_tied_head_is_one_parameter_with_the_embedding():
    tied = msgspec.structs.replace(SHAPE, tie=True)

    saved = count().parameters_b - count(shape=tied).parameters_b

    assert saved == pytest.approx(32000 * 512 / 1e9, abs=2e-4)
