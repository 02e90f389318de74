"""Values as a framework's own argument parser would type them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from trainrx.inputs.config import read_number
from trainrx.model.catalog import Value
from trainrx.model.pattern import late

MAX_TEXT = 200_000
_TRUE = frozenset({"yes", "true", "t", "y", "1", "on"})
_FALSE = frozenset({"no", "false", "f", "n", "0", "off"})
_NONE = frozenset({"none", "null", "~", ""})
_LISTS = frozenset({"list", "tuple", "sequence", "iterable", "comma_separated_list"})
_OPTIONAL = late(r"\bOptional\b|\bNone\b")
_LIST_AS_TEXT = late(r"Optional\[Union\[[Ll]ist\[\w+\], str\]\]|[Ll]ist\[\w+\] \| str \| None")
"""HfArgumentParser takes such a list as one text, which is split at blanks later: `--fsdp`."""
_BARE = {"store_true": True, "store_false": False, "BooleanOptionalAction": True}
"""Actions of argparse that take no value, and what they store."""
_MOST_DIGITS = 18
_WHOLE = late(r"[+-]?\d{1,18}")
_PYTHON_INT = late(r"[+-]?\d+(?:_\d+)*")


class Typed(msgspec.Struct, frozen=True, kw_only=True):
    """A value read as its type; `problem` says why it is none of that type."""

    value: Value = None
    problem: str = ""


@lru_cache(maxsize=1024)
def is_list(kind: str) -> bool:
    """Tell whether a declared type takes several values (`List[str]`, `list[int] | None`)."""
    return any(word.lower() in _LISTS for word in _words(kind))


@lru_cache(maxsize=1024)
def is_bool(kind: str) -> bool:
    """Tell whether a declared type is a switch: true or false (or None) and nothing else."""
    bare = re.sub(r"Optional|Union|None|[\[\]|, ]", "", kind)
    return bare in {"bool", "str_to_bool", "boolbool"} or kind in _BARE


def read_as(
    kind: str, choices: Sequence[Value] | None, texts: Sequence[str], *, from_file: bool = False
) -> Typed:
    """Read what was written for an argument as its declared type.

    Args:
        kind: the type as the source declares it (`Optional[int]`, `bool | None`, `Literal`).
        choices: the values allowed, when they are listed.
        texts: the words behind the flag; none is a bare flag.
        from_file: the value stands in YAML or JSON, where `null` is None.
    """
    if len(texts) == 1 and not from_file and _LIST_AS_TEXT.fullmatch(kind):
        texts = texts[0].split()
    if is_list(kind) and not (len(texts) == 1 and texts[0].lstrip().startswith(("[", "{"))):
        return _read_list(kind, choices, texts, from_file=from_file)
    if not texts:
        # a bare flag is a switch turned on; argparse refuses any other without a value
        switch = "bool" in kind or not kind
        if kind in _BARE:
            return Typed(value=_BARE[kind])
        return Typed(value=True) if switch else Typed(problem="a value is missing behind it")
    return _read_one(kind, choices, " ".join(texts), from_file=from_file)


def _read_list(
    kind: str, choices: Sequence[Value] | None, texts: Sequence[str], *, from_file: bool
) -> Typed:
    if from_file and len(texts) == 1 and texts[0].strip().lower() in _NONE:
        return Typed(value=None)
    inner = " ".join(sorted(word for word in _words(kind) if word.lower() not in _LISTS))
    found = [_read_one(inner, choices, text, from_file=False) for text in texts]
    problem = next((item.problem for item in found if item.problem), "")
    return Typed(value=[item.value for item in found], problem=problem)


def _read_one(kind: str, choices: Sequence[Value] | None, text: str, *, from_file: bool) -> Typed:
    if len(text) > MAX_TEXT:
        return Typed(problem=f"{len(text)} characters are no value")
    lowered = text.strip().lower()
    if lowered in _NONE and (from_file or _OPTIONAL.search(kind)) and "str" not in kind:
        return Typed(value=None)
    if from_file and lowered in {"null", "~", ""}:
        return Typed(value=None)
    if choices is not None:
        return _choice(kind, choices, text)
    return _plain(kind, text, from_file=from_file)


def _choice(kind: str, choices: Sequence[Value], text: str) -> Typed:
    for choice in choices:
        if str(choice) == text:
            return Typed(value=choice)
    if "bool" in kind and text.lower() in _TRUE | _FALSE:
        return Typed(value=text.lower() in _TRUE)
    allowed = ", ".join(str(choice) for choice in choices[:20])
    return Typed(value=text, problem=f"{text[:80]!r} is none of: {allowed}")


def _plain(kind: str, text: str, *, from_file: bool) -> Typed:
    kinds = _words(kind)
    if "dict" in kinds or "Dict" in kinds:
        return _structure(text, is_text="str" in kinds)
    if "int" in kinds and _is_whole(text.strip()):
        return Typed(value=int(text.strip()))
    if kinds & {"int", "float"}:
        number = read_number(text.strip())
        if number is not None:
            whole = "float" not in kinds and number == int(number)
            # the int() of argparse takes neither 1e3 nor 2.5 nor 8k
            strict = not from_file and kinds.isdisjoint({"float", "str", "Any"})
            wrong = strict and _PYTHON_INT.fullmatch(text.strip()) is None
            problem = f"{text[:80]!r} is no int" if wrong else ""
            return Typed(value=int(number) if whole else number, problem=problem)
    if (
        kinds & {"bool", "str_to_bool"} or kind in _BARE
    ) and text.strip().lower() in _TRUE | _FALSE:
        return Typed(value=text.strip().lower() in _TRUE)
    if kinds & {"str", "Any", "Path"} or not kinds & {"int", "float", "bool", "str_to_bool"}:
        return Typed(value=text)
    wanted = " or ".join(sorted(kinds & {"int", "float", "bool"})) or kind
    return Typed(value=text, problem=f"{text[:80]!r} is no {wanted}")


@lru_cache(maxsize=1024)
def _words(kind: str) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z_]+", kind))


def _is_whole(text: str) -> bool:
    if text.isdecimal() and len(text) <= _MOST_DIGITS:
        return True
    return _WHOLE.fullmatch(text) is not None


def _structure(text: str, *, is_text: bool) -> Typed:
    """Read a dict given as JSON; what is no JSON stays text where text is allowed."""
    stripped = text.strip()
    if stripped.startswith(("{", "[")):
        import json  # few values are JSON

        try:
            return Typed(value=json.loads(stripped))
        except (ValueError, RecursionError):
            return Typed(value=text, problem="" if is_text else f"{text[:80]!r} is no JSON")
    return Typed(value=text, problem="" if is_text else f"{text[:80]!r} is no JSON")
