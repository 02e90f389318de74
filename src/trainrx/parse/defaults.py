"""What a framework does when nothing is said: its defaults at this version, and computed ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from trainrx.model.facts import How, Scalar
from trainrx.model.job import RawLaunch, Setting
from trainrx.parse.spellbook import Entry, Spellbook, serves
from trainrx.parse.version_range import in_range

TRAINING = frozenset(
    {"sft", "pt", "grpo", "dpo", "ppo", "kto", "rm", "orpo", "simpo", "cpo", "gkd"}
)
_ADAPTERS: frozenset[Scalar] = frozenset({"lora", "adalora", "dora", "longlora", "qlora"})
_NEEDS: Sequence[tuple[str, str, frozenset[Scalar]]] = (
    ("vllm.", "vllm.enabled", frozenset({True})),
    ("tuner.rank", "tuner.type", _ADAPTERS),
    ("tuner.alpha", "tuner.type", _ADAPTERS),
    ("tuner.targets", "tuner.type", _ADAPTERS),
    ("rlhf.num_generations", "rlhf.type", frozenset({"grpo"})),
    ("rlhf.steps_per_generation", "rlhf.type", frozenset({"grpo"})),
    ("rlhf.max_completion_length", "rlhf.type", frozenset({"grpo", "gkd", "ppo"})),
)
"""A default plays a part only where what it belongs to is on: (prefix, parameter, values)."""

_FIRST = ("rlhf.type", "tuner.type", "vllm.enabled")
_TRAINING_ONLY = ("train.", "tuner.", "freeze.", "rlhf.")
_VLLM_ITSELF = frozenset({"vllm", "verl", "openrlhf"})
_LAUNCHED_BY_SWIFT = frozenset({"sft", "pt", "rlhf", "dpo", "orpo", "simpo"})


def defaults(
    book: Spellbook, known: Mapping[str, Setting], launch: RawLaunch, task: str, how: How
) -> dict[str, Setting]:
    """Give the default of every parameter nobody set and that plays a part in this task.

    `how` says on what ground the version is known. A parameter whose defaults differ between the
    versions the job may run is left out: it is unknown.
    """
    found: dict[str, Setting] = {}
    for name in (*_FIRST, *(n for n in book.by_param if n not in _FIRST)):
        if name in known or not _plays(name, {**known, **found}, launch, task):
            continue
        default = _default(book, book.by_param.get(name, ()), launch.command)
        if default is not None:
            value, spelled_as = default
            found[name] = _setting(name, value, spelled_as, how)
    return found


def computed(
    known: Mapping[str, Setting], launch: RawLaunch, task: str, version: str | None, how: How
) -> dict[str, Setting]:
    """Compute the defaults ms-swift derives from other settings.

    Sources: `SftArguments._init_override` and `RLHFArguments._set_default` in the 2.0-4.6.0 wheels.
    """
    if launch.framework != "ms-swift" or task not in TRAINING:
        return {}
    found: dict[str, Setting] = {}
    if "parallel.processes_per_node" not in known and _one_process(launch):
        # without NPROC_PER_NODE the command starts no torchrun: one process for all GPUs
        found["parallel.processes_per_node"] = _setting(
            "parallel.processes_per_node", 1, "NPROC_PER_NODE", "assumed"
        )
    if launch.command.startswith("megatron"):
        return found
    steps = _accumulation({**known, **found}, task, version)
    if "train.grad_accum" not in known and steps is not None:
        name = "gradient_accumulation_steps"
        found["train.grad_accum"] = _setting("train.grad_accum", steps, name, how)
    tuner = known.get("tuner.type")
    if "train.learning_rate" not in known and tuner is not None and tuner.value is not None:
        rate = 1e-5 if tuner.value == "full" else 1e-4
        found["train.learning_rate"] = _setting("train.learning_rate", rate, "learning_rate", how)
    return found


def _plays(name: str, known: Mapping[str, Setting], launch: RawLaunch, task: str) -> bool:
    if name.startswith(_TRAINING_ONLY) and task and task not in TRAINING:
        return False
    if name == "vllm.enabled":
        return True
    if name.startswith("vllm.") and (launch.framework in _VLLM_ITSELF or task == "infer"):
        return True
    for prefix, parameter, values in _NEEDS:
        if name.startswith(prefix):
            switch = known.get(parameter)
            return switch is not None and switch.value in values
    return True


def _default(book: Spellbook, entries: Sequence[Entry], command: str) -> tuple[Scalar, str] | None:
    """Give the default all possible versions share, and the name it belongs to."""
    for owner in book.owners:
        own = [e for e in entries if e.owner == owner and serves(e.spelling, command)]
        if command.startswith("megatron"):
            # the Megatron commands share names with the others, not defaults
            own = [e for e in own if command in e.spelling.commands]
        if own:
            return _shared(own, book.bits[owner])
    return None


def _shared(entries: Sequence[Entry], wanted: int) -> tuple[Scalar, str] | None:
    found: dict[Scalar, str] = {}
    left = wanted
    for entry in entries:
        spelling = entry.spelling
        mine = entry.bits & left
        if mine and spelling.default is not None:
            value = float(spelling.default) if entry.param.type == "float" else spelling.default
            found.setdefault(value, spelling.arg or spelling.env)
            left &= ~mine
    return next(iter(found.items())) if len(found) == 1 and not left else None


def _one_process(launch: RawLaunch) -> bool:
    bare = not launch.launcher and launch.command in _LAUNCHED_BY_SWIFT
    return bare and launch.env_complete


def _accumulation(known: Mapping[str, Setting], task: str, version: str | None) -> int | None:
    """ms-swift aims at 16 samples per step: ceil(16 / micro-batch / processes), at least 1.

    3.0.0-3.2.0 left it at 1, and GRPO does from 3.7 on.
    """
    one = in_range(version, ">=3.0,<3.2.1") if version else None
    grpo_one = in_range(version, ">=3.7") if version else None
    if one or (task == "grpo" and grpo_one):
        return 1
    if one is None or (task == "grpo" and grpo_one is None):
        return None
    batch = _whole(known, "train.micro_batch")
    processes = _whole(known, "parallel.processes_per_node")
    nodes = _whole(known, "parallel.nodes")
    if batch is None or processes is None or nodes is None:
        return None
    return max(1, math.ceil(16 / batch / (processes * nodes)))


def _whole(known: Mapping[str, Setting], name: str) -> int | None:
    setting = known.get(name)
    value = setting.value if setting is not None else None
    positive = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return int(value) if positive and value is not None else None


def _setting(name: str, value: Scalar, spelled_as: str, how: How) -> Setting:
    return Setting(
        canonical=name, value=value, text="", spelled_as=spelled_as, via="default", how=how
    )
