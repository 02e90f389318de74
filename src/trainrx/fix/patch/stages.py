"""Which DeepSpeed configuration a launch is to name, and the one written where none fits."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Collection, Mapping
from typing import NamedTuple

from trainrx.catalog.deepspeed import canonical_deepspeed, read_deepspeed
from trainrx.fix.patch.configs import base
from trainrx.fix.patch.mappings import compose, is_json
from trainrx.fix.patch.proof import given
from trainrx.inputs.config import read_config
from trainrx.launch.config_kinds import classify_config

_COMMON: Mapping[str, object] = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "zero_allow_untested_optimizer": True,
    "fp16": {
        "enabled": "auto",
        "loss_scale": 0,
        "loss_scale_window": 1000,
        "initial_scale_power": 16,
        "hysteresis": 2,
        "min_loss_scale": 1,
    },
    "bf16": {"enabled": "auto"},
}
_OFFLOADED: Mapping[str, object] = {"device": "cpu", "pin_memory": True}
_REDUCED: Mapping[str, object] = {
    "allgather_partitions": True,
    "allgather_bucket_size": 500_000_000,
    "overlap_comm": True,
    "reduce_scatter": True,
    "reduce_bucket_size": 500_000_000,
    "contiguous_gradients": True,
    "round_robin_gradients": True,
}
_SHARDED: Mapping[str, object] = {
    "overlap_comm": True,
    "contiguous_gradients": True,
    "sub_group_size": 1_000_000_000,
    "reduce_bucket_size": "auto",
    "stage3_prefetch_bucket_size": "auto",
    "stage3_param_persistence_threshold": "auto",
    "stage3_max_live_parameters": 1_000_000_000,
    "stage3_max_reuse_distance": 1_000_000_000,
    "stage3_gather_16bit_weights_on_model_save": True,
}


def takes_file(value: str) -> bool:
    """Tell whether a DeepSpeed setting names a file, and not a preset of the framework."""
    return value.endswith(".json")


def means(value: str, texts: Mapping[str, str]) -> str | None:
    """Name what a DeepSpeed setting is: zero2, zero3_offload; by its file's text when at hand."""
    for name, text in texts.items():
        if base(name) == base(value) and is_json(text):
            found = read_deepspeed(value, content=text).get("parallel.deepspeed")
            return str(found) if found is not None else None
    return canonical_deepspeed(value)


def section(kind: str) -> dict[str, object] | None:
    """Give the `zero_optimization` of zero0..zero3, zero2_offload, zero3_offload."""
    stage, _, offload = kind.removeprefix("zero").partition("_")
    if stage not in {"0", "1", "2", "3"} or offload not in ("", "offload"):
        return None
    out: dict[str, object] = {"stage": int(stage)}
    if offload:
        out["offload_optimizer"] = dict(_OFFLOADED)
        if stage == "3":
            out["offload_param"] = dict(_OFFLOADED)
    return out | dict(_SHARDED if stage == "3" else _REDUCED)


def preset_text(kind: str, present: str | None = None) -> str | None:
    """Write a configuration of a kind; `present`: the one in use, of which all else is kept."""
    zero = section(kind)
    if zero is None:
        return None
    if present is not None and is_json(present):
        kept = _with_section(present, zero)
        if kept is not None:
            return kept
    return json.dumps({**_COMMON, "zero_optimization": zero}, indent=2) + "\n"


def _with_section(text: str, zero: dict[str, object]) -> str | None:
    """Put another `zero_optimization` into a configuration; every other byte stays."""
    root = compose(text)
    for key, value in root.value if root is not None else ():
        if key.value == "zero_optimization":
            start, end = value.start_mark.index, value.end_mark.index
            line = text[text.rfind("\n", 0, start) + 1 : start]
            indent = line[: len(line) - len(line.lstrip())]
            new = json.dumps(zero, indent=2).replace("\n", "\n" + indent)
            out = text[:start] + new + text[end:]
            return out if is_json(out) and _rest(out) == _rest(text) else None
    return None


def _rest(text: str) -> list[object]:
    args, _ = read_config(text, "")
    return [item for item in given(args) if not item[0].startswith("zero_optimization.")]


def free_name(folder: str, kind: str, taken: Collection[str]) -> str:
    """Give a name for a new configuration that no file at hand has."""
    names = {posixpath.normpath(name) for name in taken} | set(taken)
    for number in range(1, 1000):
        end = "" if number == 1 else f"_{number}"
        name = posixpath.join(folder, f"ds_{kind}{end}.json")
        if posixpath.normpath(name) not in names:
            return name
    return posixpath.join(folder, f"ds_{kind}_new.json")


class Staged(NamedTuple):
    """The value to set (None: what is set means the same), and the new file it needs."""

    value: str | None
    name: str = ""
    text: str | None = None


def staged(
    value: str, present: str | None, source: str, texts: Mapping[str, str], taken: Collection[str]
) -> Staged:
    """Give the value that names a stage as this launch can name it.

    Args:
        value: as the speller has it: a preset of the framework, or the path of a file.
        present: the value it has now.
        source: the name of the launch's script or configuration.
        texts: configurations at hand.
        taken: names of further files.
    """
    if not takes_file(value):
        return Staged(value)
    kind = means(value, {})
    if present is not None and kind is not None and means(present, texts) == kind:
        return Staged(None)
    for name, text in texts.items():
        if classify_config(text) == "deepspeed" and means(name, {name: text}) == kind:
            return Staged(_beside(present, name))
    if kind is None or any(base(name) == base(value) for name in texts):
        return Staged(value)
    if present is not None and posixpath.dirname(present) == posixpath.dirname(value) != "":
        # the framework's own folder of configurations is in use already
        return Staged(value)
    return _new(value, kind, present, source, texts, taken)


def _new(
    value: str,
    kind: str,
    present: str | None,
    source: str,
    texts: Mapping[str, str],
    taken: Collection[str],
) -> Staged:
    held = next((n for n in texts if present and base(n) == base(present)), None)
    text = preset_text(kind, texts[held] if held else None)
    if text is None:
        return Staged(value)
    folder = posixpath.dirname(held or source)
    name = free_name(folder, kind, {*taken, *texts})
    return Staged(_beside(present if held else None, base(name)), name, text)


def _beside(present: str | None, name: str) -> str:
    """Name a file of the same folder the way the present one is named."""
    folder = posixpath.dirname(present) if present and takes_file(present) else ""
    return posixpath.join(folder, base(name)) if folder else name
