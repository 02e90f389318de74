"""Resolved launches for programs; `python -m trainrx.render.inspect_json` writes the schemas."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trainrx.model.inspection import Comparison, Inspection
from trainrx.render.schema import tidy

SCHEMAS: dict[str, type[Inspection | Comparison]] = {
    "inspection.schema.json": Inspection,
    "comparison.schema.json": Comparison,
}
FOLDER = Path(__file__).parent


def as_json(answer: Inspection | Comparison) -> str:
    """Give the answer as indented JSON; its texts are sound UTF-8 once they are masked."""
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n"


def schema_text(kind: type[Inspection | Comparison]) -> str:
    """Give a schema as it is committed."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(kind),
    }
    return msgspec.json.format(msgspec.json.encode(tidy(schema)), indent=2).decode() + "\n"


if __name__ == "__main__":
    for name, record in SCHEMAS.items():
        (FOLDER / name).write_text(schema_text(record), encoding="utf-8")
