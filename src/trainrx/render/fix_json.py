"""Fixes and plans for programs; `python -m trainrx.render.fix_json` writes the schemas."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from trainrx.model.fixing import FixAnswer
from trainrx.model.planning import PlanAnswer
from trainrx.render.redact import sound
from trainrx.render.schema import tidy

A = TypeVar("A", FixAnswer, PlanAnswer)
HERE = Path(__file__).parent
SCHEMAS: dict[str, type[FixAnswer | PlanAnswer]] = {
    "fix.schema.json": FixAnswer,
    "plan.schema.json": PlanAnswer,
}


def as_json(answer: FixAnswer | PlanAnswer) -> str:
    """Give the answer as indented JSON; what is no UTF-8 becomes U+FFFD."""
    shown = sound(answer)
    return msgspec.json.format(msgspec.json.encode(shown), indent=2).decode() + "\n"


def schema_text(name: str) -> str:
    """Give a schema as it is committed."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(SCHEMAS[name]),
    }
    return msgspec.json.format(msgspec.json.encode(tidy(schema)), indent=2).decode() + "\n"


if __name__ == "__main__":
    for file in SCHEMAS:
        (HERE / file).write_text(schema_text(file), encoding="utf-8")
