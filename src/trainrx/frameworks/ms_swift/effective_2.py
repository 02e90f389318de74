"""ms-swift 2.x: `SftArguments`, `RLHFArguments`, `InferArguments` (swift/llm/utils/argument.py).

Read at 2.6.1; the statements stand in 2.3.0, 2.4.0, 2.4.2, 2.5.0 and 2.5.2 too, but for those
that are bounded here. Before 2.3.0 only what is common since 2.0.0 is computed: learning rate and
accumulation.
"""

from __future__ import annotations

from trainrx.frameworks.common.models import is_multimodal
from trainrx.frameworks.common.sheet import Sheet, accumulation
from trainrx.frameworks.common.view import UNKNOWN, Held, Truth, both, either, negate
from trainrx.frameworks.transformers.effective import first_rank, trainer

_TRAINING = frozenset({"sft", "pt", "rlhf", "dpo", "orpo", "simpo"})


def effective_2(sheet: Sheet) -> None:
    """Work out one launch of 2.x."""
    command = sheet.view.command
    if not sheet.view.since("2.3.0"):
        if command in _TRAINING:
            _rates(sheet)
        return
    if command in _TRAINING:
        if command not in {"sft", "pt"}:
            _rlhf(sheet)
        _shared(sheet)
        _train(sheet)
    elif command != "web-ui":
        _shared(sheet)
        _infer(sheet)


def _rlhf(sheet: Sheet) -> None:
    if sheet.view.command != "rlhf":
        # `swift dpo` is `swift rlhf --rlhf_type dpo`
        sheet.set("rlhf_type", sheet.view.command, not sheet.view.given("rlhf_type"))
    simpo = sheet.equals("rlhf_type", "simpo")
    sheet.fill("loss_type", "simpo", simpo)
    sheet.fill("beta", 2.0, simpo)
    sheet.set("rlhf_type", "cpo", both(simpo, sheet.view.since("2.4.2")))
    sheet.fill("beta", 0.1)
    sheet.fill("loss_type", "sigmoid", sheet.equals("rlhf_type", "dpo", "cpo"))
    sheet.fill("loss_type", "kto", sheet.equals("rlhf_type", "kto"))


def _shared(sheet: Sheet) -> None:
    sheet.set("dataset_test_ratio", 0.0, sheet.any("val_dataset"))
    sheet.copy("seed", "dataset_seed")
    sheet.read_json("model_kwargs", empty={})
    sheet.set("max_length", None, sheet.equals("max_length", -1))
    sheet.set("max_steps", -1, sheet.none("max_steps"))
    sheet.fill("model_revision", _revision(sheet))
    # which one belongs to a model_type is in the table of models
    sheet.set("template_type", UNKNOWN, sheet.equals("template_type", "AUTO"))
    sheet.set("dtype", UNKNOWN, sheet.equals("dtype", "AUTO"))
    auto = sheet.equals("bnb_4bit_comp_dtype", "AUTO")
    sheet.set("bnb_4bit_comp_dtype", sheet.get("dtype"), auto)
    bits = sheet.number("quantization_bit")
    if bits is not None and bits > 0:
        sheet.fill("quant_method", "bnb" if bits in (4, 8) else "hqq")
    greedy = sheet.equals("temperature", 0)
    sheet.set("do_sample", value=False, when=greedy)


def _revision(sheet: Sheet) -> Held:
    use_hf = sheet.view.env("USE_HF")
    if use_hf is UNKNOWN:
        return UNKNOWN
    return "main" if str(use_hf).lower() in {"1", "true"} else "master"


def _is_full(sheet: Sheet) -> Truth:
    return sheet.equals("sft_type", "full")


def _train(sheet: Sheet) -> None:
    full = _is_full(sheet)
    sheet.set("loss_scale_config_path", UNKNOWN, _is_default_path(sheet))
    sheet.read_json("lr_scheduler_kwargs", empty={})
    modules = sheet.get("target_modules")
    if isinstance(modules, list) and {"DEFAULT", "AUTO"} & {str(m) for m in modules}:
        # the model's own list is in the table of models
        sheet.set("target_modules", UNKNOWN)
    spread = sheet.view.distributed
    sheet.fill("ddp_backend", "nccl", spread)
    sheet.fill("ddp_find_unused_parameters", value=False, when=spread)
    sheet.fill("ddp_broadcast_buffers", value=False, when=spread)
    _rates(sheet)
    sheet.fill("eval_steps", 200, full)
    sheet.fill("eval_steps", 50)
    sheet.copy("eval_steps", "save_steps")
    frozen = both(full, either(sheet.any("freeze_vit"), _sees(sheet)))
    sheet.set("freeze_parameters", UNKNOWN, both(frozen, _sees(sheet)))
    sheet.fill("neftune_backend", "transformers")
    sheet.fill("eval_batch_size", 1, sheet.any("predict_with_generate"))
    sheet.copy("batch_size", "eval_batch_size")
    sheet.set("save_total_limit", None, sheet.equals("save_total_limit", -1))
    _lora(sheet)
    _streaming(sheet)
    _template_defaults(sheet)
    sheet.fill("add_output_dir_suffix", value=True)
    output = sheet.get("output_dir")
    plain = negate(sheet.any("add_output_dir_suffix"))
    folder: Held = f"{output}/runs" if isinstance(output, str) and plain else UNKNOWN
    sheet.fill("logging_dir", folder)
    _greedy(sheet)
    _trainer(sheet)


def _lora(sheet: Sheet) -> None:
    """`prepare_model` of swift/llm/tuner.py reads two texts before it makes the adapter."""
    adapter = sheet.equals("sft_type", "lora", "longlora")
    for word, value in (("true", True), ("false", False)):
        said = sheet.equals("init_lora_weights", word, word.capitalize())
        sheet.set("init_lora_weights", value, both(adapter, said))
    sheet.set("lora_dtype", None, both(adapter, sheet.equals("lora_dtype", "AUTO")))


def _rates(sheet: Sheet) -> None:
    sheet.fill("learning_rate", 1e-5, _is_full(sheet))
    sheet.fill("learning_rate", 1e-4)
    sheet.fill("gradient_accumulation_steps", accumulation(sheet, "batch_size"))


def _is_default_path(sheet: Sheet) -> Truth:
    """Name tables of weights that lie in the package's own folder."""
    return sheet.equals("loss_scale_config_path", "DEFAULT", "alpha-umi", "agent-flan")


def _streaming(sheet: Sheet) -> None:
    streams = sheet.any("streaming")
    for name, value in (("packing", False), ("lazy_tokenize", False), ("test_oom_error", False)):
        sheet.set(name, value, both(streams, sheet.any(name)))
    sheet.set("train_dataset_mix_ratio", 0, streams)
    sheet.set("dataset_test_ratio", 0, streams)
    sheet.set("train_dataset_sample", -1, streams)
    sheet.set("dataloader_num_workers", 0, streams)


def _template_defaults(sheet: Sheet) -> None:
    """Most templates leave these alone; those of models that see set them."""
    sees = _sees(sheet)
    text: Held = UNKNOWN if sees is not False else False
    sheet.fill("lazy_tokenize", text, negate(sheet.any("streaming")))
    workers: Held = UNKNOWN if sees is not False else 1
    sheet.fill("dataloader_num_workers", workers)
    sheet.fill("gradient_checkpointing", value=True)


def _sees(sheet: Sheet) -> Truth:
    name = sheet.get("model_type")
    return is_multimodal(sheet.view.model, name)


def _trainer(sheet: Sheet) -> None:
    """What the trainer is told under its own names."""
    sheet.fill("per_device_train_batch_size", sheet.get("batch_size"))
    sheet.fill("per_device_eval_batch_size", sheet.get("eval_batch_size"))
    sheet.fill("eval_strategy", sheet.get("evaluation_strategy"))
    trainer(sheet)
    first_rank(sheet)


def _infer(sheet: Sheet) -> None:
    alone = sheet.none("ckpt_dir")
    sheet.set("load_args_from_ckpt_dir", value=False, when=alone)
    sheet.set("sft_type", "full", alone)
    talks = negate(either(sheet.any("dataset"), sheet.any("val_dataset")))
    sheet.fill("eval_human", UNKNOWN if talks is None else talks)
    if sheet.view.command != "export":
        sheet.fill("merge_device_map", "cpu")
    beams = sheet.number("num_beams")
    sheet.set("stream", value=False, when=beams is not None and beams != 1)
    _greedy(sheet, sheet.equals("infer_backend", "pt"))


def _greedy(sheet: Sheet, when: Truth = True) -> None:
    """Put what sampling would need back to its neutral values where nothing is sampled."""
    greedy = both(sheet.equals("do_sample", False), when, sheet.view.since("2.4.2"))
    for name, value in (("temperature", 1.0), ("top_p", 1.0), ("top_k", 50)):
        sheet.set(name, value, greedy)
