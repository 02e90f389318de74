"""Values no parser looks at: names nobody has, numbers at the edge, broken JSON, switches."""

from __future__ import annotations

import random
import re
from typing import Any

from mutate_kinds import Fields, Files, Maker, misspelt
from mutate_launch import Launch

FREE = re.compile(
    r"(?:^|_)(?:dir|path|paths|file|name|names|id|token|prompt|system|dataset|datasets|model|url|"
    r"host|port|tag|run|hub|project|key|keys|workspace|prefix|version|revision|author|user|email|"
    r"secret|webhook|text|plugins|parameters|modules|module|regex|adapters|checkpoint|command|"
    r"description|job|output|column|columns|scope|device|map|data|args|kwargs|config)(?:_|$)"
)
"""Names of arguments that take any text, or a file."""
MAPPINGS = frozenset(
    {"deepspeed", "fsdp_config", "accelerator_config", "gradient_checkpointing_kwargs"}
    | {"lr_scheduler_kwargs", "model_kwargs", "device_map", "max_memory", "rope_scaling", "columns"}
)
WORDS = ("none_such", "auto2", "fast", "best", "v2", "deafult", "on")
WHOLE = ("0", "-1", "1", "1000000")
BROKEN = ("'{a: 1'", "'{\"a\": }'", "'{a}'", "word", "'[1,'", "\"{'a': 1}\"")


def made_up_word(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Give an argument that takes a word one it cannot know, or misspell the one it has."""
    fields = [n for n, field in own.items() if _takes_text(n, field)]
    given = [n for n, values in launch.options if n in fields and values]
    name = chance.choice(given if given and chance.random() < 0.5 else fields)
    value = launch.value(name)
    word = misspelt(value, chance) if value and len(value) > 3 else chance.choice(WORDS)
    return launch.given(name, word).files()


def _takes_text(name: str, field: dict[str, Any]) -> bool:
    return not field["choices"] and field["type"] == "str" and not FREE.search(name)


def at_the_edge(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Give a number that is none, below all, or far above."""
    fields = [n for n, field in own.items() if _kind(field) in {"int", "float"}]
    given = [n for n, _ in launch.options if n in fields]
    name = chance.choice(given if given and chance.random() < 0.5 else fields)
    values = WHOLE if _kind(own[name]) == "int" else ("-0.5", "1.5", "0", "100")
    return launch.given(name, chance.choice(values)).files()


def broken_json(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Give an argument that is read as JSON what is none."""
    fields = [name for name in own if name in MAPPINGS]
    return launch.given(chance.choice(fields), chance.choice(BROKEN).strip("'\"")).files()


def switch_turned(launch: Launch, own: Fields, _: object, chance: random.Random) -> Files | None:
    """Turn a switch the other way, whatever else is asked for."""
    fields = [n for n, field in own.items() if _kind(field) == "bool" and "hub" not in n]
    name = chance.choice(fields)
    now = launch.value(name)
    return launch.given(name, "false" if now == "true" else "true").files()


def _kind(field: dict[str, Any]) -> str:
    if field["choices"] or field["list"]:
        return ""
    found = re.search(r"int|float|bool", field["type"])
    return found[0] if found else ""


VALUES: dict[str, Maker] = {
    "made-up-word": made_up_word,
    "at-the-edge": at_the_edge,
    "broken-json": broken_json,
    "switch-turned": switch_turned,
}
