"""Defaults a launch relies on that are other ones in another version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainrx.catalog.catalog import plain
from trainrx.catalog.deepspeed import preset
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.task import task_of
from trainrx.knowledge.catalogs import read_replacements
from trainrx.model.catalog import Value
from trainrx.model.facts import Origin
from trainrx.model.job import Argument, RawArg
from trainrx.model.text import Lang
from trainrx.model.translation import DefaultChange
from trainrx.translation.steps import carry
from trainrx.translation.translate import Moved
from trainrx.translation.words import Step, Way
from trainrx.translation.written import flag

_HERE = Origin(source="")
_OPEN = ("default", "computed")
_NOTHING: tuple[Value, ...] = (None, "", [], {}, [None, None])
_NO_CHOICE = frozenset(
    {"output_dir", "logging_dir", "run_name", "add_version", "add_output_dir_suffix", "log_level"}
    | {"ddp_backend", "local_rank", "hub_model_id", "deepspeed_plugin", "save_safetensors"}
    | {"model_revision", "hub_private_repo", "hub_strategy", "tools_prompt", "agent_template"}
    | {"hqq_axis", "logging_first_step", "disable_tqdm", "model_author", "model_name"}
    | {"do_eval", "label_names", "remove_unused_columns", "load_from_cache_file"}
    | {"load_dataset_config", "load_data_args", "truncation_strategy", "metric", "eval_metric"}
)
"""Follow from the machine or the moment, or change nothing about the result."""


_OFF: tuple[Value, ...] = (None, False, "", 0, [])
_SERVING = frozenset({"infer", "deploy", "rollout", "app", "eval", "chat", "api", "webchat"})
_PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("vllm_", ("use_vllm",)),
    ("lmdeploy_", ("use_lmdeploy",)),
    ("galore_", ("use_galore",)),
    ("apollo_", ("use_apollo",)),
    ("badam_", ("use_badam",)),
    ("bnb_", ("quant_bits", "quantization_bit", "load_in_4bit")),
    ("hqq_", ("quant_bits", "quantization_bit")),
    ("export_", ("export_dir",)),
    ("generation_", ("predict_with_generate",)),
    ("fsdp_", ("fsdp",)),
    ("dataloader_prefetch_factor", ("dataloader_num_workers",)),
    ("dataloader_persistent_workers", ("dataloader_num_workers",)),
    ("moe_", ("num_experts", "expert_model_parallel_size")),
)
"""Arguments that count only when one of some others is on, by how they begin."""

_PREFERENCE = frozenset({"dpo", "kto", "orpo", "simpo", "cpo"})
_SAMPLES = frozenset({"grpo", "ppo", "gkd"})
_TASKS: Mapping[str, frozenset[str]] = {
    "beta": _PREFERENCE | _SAMPLES,
    "loss_type": _PREFERENCE | {"grpo"},
    "rpo_alpha": frozenset({"dpo"}),
    "cpo_alpha": frozenset({"cpo", "simpo"}),
    "response_length": frozenset({"ppo"}),
    "max_new_tokens": frozenset({"infer", "gkd"}),
    **dict.fromkeys(("top_k", "top_p", "repetition_penalty", "temperature"), _SAMPLES | {"infer"}),
}
"""Arguments only some tasks read."""


def default_changes(moved: Moved, lang: Lang) -> Iterator[DefaultChange]:
    """Give each argument nobody set whose value is another one in the target version."""
    way, seen = moved.way, set[str]()
    told = {
        item.old for item in read_replacements() if item.gives and item.package == way.framework
    }
    for name, before in sorted(moved.before.arguments.items()):
        if not _relied_on(before) or name in _NO_CHOICE or plain(name) in told:
            continue
        if not _plays(name, moved):
            continue
        found = _compared(before, moved)
        if found is not None and found.now not in seen:
            seen.add(found.now)
            yield found
    yield from _modules(moved, lang)
    yield from _preset(moved)


def _plays(name: str, moved: Moved) -> bool:
    """Tell whether an argument has a part in this launch at all."""
    steps = moved.before.arguments.get("max_steps")
    bounded = steps is not None and steps.via not in _OPEN and steps.value not in (-1, None)
    if name == "num_train_epochs":
        return not bounded
    if any(name.startswith(front) and not _on(switch, moved) for front, switch in _PARTS):
        return False
    tasks = _TASKS.get(name)
    task = task_of(moved.old, moved.configs, moved.before.settings)[0]
    if tasks is not None and task and task not in tasks:
        return False
    if name == "dataset_test_ratio" and "custom_val_dataset_path" in moved.way.given:
        return False
    if name in ("freeze_vit", "freeze_aligner"):
        kind = moved.before.settings.get("model.type")
        return (
            kind is None or "vl" in str(kind.value).lower() or "vision" in str(kind.value).lower()
        )
    return True


def _on(switches: tuple[str, ...], moved: Moved) -> bool:
    """Tell whether what some arguments belong to is turned on, or may be."""
    if moved.way.old.launch.command in _SERVING and "use_vllm" in switches:
        return True
    found = [moved.before.arguments.get(name) for name in switches]
    return any(one is not None and (not one.known or one.value not in _OFF) for one in found)


def _relied_on(argument: Argument) -> bool:
    return argument.via in _OPEN and argument.known


def _compared(before: Argument, moved: Moved) -> DefaultChange | None:
    way = moved.way
    step = carry(_arg(before), way)
    name = step.pieces[0].name if step.pieces and step.pieces[0].kind == "arg" else ""
    if step.outcome not in ("kept", "renamed", "value") or not name:
        name = _name(before.name, way) or ""
    after = moved.after.arguments.get(name)
    if name != before.name and name in moved.before.arguments:
        # a second name of what the old version has under that name too
        return None
    if after is None or not _relied_on(after) or _same(before, after, step):
        return None
    return DefaultChange(
        name=before.name,
        now=after.name,
        before=before.value,
        after=after.value,
        keep=_keep(before, after, step, file=bool(moved.configs)),
        canonical=after.canonical or before.canonical,
    )


def _arg(argument: Argument) -> RawArg:
    return RawArg(name=argument.name, values=_texts(argument.value), origin=_HERE)


def _name(name: str, way: Way) -> str | None:
    """Give what an argument is called in the target, whatever its value."""
    step = carry(RawArg(name=name, values=None, origin=_HERE), way)
    return step.pieces[0].name if step.outcome in ("kept", "renamed") and step.pieces else None


def _same(before: Argument, after: Argument, step: Step) -> bool:
    if _alike(before.value, after.value):
        return True
    written = step.pieces[0].values if step.pieces else None
    return written is not None and written == _texts(after.value)


def _alike(left: Value, right: Value) -> bool:
    if left in _NOTHING and right in _NOTHING:
        return True
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return float(left) == float(right)
    return left == right


def _keep(before: Argument, after: Argument, step: Step, *, file: bool) -> str:
    """Write what keeps the old value; a None cannot be written on a command line."""
    if before.value in _NOTHING or step.outcome not in ("kept", "renamed", "value"):
        return ""
    piece = step.pieces[0]
    return flag(after.name, piece.values, file=file)


def _texts(value: Value) -> tuple[str, ...] | None:
    if value is None:
        return ("None",)
    if isinstance(value, list):
        return tuple(str(item) for item in value)
    if isinstance(value, dict):
        return (json.dumps(value),)
    return (str(value).lower() if isinstance(value, bool) else str(value),)


def _modules(moved: Moved, lang: Lang) -> Iterator[DefaultChange]:
    """Say which modules 2.x gave LoRA where the launch names none."""
    way = moved.way
    names = {"lora_target_modules", "target_modules", "lora_target_regex", "target_regex"}
    forward = way.old.version.startswith(("1.", "2.")) and not way.new.version.startswith(
        ("1.", "2.")
    )
    kind = way.given.get("sft_type") or ("lora",)
    renames = framework_of(way.framework).value_renames()
    if renames is None or not forward or names & way.given.keys():
        return
    if kind[0] != "lora" or way.old.launch.command not in ("sft", "pt", "rlhf", "dpo"):
        return
    modules = renames.default_modules(way.given)
    yield DefaultChange(
        name="lora_target_modules",
        now="target_modules",
        before=list(modules) if modules else "DEFAULT",
        after=["all-linear"],
        keep=flag("target_modules", modules, file=bool(moved.configs)) if modules else "",
        canonical="tuner.targets",
        note=renames.DEFAULT_MODULES.in_(lang),
    )


def _preset(moved: Moved) -> Iterator[DefaultChange]:
    """Compare what a DeepSpeed preset of ms-swift holds in both versions."""
    way = moved.way
    setting = moved.after.arguments.get("deepspeed")
    name = setting.value if setting is not None and setting.known else None
    if not framework_of(way.framework).ships_presets or not isinstance(name, str):
        return
    old = preset(name, way.framework, way.old.version)
    new = preset(name, way.framework, way.new.version)
    if len(old) != 1 or len(new) != 1:
        return
    before, after = dict(_flat(old[0])), dict(_flat(new[0]))
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            yield DefaultChange(
                name=f"deepspeed {name}: {key}",
                now=f"deepspeed {name}: {key}",
                before=before.get(key),
                after=after.get(key),
                canonical="parallel.deepspeed",
            )


def _flat(content: Mapping[str, Any], front: str = "") -> Iterator[tuple[str, Value]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{front}{key}.")
        else:
            yield f"{front}{key}", value
