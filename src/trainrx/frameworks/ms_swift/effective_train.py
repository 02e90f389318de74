"""ms-swift 3.x and 4.x: `TrainArguments.__post_init__`, and what its trainer arguments fill in."""

from __future__ import annotations

from trainrx.frameworks.common.sheet import Sheet, accumulation
from trainrx.frameworks.common.view import UNKNOWN, Held, Truth, both, either, negate
from trainrx.frameworks.ms_swift.effective_base import lazy_tokenize, multimodal
from trainrx.frameworks.transformers.effective import first_rank, trainer

_TUNER = ("tuner_type", "train_type")


def is_full(sheet: Sheet) -> Truth:
    """Tell whether all weights are trained, not an adapter."""
    names = [name for name in _TUNER if sheet.has(name)]
    # 4.0 took both: the one that is given counts
    told = [name for name in names if sheet.view.given(name)] or names
    return sheet.equals(told[0], "full") if told else None


def train_before(sheet: Sheet) -> None:
    """Take the model from the checkpoint that is resumed: all of it (3.x), or the weights (4.x)."""
    resumed = sheet.get("resume_from_checkpoint")
    only = either(sheet.any("resume_only_model"), sheet.since("3.0.0", "3.4.0"))
    when = both(sheet.any("resume_from_checkpoint"), only)
    sheet.set("model", resumed, both(when, is_full(sheet)))
    adapters: Held = UNKNOWN if resumed is UNKNOWN else [resumed]
    sheet.set("adapters", adapters, both(when, negate(is_full(sheet))))


def train(sheet: Sheet) -> None:
    """Work out the arguments of training."""
    if sheet.view.command == "pt":
        # all tokens of plain text count; 4.x declares it
        older = sheet.since("3.0.0", "4.0.0")
        sheet.set("use_chat_template", value=False, when=older)
        sheet.set("loss_scale", "all", older)
    _schedule(sheet)
    _tuner(sheet)
    _loading(sheet)
    _folders(sheet)
    _trainer(sheet)


def _schedule(sheet: Sheet) -> None:
    sheet.fill("output_dir", _output(sheet))
    _best(sheet)
    sheet.fill("learning_rate", 1e-5, is_full(sheet))
    sheet.fill("learning_rate", 1e-4)
    sheet.copy("save_strategy", "eval_strategy")
    never = sheet.equals("eval_strategy", "no")
    sheet.set("eval_steps", None, never)
    sheet.set("split_dataset_ratio", 0.0, never)
    sheet.copy("save_steps", "eval_steps", sheet.equals("eval_strategy", "steps"))
    sheet.set("evaluation_strategy", sheet.get("eval_strategy"))
    validated = either(
        both(sheet.any("dataset"), sheet.any("split_dataset_ratio")),
        sheet.any_of("val_dataset", "cached_val_dataset", "eval_dataset"),
    )
    sheet.set("eval_strategy", "no", both(negate(validated), sheet.since("3.6.0")))


def _best(sheet: Sheet) -> None:
    grpo = both(sheet.equals("rlhf_type", "grpo"), sheet.since("3.1.1"))
    sheet.fill("metric_for_best_model", "reward", grpo)
    ppo = sheet.equals("rlhf_type", "ppo") if sheet.has("rlhf_type") else False
    learns = negate(ppo)
    sheet.fill("metric_for_best_model", "rouge-l", both(sheet.any("predict_with_generate"), learns))
    sheet.fill("metric_for_best_model", "loss", learns)
    metric = sheet.get("metric_for_best_model")
    if metric is not None:
        better: Held = UNKNOWN if metric is UNKNOWN else "loss" not in str(metric)
        sheet.fill("greater_is_better", better)


def _tuner(sheet: Sheet) -> None:
    for word, value in (("true", True), ("false", False)):
        sheet.set("init_weights", value, sheet.equals("init_weights", word))
    sheet.set("target_modules", sheet.get("target_regex"), sheet.any("target_regex"))
    # the names of the model's parts are added, and those are the model's own
    parts = both(multimodal(sheet), either(is_full(sheet), negate(sheet.since("3.7.0"))))
    frozen = sheet.any_of("freeze_llm", "freeze_vit", "freeze_aligner")
    sheet.set("freeze_parameters", UNKNOWN, both(parts, frozen))
    trained = negate(sheet.any("freeze_aligner"))
    sheet.set("trainable_parameters", UNKNOWN, both(parts, trained))
    sheet.fill("optimizer", "lorap", sheet.any("lorap_lr_ratio"))
    sheet.fill("optimizer", "galore", sheet.any("use_galore"))
    lr = either(negate(sheet.none("vit_lr")), negate(sheet.none("aligner_lr")))
    sheet.fill("optimizer", "multimodal", both(lr, sheet.since("3.5.0")))
    # a frozen tower was left out in some releases, whatever the language model does
    by_tower, frozen_tower = sheet.since("4.1.1", "4.6.0"), sheet.any("freeze_vit")
    for value, tower in ((False, frozen_tower), (True, negate(frozen_tower))):
        sheet.fill("vit_gradient_checkpointing", value, both(by_tower, tower))
    sheet.copy("gradient_checkpointing", "vit_gradient_checkpointing", sheet.since("3.5.0"))


def _loading(sheet: Sheet) -> None:
    sheet.set("padding_free", value=True, when=both(sheet.any("packing"), sheet.since("3.8.0")))
    lazy_and_streaming = both(sheet.any("streaming"), sheet.any("lazy_tokenize"))
    silent = sheet.since("3.0.0", "3.7.0")
    sheet.set("lazy_tokenize", value=False, when=both(lazy_and_streaming, silent))
    lazy_tokenize(sheet)
    sheet.fill("accelerator_config", {"dispatch_batches": False})
    sheet.fill("fsdp", [], sheet.since("3.12.0"))
    sheet.fill("dataloader_num_workers", 1, sheet.since("3.3.0"))
    works = both(sheet.any("dataloader_num_workers"), sheet.since("3.12.0"))
    sheet.fill("dataloader_prefetch_factor", 2, works)
    idle = both(sheet.equals("dataloader_num_workers", 0), sheet.since("4.6.0"))
    sheet.set("dataloader_persistent_workers", value=False, when=idle)


def _folders(sheet: Sheet) -> None:
    """Name the folders; with add_version the run's start is part of them."""
    plain = negate(sheet.any("add_version"))
    output = sheet.get("output_dir")
    runs: Held = f"{output}/runs" if isinstance(output, str) else UNKNOWN
    for name, value in (("logging_dir", runs), ("run_name", output)):
        sheet.fill(name, value if plain else UNKNOWN)


def _output(sheet: Sheet) -> Held:
    model = sheet.get("model")
    if not isinstance(model, str) or not model.strip("/"):
        return UNKNOWN
    return f"output/{model.rstrip('/').rsplit('/', 1)[-1]}"


def _trainer(sheet: Sheet) -> None:
    steps = accumulation(sheet, "per_device_train_batch_size")
    sheet.fill("gradient_accumulation_steps", steps, sheet.since("3.2.2"))
    for name in ("lr_scheduler_kwargs", "gradient_checkpointing_kwargs"):
        sheet.read_json(name)
    # the parser reads the declared "no" as a switch
    name = "include_num_input_tokens_seen"
    sheet.set(name, value=False, when=sheet.equals(name, "no"))
    trainer(sheet)
    first_rank(sheet)
