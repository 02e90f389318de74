"""Which quantisation does the name of a checkpoint tell?"""

from __future__ import annotations

import re

import msgspec

from trainrx.model.pattern import late

METHODS = (
    ("gptq", r"(?<![a-z])gptq"),
    ("awq", r"(?<![a-z])awq"),
    ("aqlm", r"(?<![a-z])aqlm"),
    ("bitsandbytes", r"(?<![a-z])(?:bnb|nf4|bitsandbytes)"),
    ("fp8", r"(?<![a-z])fp8(?![a-z])"),
    ("mxfp4", r"(?<![a-z])mxfp4"),
    ("gptq", r"^qwen[-_](?:vl|\d+(?:[._]\d+)?b).*[-_]int[48]$"),
)
"""The first that matches; the first Qwen's `-Int4` and `-Int8` checkpoints are GPTQ
(QwenLM/Qwen README, "Quantization")."""
_SIGNS = ("gptq", "awq", "aqlm", "bnb", "nf4", "bit", "fp8", "mxfp4", "int", "w4a", "w8a")
"""One of these stands in every name that tells something."""
BITS = late(
    r"(?<![a-z0-9])(?:(?:gptq|awq|bnb)?[-_.]?int([2348])|(?:gptq|awq|bnb)?[-_.]?([2348])[-_.]?bits?"
    r"|w([48])a\d{1,2})(?![a-z0-9])"
)
USUAL = {"gptq": 4, "awq": 4, "bitsandbytes": 4, "fp8": 8, "mxfp4": 4}
"""Bits where the name says only the method: what these checkpoints nearly always have."""


class Quantisation(msgspec.Struct, frozen=True):
    """Bits of a weight, and the method; the method is empty where only the bits are told."""

    bits: int
    method: str


def quantisation_of(name: str) -> Quantisation | None:
    """Read a checkpoint's quantisation from the last part of its name, in lower case."""
    if not any(sign in name for sign in _SIGNS):
        return None
    method = next((method for method, words in METHODS if re.search(words, name)), "")
    told = BITS.search(name)
    bits = int(next(filter(None, told.groups()))) if told is not None else USUAL.get(method)
    return None if bits is None else Quantisation(bits, method)
