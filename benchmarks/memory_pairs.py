"""Pairs of measured rows that differ in one setting: what a single flag saves or costs.

Two rows of one `group` come of one script or table. They make a pair when model, framework, its
release and the card are the same and one setting differs, whether a column says so or a flag of
the command line no column stands for. The data, their length and their packing count as settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from memory_scores import Answers, Average, Row, average, family_of, figures_of

from trainrx.model.memory import Prediction

TIERS = ("strict", "loose", "exact_len_unknown")
NOISE_SHARE = 0.03
NOISE_GIB = 0.3
ROUNDED_GIB = 1.0
"""Two numbers written without decimals are apart by up to this when they are the same."""
ASKED = 0.30
"""How near the predicted difference is asked to be, as a share of the measured one."""

SAME = ("model", "framework_version", "gpu", "nodes")
SETTINGS = (
    "task",
    "tuner",
    "lora_rank",
    "lora_target",
    "dtype",
    "quant_bits",
    "gpus",
    "deepspeed",
    "fsdp",
    "offload",
    "per_device_batch_size",
    "grad_accum",
    "seq_len",
    "packing",
    "padding_free",
    "grad_ckpt",
    "recompute",
    "attn",
    "liger",
    "optimizer",
    "freeze_vit",
    "freeze_llm",
    "freeze_aligner",
    "vit_grad_ckpt",
    "max_pixels",
    "n_images",
    "use_vllm",
    "vllm_mode",
    "vllm_gpu_memory_utilization",
    "tensor_parallel",
    "pipeline_parallel",
    "expert_parallel",
    "context_parallel",
    "sequence_parallel",
    "num_generations",
    "max_completion_length",
    "device_map",
)
_COLUMNS = {
    "batch_size": "per_device_batch_size",
    "per_device_train_batch_size": "per_device_batch_size",
    "micro_batch_size": "per_device_batch_size",
    "gradient_accumulation_steps": "grad_accum",
    "global_batch_size": "grad_accum",
    "max_length": "seq_len",
    "max_seq_len": "seq_len",
    "model_max_length": "seq_len",
    "context_length": "seq_len",
    "sequence_len": "seq_len",
    "seq_length": "seq_len",
    "gradient_checkpointing": "grad_ckpt",
    "use_gradient_checkpointing": "grad_ckpt",
    "recompute_granularity": "recompute",
    "recompute_method": "recompute",
    "recompute_num_layers": "recompute",
    "use_flash_attn": "attn",
    "attn_impl": "attn",
    "attention_backend": "attn",
    "use_liger": "liger",
    "use_liger_kernel": "liger",
    "use_cce": "liger",
    "cross_entropy_loss_fusion": "liger",
    "sft_type": "tuner",
    "train_type": "tuner",
    "tuner_type": "tuner",
    "rlhf_type": "task",
    "r": "lora_rank",
    "lora_r": "lora_rank",
    "target_modules": "lora_target",
    "lora_target_modules": "lora_target",
    "quantization_bit": "quant_bits",
    "quant_method": "quant_bits",
    "quantize": "quant_bits",
    "bnb_4bit_comp_dtype": "quant_bits",
    "torch_dtype": "dtype",
    "deepspeed_config_path": "deepspeed",
    "sharding_strategy": "fsdp",
    "fsdp_num": "fsdp",
    "use_cpu_offload": "offload",
    "optim": "optimizer",
    "use_galore": "optimizer",
    "galore_quantization": "optimizer",
    "galore_optim_per_parameter": "optimizer",
    "lisa_activated_layers": "optimizer",
    "vit_gradient_checkpointing": "vit_grad_ckpt",
    "env:max_pixels": "max_pixels",
    "max_pixels": "max_pixels",
    "tensor_model_parallel_size": "tensor_parallel",
    "pipeline_model_parallel_size": "pipeline_parallel",
    "expert_model_parallel_size": "expert_parallel",
    "sequence_parallel_size": "sequence_parallel",
    "nproc_per_node": "gpus",
}
_OPEN = ("quantize", "quant_method")
"""Flags finer than their column: NF4 with and without double quantisation is 4 bits both times."""
_NEUTRAL = re.compile(
    r"(?:output_dir|hub_|push_to_hub|learning_rate|lr|min_lr|eval_|save|logging_|warmup|weight_decay"
    r"|max_grad_norm|lora_alpha|lora_dropout|num_train_epochs|max_epochs|seed|model|report_to|.*port$"
    r"|.*num_proc|num_workers|dataloader_|.*dataset|check_|template|system|ddp_|load|finetune|no_save"
    r"|metric_|max_steps|train_iters|lazy_|only_save|log_|tuner_backend|temperature|top_|beta$|env:"
    r"|framework_config|preprocess|repetition|do_sample|max_new|merge_lora|per_device_eval|acc_steps"
    r"|strict$|split_|moe_(?:aux|permute|grouped|shared)|include_|add_version|bf16$|fp16$)"
)
_FLAG = re.compile(
    r"--([A-Za-z][\w-]*)((?:[ =]+(?!--)[^\s]+)*)|(?<![\w.])([A-Za-z_]\w*)=([^\s,)]+)"
)


class Pair(NamedTuple):
    """Two rows apart by one `setting`: the measured and the predicted difference, GiB per GPU."""

    rows: tuple[str, str]
    family: str
    group: str
    figure: str
    setting: str
    values: tuple[str, str]
    measured: float
    predicted: float
    noise: float

    @property
    def counts(self) -> bool:
        """Tell whether the measured difference stands above the noise."""
        return abs(self.measured) > self.noise

    @property
    def resolved(self) -> bool:
        """Tell whether the noise leaves room to say if a prediction is within 30 % of it."""
        return self.noise <= ASKED * abs(self.measured)

    @property
    def sign_right(self) -> bool:
        """Tell whether the predicted difference goes the same way."""
        return self.measured * self.predicted > 0

    def size_within(self, share: float) -> bool:
        """Tell whether the predicted difference is off by at most `share` of the measured one."""
        return abs(self.predicted - self.measured) <= share * abs(self.measured)


def differing(first: Row, second: Row) -> frozenset[str]:
    """Name the settings in which two rows differ, columns and flags of the command together."""
    columns = {name for name in SETTINGS if first.get(name) != second.get(name)}
    if _data(first) != _data(second):
        columns.add("data")
    one, other = settings_of(first), settings_of(second)
    flags = {name for name in {*one, *other} if one.get(name) != other.get(name)}
    return frozenset(columns | {_COLUMNS.get(name, name) for name in flags})


def settings_of(row: Row) -> dict[str, str]:
    """Give the flags of a row's command that bear on memory and that no column repeats."""
    found = dict(_flags(str(row.get("cmd") or "")))
    config = found.get("framework_config", "")
    kept = {
        name: value
        for name, value in found.items()
        if not _NEUTRAL.match(name) and (name in _OPEN or name not in {*_COLUMNS, *SETTINGS})
    }
    if config:
        # fms-acceleration names its plug-ins here; foak is its set of fused kernels
        kept["kernels"] = str("foak" in config)
        kept["quant_method"] = next((name for name in ("gptq", "bnb") if name in config), "")
        # autocast, which stands beside the dtype the weights are loaded in
        kept["autocast"] = f"{found.get('bf16')} {found.get('fp16')}"
    return kept


def _flags(command: str) -> Iterator[tuple[str, str]]:
    if command.lstrip().startswith("{"):
        try:
            settings: Mapping[str, Any] = json.loads(command)
        except ValueError:
            return
        yield from ((name, json.dumps(value)) for name, value in settings.items())
        return
    for long, value, short, assigned in _FLAG.findall(command):
        name = (long or short).replace("-", "_").lower()
        yield name, (value if long else assigned).strip(" =")


def _data(row: Row) -> tuple[object, object]:
    # with every sequence at its full length it does not matter whose they are
    if row.get("seq_len_kind") in ("exact", "packed", "cap_reached"):
        return "full", None
    return row.get("seq_len_kind"), row.get("dataset")


def pairs_of(
    rows: Iterable[Row], answers: Answers, key: Callable[[Row], str] | None = None
) -> list[Pair]:
    """Find the one-setting pairs among rows that have a prediction.

    Args:
        rows: measured rows of any tier; only `TIERS` count.
        answers: the prediction or refusal of each row by id.
        key: what rows must share to be compared; the row's `group` by default.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        name = (key or (lambda item: item["group"]))(row) if row.get("tier") in TIERS else None
        if name and isinstance(answers[row["id"]], Prediction):
            groups.setdefault(name, []).append(row)
    return [
        pair
        for name, members in groups.items()
        for first, second in combinations(members, 2)
        for pair in _pair(name, first, second, answers)
    ]


def _pair(group: str, first: Row, second: Row, answers: Answers) -> Iterator[Pair]:
    if any(first.get(name) != second.get(name) for name in SAME) or _tool(first) != _tool(second):
        return
    apart = differing(first, second)
    if len(apart) != 1:
        return
    (setting,) = apart
    if setting == "data":  # another data set is no flag
        return
    one, other = figures_of(first), figures_of(second)
    for figure in one.keys() & other.keys():
        noise = max(NOISE_SHARE * max(one[figure], other[figure]), NOISE_GIB)
        if "rounded" in (first.get("quality"), second.get("quality")):
            noise = max(noise, ROUNDED_GIB)
        yield Pair(
            rows=(first["id"], second["id"]),
            family=family_of(first),
            group=group,
            figure=figure,
            setting=setting,
            values=(_value(first, setting), _value(second, setting)),
            measured=other[figure] - one[figure],
            predicted=_figure(answers, second, figure) - _figure(answers, first, figure),
            noise=noise,
        )


def _tool(row: Row) -> str:
    # "HF TRL SFTTrainer + FA2": the attention is a setting, not another trainer
    return str(row.get("framework")).split(" + ")[0]


def _value(row: Row, setting: str) -> str:
    if setting == "data":
        return "/".join(str(part) for part in _data(row))
    return str(row[setting] if setting in row else settings_of(row).get(setting))


def _figure(answers: Answers, row: Row, figure: str) -> float:
    return float(getattr(answers[row["id"]], figure).gib)


def share_sign(pairs: Sequence[Pair]) -> Average | None:
    """Average how many differences above the noise go the predicted way."""
    return average((pair.family, float(pair.sign_right)) for pair in pairs if pair.counts)


def share_size(pairs: Sequence[Pair], share: float) -> Average | None:
    """Average how many differences above the noise are predicted within `share` of their size."""
    return average((pair.family, float(pair.size_within(share))) for pair in pairs if pair.counts)


def share_flat(pairs: Sequence[Pair]) -> Average | None:
    """Average how many pairs without a measurable difference are predicted to have none.

    Twice the noise is allowed: it is in both numbers.
    """
    return average(
        (pair.family, float(abs(pair.predicted) <= 2 * pair.noise))
        for pair in pairs
        if not pair.counts
    )
