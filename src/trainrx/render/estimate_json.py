"""An estimate for programs; `python -m trainrx.render.estimate_json` writes the schema."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trainrx.model.estimate import Estimate
from trainrx.render.schema import tidy

PATH = Path(__file__).with_name("estimate.schema.json")


def as_json(estimate: Estimate) -> str:
    """Give the answer as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(estimate), indent=2).decode() + "\n"


def schema_text() -> str:
    """Give the schema as it is committed."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(Estimate),
    }
    return msgspec.json.format(msgspec.json.encode(tidy(schema)), indent=2).decode() + "\n"


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
