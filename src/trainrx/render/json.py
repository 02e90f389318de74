"""The answer for programs: the contract's JSON."""

from __future__ import annotations

import msgspec

from trainrx.model.result import Diagnosis
from trainrx.render.redact import mapped


def to_json(diagnosis: Diagnosis) -> str:
    """Give the answer as indented JSON; bytes that are no UTF-8 become U+FFFD."""
    sound = mapped(diagnosis, lambda text: text.encode("utf-8", "replace").decode())
    return msgspec.json.format(msgspec.json.encode(sound), indent=2).decode() + "\n"
