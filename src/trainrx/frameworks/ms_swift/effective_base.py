"""ms-swift 3.x and 4.x: `BaseArguments.__post_init__` and the classes it calls."""

from __future__ import annotations

from trainrx.frameworks.common.models import DTYPES, is_multimodal, max_length, torch_dtype
from trainrx.frameworks.common.sheet import Sheet
from trainrx.frameworks.common.view import UNKNOWN, Truth, both, either, negate

_SHORT = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}
_OTHER_TASKS = ("reward", "embed", "rerank", "classif", "-rm-")
_HYBRID_THINKING = frozenset(
    {
        "deepseek_v3_1",
        "deepseek_v4",
        "deepseek_v4_flash",
        "deepseek_v41",
        "diffusion_gemma",
        "gemma4",
        "glm4_5",
        "glm4_5v",
        "glm4_7",
        "glm5_1",
        "glm5_2",
        "glm5_3",
        "glm5_next",
        "hunyuan",
        "hy_v3",
        "hy_v3_preview",
        "kimi_k25",
        "kimi_k3",
        "ling3",
        "minicpm5",
        "minicpm5_2b",
        "minicpmo4_5",
        "minicpmv4_5",
        "minicpmv4_6",
        "minicpmv4_7",
        "minimax_m3_vl",
        "qwen3",
        "qwen3_5",
        "qwen3_5_emb",
        "qwen3_8",
        "spark2_5",
        "xing4_0",
        "youtu_llm",
    }
)
"""Templates that may think or not (`is_thinking` with a `non_thinking_prefix`), in 4.6.0."""


def base(sheet: Sheet) -> None:
    """Work out what every command shares: model, precision, template, data."""
    for name, since in (("columns", "3.0.0"), ("max_memory", "3.2.0"), ("model_kwargs", "3.0.0")):
        if sheet.since(since):
            sheet.read_json(name, empty={})
    _model(sheet)
    _quantization(sheet)
    _template(sheet)
    _data(sheet)
    if sheet.view.command in {"sft", "pt", "rlhf", "export"}:
        sheet.fill("stream", value=False, when=sheet.since("3.6.0"))
    sheet.fill("max_length", max_length(sheet.view.model), sheet.since("3.8.0"))
    sheet.copy("max_length", "packing_length", both(sheet.any("packing"), sheet.since("3.8.0")))
    if sheet.since("4.0.0"):
        lazy_tokenize(sheet)


def multimodal(sheet: Sheet) -> Truth:
    """Tell whether the model takes more than text."""
    return is_multimodal(sheet.view.model, sheet.get("model"))


def vllm(sheet: Sheet) -> None:
    """Read what vLLM is given as JSON; None stays None since 3.11 for the limits."""
    limits = sheet.since("3.2.0", "3.11.0")
    name = "vllm_limit_mm_per_prompt"
    if limits is None:
        sheet.fill(name, UNKNOWN)
    else:
        sheet.read_json(name, empty={} if limits else None)
    if sheet.since("3.10.0"):
        sheet.read_json("vllm_engine_kwargs", empty={})


def _model(sheet: Sheet) -> None:
    if sheet.since("3.0.0", "3.3.1"):
        for flag in ("fp16", "bf16"):
            sheet.fill("torch_dtype", _SHORT[flag], sheet.any(flag))
    sheet.fill("torch_dtype", torch_dtype(sheet.view.model))
    for name in ("model_type", "template"):
        # found by the model's name and architecture among those registered
        sheet.fill(name, UNKNOWN)
    sheet.fill("task_type", "seq_cls", negate(sheet.none("num_labels")))
    words = f"-{sheet.get('model')}-".lower().replace("_", "-").replace("/", "-")
    other = any(word in words for word in _OTHER_TASKS)
    sheet.fill("task_type", UNKNOWN if other else "causal_lm")
    dtype = sheet.get("torch_dtype")
    if not sheet.has("bf16"):
        return
    half = UNKNOWN if dtype is UNKNOWN else dtype in ("float16", "float32")
    brain = UNKNOWN if dtype is UNKNOWN else dtype == "bfloat16"
    always = sheet.since("3.0.0", "3.3.1")
    sheet.set("fp16", half, either(always, sheet.none("fp16")))
    sheet.set("bf16", brain, either(always, sheet.none("bf16")))


def _quantization(sheet: Sheet) -> None:
    dtype = sheet.get("torch_dtype")
    if dtype is UNKNOWN or dtype in DTYPES:
        found = UNKNOWN if dtype is UNKNOWN else "bfloat16" if dtype == "bfloat16" else "float32"
        sheet.fill("bnb_4bit_compute_dtype", found)


def _template(sheet: Sheet) -> None:
    sheet.fill("use_chat_template", value=True, when=sheet.since("3.5.2"))
    sheet.fill("truncation_strategy", "delete", sheet.since("3.3.0"))
    if sheet.view.command == "rlhf":
        default_for_rlhf(sheet)
    scale, template = sheet.get("loss_scale"), sheet.get("template")
    if not isinstance(scale, str) or not scale or "ignore_empty_think" in scale:
        return
    off = sheet.any("disable_ignore_empty_think")
    hybrid = None if template is UNKNOWN else str(template) in _HYBRID_THINKING
    takes = both(sheet.has("disable_ignore_empty_think"), sheet.since("4.3.1"))
    when = both(hybrid, negate(off), takes)
    sheet.set("loss_scale", f"{scale}+ignore_empty_think", when)


def default_for_rlhf(sheet: Sheet) -> None:
    """Give the tokens that count for the loss: of the last round, but for ORPO on text alone."""
    every = both(sheet.equals("rlhf_type", "orpo"), negate(multimodal(sheet)))
    turns = both(sheet.equals("rlhf_type", "grpo", "gkd"), sheet.any("multi_turn_scheduler"))
    turns = both(turns, sheet.since("3.6.0"))
    sheet.fill("loss_scale", "default", both(either(every, turns), sheet.since("3.1.0")))
    sheet.fill("loss_scale", "last_round", sheet.since("3.1.0"))


def _data(sheet: Sheet) -> None:
    sheet.copy("seed", "data_seed", sheet.since("3.0.0", "3.5.0"))
    streams = both(sheet.any("streaming"), sheet.any("split_dataset_ratio"))
    sheet.set("split_dataset_ratio", 0.0, either(sheet.any("val_dataset"), streams))


def lazy_tokenize(sheet: Sheet) -> None:
    """Tokenize while training for models that take more than text."""
    hindered = either(
        sheet.any_of("streaming", "cached_dataset", "cached_val_dataset"),
        both(sheet.any("packing"), sheet.since("3.7.0")),
        both(sheet.any("group_by_length"), sheet.since("3.12.0")),
    )
    lazy = both(multimodal(sheet), negate(hindered))
    sheet.fill("lazy_tokenize", UNKNOWN if lazy is None else lazy)
