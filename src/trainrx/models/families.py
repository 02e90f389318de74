"""What the name of a model tells: its family, what it takes in, its quantisation."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from trainrx.model.pattern import late, needled

FAMILY = (
    ("qwen2.5-vl", ("qwen25vl",), r"qwen[-_]?2[._]?5[-_]?vl"),
    ("qwen3-vl", ("qwen3vl",), r"qwen[-_]?3[-_]?vl"),
    ("qwen2-vl", ("qwen2vl", "qvq"), r"qwen[-_]?2[-_]?vl|qvq"),
    ("qwen2.5-omni", ("qwen25omni",), r"qwen[-_]?2[._]?5[-_]?omni"),
    ("qwen3-omni", ("qwen3omni",), r"qwen[-_]?3[-_]?omni"),
    ("qwen2-audio", ("qwen2audio",), r"qwen[-_]?2[-_]?audio"),
    ("qwen-audio", ("qwenaudio",), r"qwen[-_]?audio"),
    ("qwen3.5", ("qwen35", "qwen36"), r"qwen[-_]?3[._][56]"),
    ("qwen3-next", ("qwen3next",), r"qwen[-_]?3[-_]?next"),
    ("qwen3", ("qwen3",), r"qwen[-_]?3"),
    ("qwen2.5", ("qwen25", "qwq", "distillqwen"), r"qwen[-_]?2[._]?5|qwq|distill[-_]?qwen"),
    ("qwen2", ("qwen2",), r"qwen[-_]?2"),
    ("qwen1.5", ("qwen15", "qwen1half"), r"qwen[-_]?1[._]?5|qwen1half"),
    ("qwen-vl", ("qwenvl",), r"qwen[-_]?vl"),
    ("qwen", ("qwen",), r"qwen"),
    ("internvl", ("internvl",), r"intern[-_]?vl"),
    ("internlm", ("internlm",), r"internlm"),
    ("minicpm-v", ("minicpmv",), r"minicpm[-_]?v"),
    ("minicpm-o", ("minicpmo",), r"minicpm[-_]?o"),
    ("minicpm", ("minicpm",), r"minicpm"),
    ("llava", ("llava",), r"llava"),
    ("deepseek-vl", ("deepseekvl",), r"deepseek[-_]?vl"),
    ("glm4v", ("glm4",), r"glm[-_]?4[._]?\d?v|glm[-_]?4[._]1v"),
    ("glm4", ("glm4", "chatglm"), r"glm[-_]?4|chatglm"),
    ("deepseek-v3", ("deepseekv3", "deepseekr1"), r"deepseek[-_]?(v3|r1(?!.distill))"),
    ("deepseek-v2", ("deepseekv2",), r"deepseek[-_]?v2"),
    ("mixtral", ("mixtral",), r"mixtral"),
    ("pixtral", ("pixtral",), r"pixtral"),
    ("mistral", ("mistral",), r"mistral"),
    ("llama4", ("llama4",), r"llama[-_]?4"),
    ("llama", ("llama",), r"llama"),
    ("gemma", ("gemma",), r"gemma"),
    ("phi", ("phi",), r"\bphi(?=[-_.\d]|\b)"),
    ("ovis", ("ovis",), r"ovis"),
    ("gpt-oss", ("gptoss",), r"gpt[-_]?oss"),
    ("kimi", ("kimi",), r"kimi"),
    ("baichuan", ("baichuan",), r"baichuan"),
    ("yi", ("yi",), r"^yi[-_]"),
)
"""The first that matches wins: the more special family stands before the general one.

Between family and pattern stands what is in each matching name once -, _ and . are left out.
"""

VISION = needled(
    r"vl\b|[-_]vl[-_]|vl\d|vision|llava|internvl|minicpm-?[vo](?=[-_\d.]|$)|glm-?4[._]?\d?v\b"
    r"|qvq|omni|ovis|pixtral|paligemma|mllama|molmo|idefics|cogvlm|florence|video",
    *("vl", "vision", "llava", "minicpm", "glm", "qvq", "omni", "ovis", "pixtral", "paligemma"),
    *("mllama", "molmo", "idefics", "florence", "video"),
)
OMNI = needled(r"omni|minicpm-?o(?=[-_\d.]|$)", "omni", "minicpm")
AUDIO = needled(r"audio|whisper|speech|asr\b", "audio", "whisper", "speech", "asr")
MOE = needled(
    r"a\d{1,4}(\.\d{1,4})?b\b|moe|mixtral|\d{1,4}x\d{1,4}b|deepseek[-_]?(v3|r1(?!.distill))|deepseek[-_]?v2"
    r"|kimi[-_]?k|gpt[-_]?oss|llama-?4|glm[-_]?4[._]5(?!v)",
    *("moe", "mixtral", "deepseek", "kimi", "oss", "llama", "glm"),
    *(f"{before}{digit}" for before in "ax" for digit in range(10)),
)
_OWN_TYPE = needled(
    r"mistral[-_](?:nemo|small|large)|ministral|devstral|zephyr|wizardlm|openbuddy|gte[-_]qwen"
    r"|gme[-_]qwen|code[-_]?llama",
    *("mistral", "ministral", "devstral", "zephyr", "wizardlm", "openbuddy", "gte", "gme", "code"),
)
_OWN_TYPE_BEFORE_4 = needled(
    r"qwq|qvq|r1[-_]distill|qwen2[._]?5[-_]math|marco[-_]o1|longwriter|reflection[-_]llama"
    r"|skywork[-_]o1|numinamath|megrez|(?:^|[-_/])atom[-_]7b",
    *("qwq", "qvq", "distill", "math", "marco", "longwriter", "reflection", "skywork", "megrez"),
    "atom",
)


def family_of(words: str) -> str | None:
    """Name the family a model's name tells, in lower case; None when it tells none."""
    lowered = words.lower()
    bare = lowered.replace("-", "").replace("_", "").replace(".", "")
    for family, signs, pattern in FAMILY:
        for sign in signs:
            if sign in bare and re.search(pattern, lowered):
                return family
    return None


def own_type_of(name: str) -> Literal["before-4", "always"] | None:
    """Tell in which releases a model has a type of its own by its name; None: in none.

    Most names hold none of the words, and no pattern is compiled for them.

    `MODEL_MAPPING` of 3.2.1 and 4.6.0: up to 3.x QwQ is `qwq`, R1 distillates of Qwen and Llama
    are `deepseek_r1_distill`; 4.0 put them to the types of their architectures.
    """
    lowered = name.lower()
    if _OWN_TYPE.search(lowered):
        return "always"
    return "before-4" if _OWN_TYPE_BEFORE_4.search(lowered) else None


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
    match = BITS.search(name)
    bits = int(next(filter(None, match.groups()))) if match is not None else USUAL.get(method)
    return None if bits is None else Quantisation(bits, method)
