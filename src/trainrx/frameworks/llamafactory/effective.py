"""What LLaMA-Factory computes after parsing.

Read in src/llamafactory/hparams/{parser,data_args,finetuning_args,model_args}.py of 0.9.3; the
bounds are the first of the tags 0.7.0 to 0.9.5 that holds the statement.
"""

from __future__ import annotations

from trainrx.frameworks.common.sheet import Sheet
from trainrx.frameworks.common.view import (
    UNKNOWN,
    ArgumentView,
    Held,
    Truth,
    Worked,
    both,
    either,
    negate,
)
from trainrx.frameworks.transformers.effective import training_arguments

_COMMA_LISTS = (
    "freeze_trainable_modules",
    "freeze_extra_modules",
    "lora_target",
    "additional_target",
    "galore_target",
    "apollo_target",
    "adapter_name_or_path",
    "add_tokens",
    "add_special_tokens",
    "new_special_tokens",
    "interleave_probs",
)


def effective(view: ArgumentView) -> Worked:
    """Give what differs from the parsed values."""
    sheet = Sheet(view)
    for name in _COMMA_LISTS:
        sheet.split(name)
    if sheet.since("0.8.3"):
        sheet.split("dataset")
        sheet.split("eval_dataset")
    probabilities = sheet.get("interleave_probs")
    if isinstance(probabilities, list):
        sheet.set("interleave_probs", _numbers(probabilities))
    rank = sheet.number("lora_rank")
    alpha: Held = UNKNOWN if rank is None else int(rank * 2)
    sheet.set("lora_alpha", alpha, negate(sheet.any("lora_alpha")))
    sheet.copy("dataset_dir", "image_dir", sheet.since("0.9.1"))
    sheet.copy("dataset_dir", "media_dir", sheet.since("0.9.2"))
    if view.command == "train":
        _packing(sheet)
        _training(sheet)
    return sheet.written


def _packing(sheet: Sheet) -> None:
    """Pack for pre-training when nobody says; one token is kept back where packing is asked for."""
    neat = sheet.any("neat_packing")
    sheet.set("packing", value=True, when=neat)
    cutoff = sheet.number("cutoff_len")
    kept: Held = UNKNOWN if cutoff is None else int(cutoff) - 1
    sheet.set("cutoff_len", kept, both(sheet.any("packing"), sheet.since("0.9.3")))
    pretrains = sheet.equals("stage", "pt")
    sheet.fill("packing", UNKNOWN if pretrains is None else pretrains)


def _training(sheet: Sheet) -> None:
    training_arguments(sheet)
    every = sheet.since("0.9.3")
    supervised = either(every, sheet.equals("stage", "sft"))
    sheet.copy("cutoff_len", "generation_max_length", supervised)
    beams = both(sheet.any("eval_num_beams"), supervised)
    sheet.set("generation_num_beams", sheet.get("eval_num_beams"), beams)
    sheet.set("remove_unused_columns", value=False, when=every)
    lora = sheet.equals("finetuning_type", "lora")
    sheet.fill("label_names", ["labels"], both(lora, every))
    many = both(sheet.view.distributed, lora)
    sheet.fill("ddp_find_unused_parameters", value=False, when=many)
    sheet.set("resume_from_checkpoint", None, _restarts(sheet))


def _restarts(sheet: Sheet) -> Truth:
    """Reward models trained in full start anew: their extra head is not resumed."""
    stage = sheet.equals("stage", "rm", "ppo")
    return both(stage, sheet.equals("finetuning_type", "full", "freeze"))


def _numbers(texts: list[object]) -> Held:
    try:
        return [float(str(text)) for text in texts]
    except ValueError:
        return UNKNOWN
