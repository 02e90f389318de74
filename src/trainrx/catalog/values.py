"""Values as frameworks write them, read into typed canonical ones, and written back."""

from __future__ import annotations

import msgspec

from trainrx.catalog.deepspeed import canonical_deepspeed
from trainrx.inputs.config import read_number
from trainrx.model.facts import Scalar
from trainrx.model.parts import Param, Spelling
from trainrx.model.pattern import late

_TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})
_FALSE = frozenset({"false", "0", "no", "off", "n", "f"})
_NOTHING = frozenset({"", "none", "null", "~"})
_UNDECIDED = frozenset({"auto", "default"})
_PRECISIONS = {
    "bfloat16": "bf16",
    "bf16": "bf16",
    "float16": "fp16",
    "fp16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "fp32": "fp32",
    "float": "fp32",
}
_ATTENTION = {
    "flash_attention_2": "flash_attn",
    "flash_attention": "flash_attn",
    "flash_attn_2": "flash_attn",
    "flash_attn": "flash_attn",
    "fa2": "flash_attn",
    "flash": "flash_attn",
    "flash_attention_3": "flash_attention_3",
    "flash_attn_3": "flash_attention_3",
    "fa3": "flash_attention_3",
    "disabled": "eager",
    "off": "eager",
}
_NOT_RLHF = frozenset({"sft", "pt"})
_LOWER = frozenset({"rlhf.type", "tuner.type", "vllm.mode"})
_MOST_WHOLE = 1e18
"""The engine counts in 64 bits."""
_WHOLE = late(r"[+-]?\d(?:_?\d)*")


class ParsedValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value as understood: `value`, or `problem` says why not; both None: says nothing."""

    value: Scalar | None = None
    problem: str | None = None


def read_value(param: Param, spelling: Spelling, texts: tuple[str, ...]) -> ParsedValue:
    """Read what was written for one parameter; an empty tuple is a bare flag (`--packing`)."""
    text = _unquote(" ".join(texts).strip())
    if text.lower() in spelling.reads:
        return read_typed(param, spelling.reads[text.lower()])
    if spelling.values:
        return _read_mapped(param, spelling, text)
    if not texts and param.type == "bool":
        return ParsedValue(value=not spelling.inverted)
    if text.lower() in _NOTHING:
        return ParsedValue()
    reading = read_typed(param, text)
    if spelling.inverted and isinstance(reading.value, bool):
        return ParsedValue(value=not reading.value)
    return reading


def read_typed(param: Param, text: str) -> ParsedValue:
    """Read a text as the type of a parameter, text being canonicalised."""
    if param.type == "bool":
        return _read_bool(text)
    if param.type == "text":
        return ParsedValue(value=_canonical_text(param.id, text))
    if text.lower() in _UNDECIDED:
        return ParsedValue()
    number = read_number(text)
    if number is None:
        return ParsedValue(problem=f"{text[:80]!r} is not a number")
    if param.type == "float":
        return ParsedValue(value=number)
    if number != int(number) or abs(number) >= _MOST_WHOLE:
        return ParsedValue(problem=f"{text[:80]!r} is not a whole number")
    return ParsedValue(value=int(number))


def write_value(spelling: Spelling, value: Scalar) -> str | None:
    """Write a canonical value as this spelling wants it; None when it has no word for it."""
    if spelling.values:
        word = spelling.values.get(_key(value))
        if word is not None:
            return word
        if spelling.closed or is_closed(spelling) or isinstance(value, bool):
            return None
    if isinstance(value, bool):
        return "true" if value != spelling.inverted else "false"
    if isinstance(value, float):
        whole = value == int(value) and abs(value) < 1e15
        return str(int(value)) if whole else _write_float(value)
    return str(value)


def is_closed(spelling: Spelling) -> bool:
    """Tell whether a spelling knows only the words it lists: a switch, or an enumeration."""
    words = set(spelling.values.values())
    return words <= {"", "true", "false"} or all(map(_is_whole, words))


def _is_whole(word: str) -> bool:
    return word.isdecimal() or (word[:1] in "+-" and _WHOLE.fullmatch(word) is not None)


def _read_mapped(param: Param, spelling: Spelling, text: str) -> ParsedValue:
    """Read a spelling that has its own words for canonical values."""
    for canonical, word in spelling.values.items():
        if _same(word, text, is_switch=is_closed(spelling)):
            return read_typed(param, canonical)
    if is_closed(spelling):
        known = text.lower() in _TRUE | _FALSE | _NOTHING | _UNDECIDED or _WHOLE.fullmatch(text)
        return (
            ParsedValue() if known else ParsedValue(problem=f"{text[:80]!r} is not a valid value")
        )
    if text.lower() in _NOTHING or param.type == "bool" or spelling.closed:
        return ParsedValue()
    return read_typed(param, text)


def _same(word: str, text: str, *, is_switch: bool) -> bool:
    if word.lower() == text.lower():
        return True
    if not is_switch:
        return False
    on = word in {"", "true"} and text.lower() in _TRUE | {""}
    return on or (word == "false" and text.lower() in _FALSE)


def _read_bool(text: str) -> ParsedValue:
    lowered = text.lower()
    if lowered in _TRUE:
        return ParsedValue(value=True)
    if lowered in _FALSE:
        return ParsedValue(value=False)
    if lowered in _UNDECIDED:
        return ParsedValue()
    return ParsedValue(problem=f"{text[:80]!r} is neither true nor false")


def _canonical_text(name: str, text: str) -> str | None:
    lowered = text.lower()
    if name == "train.precision":
        return _PRECISIONS.get(lowered.removeprefix("torch."))
    if name == "train.attention":
        return None if lowered in _UNDECIDED else _ATTENTION.get(lowered, lowered)
    if name == "parallel.deepspeed":
        return canonical_deepspeed(text)
    if name == "rlhf.type" and lowered in _NOT_RLHF:
        return None
    return lowered if name in _LOWER else text


def _key(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _write_float(value: float) -> str:
    """Write a float so that YAML 1.1 reads a number too: it wants a dot before the exponent."""
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")


def _unquote(text: str) -> str:
    quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text
