"""The JSON Schema of the answer; `python -m trainrx.render.schema` writes it beside this file."""

from __future__ import annotations

from inspect import cleandoc
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
    return msgspec.json.format(msgspec.json.encode(tidy(schema)), indent=2).decode() + "\n"


def tidy(node: object) -> object:
    """Take the indentation out of descriptions: Python releases differ in what they leave."""
    if isinstance(node, dict):
        return {
            key: cleandoc(value) if isinstance(value, str) else tidy(value)
            for key, value in node.items()
        }
    return [tidy(item) for item in node] if isinstance(node, list) else node


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
