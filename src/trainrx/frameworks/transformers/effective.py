"""What `TrainingArguments.__post_init__` of transformers fills in, for all that build on it."""

from __future__ import annotations

from trainrx.frameworks.common.sheet import Sheet
from trainrx.frameworks.common.view import UNKNOWN, ArgumentView, Held, Worked, both, either, negate
from trainrx.model.catalog import Value

_FSDP: Value = {
    "min_num_params": 0,
    "xla": False,
    "xla_fsdp_v2": False,
    "xla_fsdp_grad_ckpt": False,
}
_ACCELERATOR: Value = {
    "split_batches": False,
    "dispatch_batches": None,
    "even_batches": True,
    "use_seedable_sampler": True,
    "non_blocking": False,
    "gradient_accumulation_kwargs": None,
    "use_configured_state": False,
}


def effective(view: ArgumentView) -> Worked:
    """Give what a script that parses `TrainingArguments` itself ends up with."""
    sheet = Sheet(view)
    training_arguments(sheet)
    return sheet.written


def training_arguments(sheet: Sheet) -> None:
    """Work out everything `TrainingArguments` computes."""
    evaluates = negate(sheet.equals("eval_strategy", "no"))
    if sheet.has("eval_strategy"):
        sheet.set("do_eval", value=True, when=evaluates)
    zero = either(sheet.none("eval_steps"), sheet.equals("eval_steps", 0))
    stepwise = both(sheet.equals("eval_strategy", "steps"), zero)
    sheet.set("eval_steps", sheet.get("logging_steps"), stepwise)
    best = either(
        sheet.any("load_best_model_at_end"),
        sheet.equals("lr_scheduler_type", "reduce_lr_on_plateau"),
    )
    sheet.fill("metric_for_best_model", "loss", best)
    metric = sheet.get("metric_for_best_model")
    if metric is not None:
        better: Held = UNKNOWN if metric is UNKNOWN else not str(metric).endswith("loss")
        sheet.fill("greater_is_better", better)
    _checkpointing(sheet)
    sheet.copy("output_dir", "run_name")
    # below the output folder, named after the time and the machine
    sheet.fill("logging_dir", UNKNOWN)
    sheet.fill("accelerator_config", _ACCELERATOR)
    _reports(sheet)
    sheet.set("optim", "adafactor", sheet.any("adafactor"))
    alone = None if sheet.view.world_size is None else sheet.view.world_size == 1
    sheet.set("average_tokens_across_devices", value=False, when=alone)
    fsdp = sheet.get("fsdp")
    if isinstance(fsdp, str):
        sheet.set("fsdp", [*fsdp.split()])
    trainer(sheet)
    # of the first process; each has its own
    sheet.set("local_rank", 0)


def _checkpointing(sheet: Sheet) -> None:
    """Take the deprecated names where the new ones, of 5.23, are unset; both say the same then."""
    for part in ("", "_kwargs"):
        old, new = f"gradient_checkpointing{part}", f"activation_checkpointing{part}"
        if not sheet.has(new):
            continue
        sheet.copy(old, new)
        if not part:
            sheet.fill(new, value=False)
        sheet.set(old, sheet.get(new))


def trainer(sheet: Sheet) -> None:
    """Work out what is left open for the trainer alone."""
    sheet.fill("disable_tqdm", value=False)
    _fsdp_config(sheet)
    debug = sheet.get("debug")
    if debug is None or debug == "":
        sheet.set("debug", [])
    torch = sheet.view.package_since("torch", "2.8")
    newer = sheet.view.package_since("transformers", "4.56")
    if sheet.get("optim") is UNKNOWN and torch is not None and newer is not None:
        sheet.set("optim", "adamw_torch_fused" if torch and newer else "adamw_torch")


def first_rank(sheet: Sheet) -> None:
    """Give the place of the first process as its variables tell it: -1 without a launcher."""
    spread = sheet.view.distributed
    sheet.set("local_rank", UNKNOWN if spread is None else 0 if spread else -1)


def _fsdp_config(sheet: Sheet) -> None:
    """Without FSDP it is filled with defaults up to 4.x, and stays None in 5.19."""
    if sheet.any("fsdp") is not False:
        return
    old = negate(sheet.view.package_since("transformers", "5.0"))
    if old is not True:
        old = False if sheet.view.package_since("transformers", "5.19") else None
    sheet.fill("fsdp_config", _FSDP, old)


def _reports(sheet: Sheet) -> None:
    reports = sheet.get("report_to")
    if reports in ("none", ["none"]):
        sheet.set("report_to", [])
    elif reports is None or reports in ("all", ["all"]):
        # all that are installed
        sheet.set("report_to", UNKNOWN)
    elif isinstance(reports, str):
        sheet.set("report_to", [reports])
