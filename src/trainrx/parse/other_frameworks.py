"""Recognise TRL, verl, OpenRLHF, axolotl, vLLM and scripts on the transformers Trainer."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainrx.model.job import Word
from trainrx.parse.launchers import Entry

_TRL = frozenset(
    {
        "sft",
        "dpo",
        "grpo",
        "kto",
        "ppo",
        "reward",
        "rloo",
        "orpo",
        "cpo",
        "gkd",
        "bco",
        "online_dpo",
    }
    | {"nash_md", "xpo", "vllm-serve"}
)
_TRL_PATH = re.compile(r"(?:.*[./])?(?:trl[./]|examples/)scripts[./](?P<name>\w+?)(?:\.py)?")
_VERL = re.compile(r"(?:.*[./])?(?:verl[./]trainer|recipe[./]\w+)[./](?P<name>\w+?)(?:\.py)?")
_OPENRLHF = re.compile(r"(?:.*[./])?openrlhf[./]cli[./](?P<name>\w+?)(?:\.py)?")
_OPENRLHF_SCRIPT = re.compile(r"train_(?P<name>sft|ppo|ppo_ray|dpo|rm|kto|kd|prm)\.py")
_AXOLOTL = re.compile(r"(?:.*[./])?axolotl[./]cli[./](?P<name>\w+?)(?:\.py)?")
_AXOLOTL_COMMANDS = frozenset({"train", "inference", "merge-lora", "preprocess", "evaluate"})
_VLLM = re.compile(r"(?:.*[./])?vllm[./]entrypoints[./][\w./]+")
_TRAINING_ARGUMENTS = frozenset(
    {"per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs"}
    | {"per_device_eval_batch_size", "lr_scheduler_type", "save_total_limit", "logging_steps"}
)
_TRAINING_NAME = re.compile(
    r"(?:^|[_/.-])(?:train\w*|\w*tun(?:e|ing)\w*|sft|dpo|grpo|ppo|rlhf|pretrain\w*|main|run)(?=[_.-]|$)"
)


class Named(NamedTuple):
    """A recognised launch."""

    framework: str
    command: str
    args: tuple[Word, ...]


def recognise(entry: Entry) -> Named | None:
    """Name the framework of a launch, "" for a training program of no known one.

    Returns:
        None when the command does not look like a training program at all.
    """
    if entry.via == "" and not entry.name.endswith(".py"):
        return _program(entry) if entry.args else None
    path, args = entry.path.text, entry.args
    for framework, rule in (("verl", _VERL), ("openrlhf", _OPENRLHF), ("axolotl", _AXOLOTL)):
        match = rule.fullmatch(path)
        if match:
            return Named(framework, _command(match["name"]), args)
    if _VLLM.fullmatch(path):
        return Named("vllm", "serve", args)
    match = _TRL_PATH.fullmatch(path)
    if match and match["name"] in _TRL:
        return Named("trl", match["name"], args)
    return _script(entry)


def _command(name: str) -> str:
    """Shorten `main_ppo`, `train_sft`, `fsdp_sft_trainer` to what they train with."""
    if name == "main":
        return "ppo"
    name = name.removeprefix("main_").removeprefix("train_")
    return "sft" if name in ("fsdp_sft_trainer", "sft_trainer") else name.replace("_", "-")


def _program(entry: Entry) -> Named | None:
    first, rest = entry.args[0].text, entry.args[1:]
    if entry.name == "trl" and first in _TRL:
        return Named("trl", first, rest)
    if entry.name == "axolotl" and first.replace("_", "-") in _AXOLOTL_COMMANDS:
        return Named("axolotl", first.replace("_", "-"), rest)
    if entry.name == "vllm" and first == "serve":
        return Named("vllm", first, rest)
    return None


def _script(entry: Entry) -> Named | None:
    names = {word.text.partition("=")[0].lstrip("-").replace("-", "_") for word in entry.args}
    openrlhf = _OPENRLHF_SCRIPT.fullmatch(entry.name)
    if openrlhf and "pretrain" in names and names & {"zero_stage", "micro_train_batch_size"}:
        return Named("openrlhf", openrlhf["name"].replace("_", "-"), entry.args)
    if names & _TRAINING_ARGUMENTS:
        return Named("transformers", "train", entry.args)
    runs_code = entry.module or entry.name.endswith(".py") or entry.via != "python"
    if runs_code and (entry.via != "python" or _TRAINING_NAME.search(entry.path.text)):
        return Named("", "train", entry.args)
    return None
