"""ms-swift 3.x and 4.x: arguments of infer, deploy, rollout, export, eval, app and sample."""

from __future__ import annotations

from trainrx.frameworks.common.sheet import Sheet
from trainrx.frameworks.common.view import UNKNOWN, Held, both, either, negate
from trainrx.frameworks.ms_swift.effective_base import multimodal, vllm

_SERVES = frozenset({"deploy", "app", "eval"})


def serving_before(sheet: Sheet) -> None:
    """Set what comes before the model is looked at."""
    command, since = sheet.view.command, sheet.since
    sheet.set(
        "infer_backend", "transformers", both(sheet.equals("infer_backend", "pt"), since("4.0.0"))
    )
    name = "vllm_use_async_engine"
    if command in _SERVES:
        sheet.fill(name, value=True, when=since("3.7.0"))
    elif command == "rollout":
        turns = sheet.any("multi_turn_scheduler")
        sheet.fill(name, UNKNOWN if turns is None else turns, since("3.7.0"))
        gym = negate(sheet.none("gym_env"))
        sheet.fill("use_gym_env", UNKNOWN if gym is None else gym)
    if command == "export":
        sheet.set("quant_batch_size", None, sheet.equals("quant_batch_size", -1))
        calibrated = sheet.equals("quant_method", "gptq", "awq")
        sheet.fill("torch_dtype", "float16", both(calibrated, since("3.0.2")))
    if command == "sample":
        sheet.set("padding_side", "left")


def serving_after(sheet: Sheet) -> None:
    """Set what follows from model and data."""
    command, since = sheet.view.command, sheet.since
    if command != "sample":
        vllm(sheet)
        if since("3.0.0", "3.7.0"):
            sheet.read_json("limit_mm_per_prompt", empty={})
    if command == "export":
        _export_folder(sheet)
        return
    if command == "app":
        sees = multimodal(sheet)
        sheet.fill("is_multimodal", UNKNOWN if sees is None else sees)
        # the template's own, in the package's table of templates
        sheet.fill("system", UNKNOWN)
    validated = either(
        both(sheet.any("dataset"), sheet.any("split_dataset_ratio")), sheet.any("val_dataset")
    )
    talks = True if command != "infer" else negate(validated)
    if command == "infer":
        sheet.fill("stream", UNKNOWN if talks is None else talks, since("3.6.0"))
        beams = sheet.number("num_beams")
        sheet.set("stream", value=False, when=beams is not None and beams != 1)
        sheet.fill("vllm_use_async_engine", value=False, when=since("3.7.0"))
    else:
        sheet.fill("stream", value=False, when=since("3.6.0"))
    # its name holds the time
    sheet.fill("result_path", UNKNOWN, either(validated, since("3.0.0", "3.6.0")))
    both_names = both(sheet.any("vllm_enable_expert_parallel"), command == "rollout")
    sheet.set("vllm_use_async_engine", value=True, when=both_names)


def _export_folder(sheet: Sheet) -> None:
    model = sheet.get("model")
    method, bits = sheet.get("quant_method"), sheet.get("quant_bits")
    folder: Held = UNKNOWN
    if sheet.any("to_peft_format"):
        suffix = "peft"
    elif method is not UNKNOWN and method:
        suffix = f"{method}-int{bits}" if bits is not None else str(method)
    elif sheet.any("merge_lora"):
        suffix = "merged"
    else:
        return
    if isinstance(model, str) and not sheet.any("adapters"):
        folder = f"{model.rstrip('/').rsplit('/', 1)[-1]}-{suffix}"
    sheet.fill("output_dir", folder)
