"""Recognise ms-swift: `swift sft`, `megatron sft`, their modules and the example scripts of 2.x.

The commands are those of `swift/cli/main.py` and `swift/cli/_megatron/main.py`.
https://github.com/modelscope/ms-swift
"""

from __future__ import annotations

from trainrx.frameworks.base import Framework
from trainrx.launchers.entries import EntryPoint
from trainrx.model.job import Word
from trainrx.model.pattern import late

_COMMANDS = frozenset(
    {"sft", "pt", "rlhf", "infer", "deploy", "rollout", "export", "eval", "app", "sample"}
    | {"web-ui", "app-ui", "merge-lora", "dpo", "orpo", "simpo", "cpo", "kto", "ppo", "rm", "grpo"}
    | {"pretrain"}
)
_MEGATRON = frozenset({"sft", "pt", "rlhf", "export"})
_CLI = late(r"(?:.*[./])?swift[./]cli[./](?P<mega>_megatron[./])?(?P<name>\w+?)(?:\.py)?")
_EXAMPLE = late(r"llm_(?P<name>\w+)\.py")


def recognise(entry: EntryPoint) -> tuple[str, tuple[Word, ...]] | None:
    """Give command and arguments of an ms-swift launch, None when it is none."""
    if not entry.module and entry.name in ("swift", "megatron"):
        return _subcommand(entry.args, megatron=entry.name == "megatron")
    match = _CLI.fullmatch(entry.path.text)
    if match:
        megatron = match["mega"] is not None
        if match["name"] == "main":
            return _subcommand(entry.args, megatron=megatron)
        command = match["name"].replace("_", "-")
        if command in (_MEGATRON if megatron else _COMMANDS):
            return ("megatron " if megatron else "") + command, entry.args
        return None
    example = _EXAMPLE.fullmatch(entry.name)
    if example and example["name"].replace("_", "-") in _COMMANDS:
        return example["name"].replace("_", "-"), entry.args
    return None


def _subcommand(args: tuple[Word, ...], *, megatron: bool) -> tuple[str, tuple[Word, ...]] | None:
    if not args:
        return None
    command = args[0].text.replace("_", "-")
    if command not in (_MEGATRON if megatron else _COMMANDS):
        return None
    return ("megatron " if megatron else "") + command, args[1:]


class MsSwift(Framework):
    """ms-swift of ModelScope."""

    name = "ms-swift"
    refuses_unknown = True


FRAMEWORK = MsSwift()
