"""Arguments as the keywords of Python calls that stand for them (`LoraConfig(r=8)`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from trainrx.model.pattern import late

PEFT_KEYWORDS: Mapping[str, str] = {"lora_r": "r", "lora_target_modules": "target_modules"}
"""Keywords of peft's LoraConfig that a command line of TRL calls otherwise."""
_LITERALS = {"true": "True", "false": "False", "none": "None", "null": "None"}
_NUMBER = late(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def as_python(value: str) -> str:
    """Write the value of an argument as a literal: `True`, `1e-5`, `"adamw_8bit"`, `{"a": False}`.

    JSON objects and lists, which arguments of a command line take, are written as Python has them.
    """
    word = _LITERALS.get(value.lower())
    if word is not None or _NUMBER.fullmatch(value):
        return word or value
    if value[:1] in ("{", "["):
        try:
            return _literal(json.loads(value))
        except (ValueError, RecursionError):
            pass
    return quoted(value)


def keyword(name: str, value: str) -> str:
    """Write an argument as a keyword of a call: `bf16=True`."""
    return f"{PEFT_KEYWORDS.get(name, name)}={as_python(value)}"


def _literal(value: object) -> str:
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{quoted(key)}: {_literal(one)}" for key, one in items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_literal(one) for one in cast("list[object]", value)) + "]"
    return quoted(value) if isinstance(value, str) else repr(value)


def quoted(value: str) -> str:
    """Write a text as Python does, in double quotes."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
