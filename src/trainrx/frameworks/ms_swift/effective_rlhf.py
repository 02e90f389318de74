"""ms-swift 3.x and 4.x: `RLHFArguments.__post_init__`, before and after that of training."""

from __future__ import annotations

from trainrx.frameworks.common.sheet import Sheet
from trainrx.frameworks.common.view import UNKNOWN, Held, both, either, negate
from trainrx.frameworks.ms_swift.effective_base import vllm
from trainrx.frameworks.ms_swift.effective_train import is_full

_ESTIMATORS = {"grpo": "group", "rloo": "none", "reinforce_plus_plus": "batch"}


def rlhf_before(sheet: Sheet) -> None:
    """Set what depends on the algorithm alone."""
    loss = sheet.get("loss_type")
    if isinstance(loss, list) and len(loss) == 1:
        sheet.set("loss_type", loss[0])
    _grpo(sheet)
    reward = both(sheet.equals("rlhf_type", "rm"), sheet.since("3.0.1"))
    sheet.set("task_type", "seq_cls", reward)
    sheet.set("num_labels", 1, reward)
    _simpo(sheet)
    _lengths(sheet)
    left = both(sheet.equals("rlhf_type", "gkd"), sheet.since("3.6.0"))
    ppo = both(sheet.equals("rlhf_type", "ppo"), sheet.since("3.0.2"))
    sheet.set("padding_side", "left", either(left, ppo))
    _defaults(sheet)
    alone = both(negate(sheet.any("use_vllm")), sheet.since("3.5.0"))
    sheet.set("vllm_tensor_parallel_size", 1, alone)
    rolls_out = sheet.equals("rlhf_type", "grpo") if sheet.since("3.2.0", "3.7.0") else True
    if rolls_out:
        vllm(sheet)


def rlhf_after(sheet: Sheet) -> None:
    """Set the reference model, the batches of generation, the teacher."""
    no_reference = both(sheet.equals("rlhf_type", "grpo"), sheet.equals("beta", 0))
    no_reference = both(no_reference, sheet.since("3.2.0"))
    sheet.set("ref_model", None, no_reference)
    refers = both(
        sheet.equals("rlhf_type", "dpo", "kto", "ppo", "grpo"), is_full(sheet), negate(no_reference)
    )
    for name in ("model", "model_type", "model_revision"):
        sheet.copy(name, f"ref_{name}", refers)
    grpo = sheet.equals("rlhf_type", "grpo")
    sheet.copy("max_completion_length", "cosine_max_len", both(grpo, sheet.since("3.1.1")))
    _batches(sheet)
    same = sheet.get("teacher_model") == sheet.get("model") and sheet.get("model") is not None
    adapter = sheet.equals("tuner_type", "lora")
    own = both(same, adapter, negate(sheet.any("teacher_adapters")), sheet.since("4.1.0"))
    sheet.set("teacher_model", None, both(own, sheet.equals("rlhf_type", "grpo", "gkd")))


def _grpo(sheet: Sheet) -> None:
    grpo = both(sheet.equals("rlhf_type", "grpo"), sheet.since("3.1.1"))
    if grpo is False:
        return
    server = both(sheet.equals("vllm_mode", "server"), sheet.since("3.5.0"))
    sleepless = either(sheet.any("async_generate"), negate(sheet.any("use_vllm")), server)
    sheet.set("sleep_level", 0, both(grpo, sleepless, sheet.since("3.2.1")))
    level = sheet.number("sleep_level")
    once = both(grpo, level is not None and level > 0, sheet.since("3.2.1", "3.4.0"))
    sheet.set("gradient_accumulation_steps", 1, once)
    sheet.set("remove_unused_columns", value=False, when=grpo)
    always = both(grpo, sheet.since("3.1.1", "3.3.0"))
    sheet.set("truncation_strategy", "left", always)
    sheet.fill("truncation_strategy", "left", grpo)
    sheet.fill("beta", 0.04, grpo)
    newer = both(grpo, sheet.since("3.10.0"))
    estimator = sheet.get("advantage_estimator")
    known = isinstance(estimator, str) and estimator in _ESTIMATORS
    in_reward: Held = estimator != "grpo" if known else UNKNOWN
    scale: Held = _ESTIMATORS[str(estimator)] if known else UNKNOWN
    sheet.fill("kl_in_reward", in_reward, newer)
    sheet.fill("scale_rewards", scale, newer)
    soft = _holds(sheet, "reward_funcs", "soft_overlong")
    sheet.copy("max_completion_length", "soft_max_length", both(grpo, soft))


def _simpo(sheet: Sheet) -> None:
    simpo = sheet.equals("rlhf_type", "simpo")
    sheet.fill("loss_type", "simpo", simpo)
    sheet.fill("beta", 2.0, simpo)
    sheet.set("rlhf_type", "cpo", simpo)


def _lengths(sheet: Sheet) -> None:
    """One length under three names: the first that is set holds."""
    if not sheet.since("3.6.0"):
        return
    names = ("response_length", "max_new_tokens", "max_completion_length")
    values = [sheet.get(name) for name in names]
    length = next((value for value in values if value is UNKNOWN or value), None)
    for name in names:
        sheet.set(name, length)


def _defaults(sheet: Sheet) -> None:
    kind = sheet.equals
    sheet.fill("beta", 0.5, both(kind("rlhf_type", "gkd"), sheet.since("3.6.0")))
    sheet.fill("beta", 0.1)
    sheet.fill("loss_type", "sigmoid", kind("rlhf_type", "dpo", "cpo"))
    sheet.fill("loss_type", "kto", kind("rlhf_type", "kto"))
    sheet.fill("loss_type", "grpo", both(kind("rlhf_type", "grpo"), sheet.since("3.4.0")))
    one = both(kind("rlhf_type", "grpo"), sheet.since("3.7.0"))
    sheet.fill("gradient_accumulation_steps", 1, one)


def _batches(sheet: Sheet) -> None:
    """Samples per generation: micro-batch times processes times steps per generation."""
    generates = sheet.equals("rlhf_type", "grpo", "gkd")
    if sheet.since("3.5.2") is not True or generates is not True:
        return
    size, world = sheet.number("per_device_train_batch_size"), sheet.view.world_size
    total, steps = sheet.number("generation_batch_size"), sheet.number("steps_per_generation")
    if size is None or world is None or not size * world:
        for name in ("generation_batch_size", "steps_per_generation"):
            sheet.fill(name, UNKNOWN)
        return
    if steps is None and total is not None:
        sheet.fill("steps_per_generation", int(total // (size * world)))
        return
    sheet.copy("gradient_accumulation_steps", "steps_per_generation")
    steps = sheet.number("steps_per_generation")
    product: Held = UNKNOWN if steps is None else int(size * world * steps)
    sheet.fill("generation_batch_size", product)


def _holds(sheet: Sheet, name: str, item: str) -> bool | None:
    value = sheet.get(name)
    if value is UNKNOWN:
        return None
    return item in value if isinstance(value, list) else value == item
