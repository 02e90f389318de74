"""Words in the names of models: the family, what it takes in."""

from __future__ import annotations

import re

from trainrx.model.pattern import late

FAMILY = (
    ("qwen2.5-vl", r"qwen[-_]?2[._]?5[-_]?vl"),
    ("qwen3-vl", r"qwen[-_]?3[-_]?vl"),
    ("qwen2-vl", r"qwen[-_]?2[-_]?vl|qvq"),
    ("qwen2.5-omni", r"qwen[-_]?2[._]?5[-_]?omni"),
    ("qwen3-omni", r"qwen[-_]?3[-_]?omni"),
    ("qwen2-audio", r"qwen[-_]?2[-_]?audio"),
    ("qwen-audio", r"qwen[-_]?audio"),
    ("qwen3.5", r"qwen[-_]?3[._][56]"),
    ("qwen3-next", r"qwen[-_]?3[-_]?next"),
    ("qwen3", r"qwen[-_]?3"),
    ("qwen2.5", r"qwen[-_]?2[._]?5|qwq"),
    ("qwen2", r"qwen[-_]?2"),
    ("qwen1.5", r"qwen[-_]?1[._]?5|qwen1half"),
    ("qwen-vl", r"qwen[-_]?vl"),
    ("qwen", r"qwen"),
    ("internvl", r"intern[-_]?vl"),
    ("internlm", r"internlm"),
    ("minicpm-v", r"minicpm[-_]?v"),
    ("minicpm-o", r"minicpm[-_]?o"),
    ("minicpm", r"minicpm"),
    ("llava", r"llava"),
    ("deepseek-vl", r"deepseek[-_]?vl"),
    ("glm4v", r"glm[-_]?4[._]?\d?v|glm[-_]?4[._]1v"),
    ("glm4", r"glm[-_]?4|chatglm"),
    ("deepseek-v3", r"deepseek[-_]?(v3|r1(?!.distill))"),
    ("deepseek-v2", r"deepseek[-_]?v2"),
    ("mixtral", r"mixtral"),
    ("pixtral", r"pixtral"),
    ("mistral", r"mistral"),
    ("llama4", r"llama[-_]?4"),
    ("llama", r"llama"),
    ("gemma", r"gemma"),
    ("phi", r"\bphi(?=[-_.\d]|\b)"),
    ("ovis", r"ovis"),
    ("gpt-oss", r"gpt[-_]?oss"),
    ("kimi", r"kimi"),
    ("baichuan", r"baichuan"),
    ("yi", r"^yi[-_]"),
)
"""The first that matches wins: the more special family stands before the general one."""

VISION = late(
    r"vl\b|[-_]vl[-_]|vl\d|vision|llava|internvl|minicpm-?[vo](?=[-_\d.]|$)|glm-?4[._]?\d?v\b"
    r"|qvq|omni|ovis|pixtral|paligemma|mllama|molmo|idefics|cogvlm|florence|video"
)
OMNI = late(r"omni|minicpm-?o(?=[-_\d.]|$)")
AUDIO = late(r"audio|whisper|speech|asr\b")
MOE = late(
    r"a\d+(\.\d+)?b\b|moe|mixtral|\d+x\d+b|deepseek[-_]?(v3|r1(?!.distill))|deepseek[-_]?v2"
    r"|kimi[-_]?k|gpt[-_]?oss|llama-?4|glm[-_]?4[._]5(?!v)"
)


def family_of(words: str) -> str | None:
    """Name the family a model's name tells, in lower case; None when it tells none."""
    lowered = words.lower()
    return next((family for family, words in FAMILY if re.search(words, lowered)), None)
