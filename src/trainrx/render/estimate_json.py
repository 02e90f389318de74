"""An estimate for programs; `python -m trainrx.render.estimate_json` writes the schema."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trainrx.model.estimate import Estimate
from trainrx.render.redact import mapped, redact
from trainrx.render.schema import tidy

PATH = Path(__file__).with_name("estimate.schema.json")


def masked(estimate: Estimate) -> Estimate:
    """Mask secrets in every text of an estimate; what is no UTF-8 becomes U+FFFD."""
    return mapped(estimate, lambda text: redact(text.encode("utf-8", "replace").decode()))


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
