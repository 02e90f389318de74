"""Models that ms-swift files under a model type of their own, whatever their architecture is."""

from __future__ import annotations

from typing import Literal

from trainrx.model.pattern import needled

_ALWAYS = needled(
    r"mistral[-_](?:nemo|small|large)|ministral|devstral|zephyr|wizardlm|openbuddy|gte[-_]qwen"
    r"|gme[-_]qwen|code[-_]?llama",
    *("mistral", "ministral", "devstral", "zephyr", "wizardlm", "openbuddy", "gte", "gme", "code"),
)
_BEFORE_4 = needled(
    r"qwq|qvq|r1[-_]distill|qwen2[._]?5[-_]math|marco[-_]o1|longwriter|reflection[-_]llama"
    r"|skywork[-_]o1|numinamath|megrez|(?:^|[-_/])atom[-_]7b",
    *("qwq", "qvq", "distill", "math", "marco", "longwriter", "reflection", "skywork", "megrez"),
    "atom",
)


def own_type_of(name: str) -> Literal["before-4", "always"] | None:
    """Tell in which releases a model has a type of its own by its name; None: in none.

    Most names hold none of the words, and no pattern is compiled for them.

    `MODEL_MAPPING` of 3.2.1 and 4.6.0: up to 3.x QwQ is `qwq`, R1 distillates of Qwen and Llama
    are `deepseek_r1_distill`; 4.0 put them to the types of their architectures.
    """
    lowered = name.lower()
    if _ALWAYS.search(lowered):
        return "always"
    return "before-4" if _BEFORE_4.search(lowered) else None
