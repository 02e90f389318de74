"""What a program of someone's own was found to set, as far as its job's memory is concerned.

Nothing that reads programs is imported here: most launches have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from trainrx.catalog.catalog import plain
from trainrx.frameworks import framework_of
from trainrx.model.facts import Fact, Scalar, fact
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.pattern import late

_MODULE = late(r"[A-Za-z_]\w*(?:\.\w+)+")
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32"}
_TRUE = frozenset({"true", "1", "yes"})
_Read = Callable[[tuple[str, ...]], Scalar | None]


def _on(value: Scalar) -> _Read:
    return lambda words: value if not words or words[0].lower() in _TRUE else None


def _dtype(words: tuple[str, ...]) -> Scalar | None:
    return _DTYPES.get(words[0].rpartition(".")[2].lower()) if words else None


def _count(words: tuple[str, ...]) -> Scalar | None:
    return int(words[0]) if len(words) == 1 and words[0].isdecimal() else None


_SET: Mapping[str, tuple[str, _Read]] = {
    "use_peft": ("tuner.type", _on("lora")),
    "lora_r": ("tuner.rank", _count),
    "lora_target_modules": ("tuner.targets", lambda words: " ".join(words) or None),
    "load_in_4bit": ("tuner.quant_bits", _on(4)),
    "load_in_8bit": ("tuner.quant_bits", _on(8)),
    "torch_dtype": ("model.load_dtype", _dtype),
    "dtype": ("model.load_dtype", _dtype),
}
UNREAD_OF = {"use_peft": "tuner", "load_in_4bit": "tuner", "torch_dtype": "precision"}
"""The terms that are open where the program computes such a value."""


def program_facts(raw: RawLaunch, known: frozenset[str]) -> Iterator[Fact]:
    """Give what the calls of a program that was read say; what a setting says goes first."""
    for arg in set_by_program(raw):
        kind, read = _SET.get(plain(arg.name), ("", _count))
        value = read(arg.values) if kind and arg.values is not None else None
        if value is not None and kind not in known:
            yield fact(kind, value, arg.origin)


def set_by_program(raw: RawLaunch) -> Iterator[RawArg]:
    """Give the keyword arguments of libraries a program of someone's own calls."""
    if raw.program_read and is_own_program(raw):
        yield from (arg for arg in raw.args if arg.via == "config")


def is_own_program(launch: RawLaunch) -> bool:
    """Tell a program of someone's own, whose parser nobody here knows."""
    module = not launch.framework and _MODULE.fullmatch(launch.program) is not None
    own = (launch.program.endswith(".py") or module) and launch.role == "trainer"
    return own and not framework_of(launch.framework).is_own_program(launch.program)
