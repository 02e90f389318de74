"""The JSON Schema of the answer; `python -m trainrx.render.schema` writes it beside this file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trainrx.model.result import Diagnosis

PATH = Path(__file__).with_name("diagnosis.schema.json")


def schema_text() -> str:
    """Give the schema as it is committed."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(Diagnosis),
    }
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
