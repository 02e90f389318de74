"""Which published model is a renamed one a copy of? Told by generation and size in its name.

A generation here is a line of models whose layers have the same shape at the same size, whatever
they were tuned for: Qwen2.5-Math-7B and Qwen2.5-7B are of one, Qwen1.5-7B is not.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from trainrx.model.pattern import late, needled
from trainrx.models.families import AUDIO, MOE, VISION, family_of

PRECISE = frozenset(
    {"qwen2.5-vl", "qwen3-vl", "qwen2-vl", "qwen2.5-omni", "qwen3-omni", "qwen2-audio", "qwen3.5"}
    | {"qwen3-next", "qwen3", "qwen2.5", "qwen2", "qwen1.5"}
)
"""Families that are one generation each. The first Qwen is not: others name models of any Qwen
`qwen-7b`."""

GENERATION = (
    ("deepseek-coder-v2", r"deepseek[-_]coder[-_]v2"),
    ("deepseek-distill-qwen", r"r1[-_]distill[-_]qwen"),
    ("internvl3.5", r"internvl3[._]5"),
    ("internvl3", r"internvl3"),
    ("internvl2.5", r"internvl2[._]5"),
    ("internvl2", r"internvl2"),
    ("llava-onevision", r"llava[-_]onevision"),
    ("llava-next-video", r"llava[-_]next[-_]video"),
    ("llava-1.6", r"llava[-_]?v?1[._]?6"),
    ("llava-1.5", r"llava[-_]?v?1[._]?5"),
    ("llava-next", r"llava[-_]next|llama[-_]?3.*llava|llava[-_]llama[-_]?3"),
    ("llava", r"llava"),
    ("idefics", r"idefics"),
    ("codellama", r"code[-_]?llama"),
    ("llama-4", r"llama[-_]?4(?![\d.])"),
    ("llama-3.3", r"llama[-_]?3[._p]3(?!\d*b)"),
    ("llama-3.2", r"llama[-_]?3[._p]2(?!\d*b)"),
    ("llama-3.1", r"llama[-_]?3[._p]1(?!\d*b)"),
    ("llama-3", r"llama[-_]?3(?![._p]?[0-9](?!\d*b))"),
    ("llama-2", r"llama[-_]?2(?![._p]?[0-9](?!\d*b))|vicuna[-_]\d+b[-_]v1[._]5"),
    ("mixtral", r"mixtral"),
    ("mistral", r"(?<!mini)(?<!pix)mistral(?![-_]?(?:nemo|small|medium|large))|zephyr"),
    ("mistral-small", r"mistral[-_]small"),
    ("gemma-4", r"(?<!code)(?<!med)gemma[-_]?4(?![\d.])"),
    ("gemma-3", r"(?<!code)(?<!med)gemma[-_]?3(?![\d.n])"),
    ("gemma-2", r"(?<!code)(?<!med)gemma[-_]?2(?![\d.b])"),
    ("gemma", r"(?<!code)(?<!med)(?<!pali)(?<!recurrent)gemma[-_](?:1[._]1[-_])?(?=\d+b)"),
    ("yi-1.5", r"(?:^|[-_])yi[-_]1[._]5"),
    ("yi-coder", r"(?:^|[-_])yi[-_]coder"),
    ("yi-vl", r"(?:^|[-_])yi[-_]vl"),
    ("yi", r"(?:^|[-_])yi[-_](?=\d+b)"),
    ("baichuan2", r"baichuan[-_]?2"),
    ("baichuan", r"baichuan(?=[-_]\d+b)"),
    ("internlm3", r"internlm3"),
    ("internlm2", r"internlm2"),
    ("internlm", r"internlm(?![-_]?x)(?=[-_])"),
    ("glm-4", r"(?<![a-z])glm[-_]?4[-_](?=\d+b)"),
    ("chatglm3", r"chatglm3"),
    ("chatglm2", r"chatglm2"),
    ("deepseek-math", r"deepseek[-_]math"),
    ("deepseek-coder", r"deepseek[-_]coder"),
    ("deepseek-llm", r"deepseek[-_](?:llm[-_])?(?=\d+b)"),
    ("gpt-oss", r"gpt[-_]?oss"),
    ("moonlight", r"moonlight"),
    ("falcon3", r"falcon[-_]?3(?=[-_])"),
    ("falcon", r"falcon(?=[-_]\d+b)"),
    ("bloom", r"bloomz?(?=[-_])"),
    ("pythia", r"pythia"),
    ("granite-3", r"granite[-_]3[._]\d"),
    ("smollm2", r"smollm2"),
    ("starcoder2", r"starcoder2"),
    ("mamba", r"mamba(?=[-_]\d)"),
)
"""The first that matches wins. Names of one company's chat models stand before what they are
built on."""

UNKNOWN_POINT = late(r"qwen[-_]?\d[._]\d(?!\d*b)")
"""A point release: a generation of its own, also where the family's table does not know it."""

SIZE = late(r"(?<![\da-z.])(\d+(?:[._]\d+)?)([bm])(?:[-_]a(\d+(?:[._]\d+)?)b)?(?![a-z0-9])")
MIXTURE = needled(r"(?<![\da-z.])(?:(\d+)x(\d+)b|(\d+)bx(\d+))(?![a-z0-9])", "x")
CHANGED = late(
    r"prun|shear|slim(?!e)|minitron|draft|eagle|medusa|adapter|lora|embed|stack|franken|merge[-_]?moe"
)
"""Words of models whose layers are not those of the model they come from."""


class Lineage(msgspec.Struct, frozen=True):
    """A generation, the size as a name writes it (`7`, `30-a3`, `8x7`), and what else it tells."""

    generation: str
    size: str
    sees: bool
    hears: bool
    mixed: bool


@cache
def lineage_of(name: str) -> Lineage | None:
    """Read generation and size from the last part of a name, in lower case; None without them."""
    if CHANGED.search(name):
        return None
    generation, size = _generation(name), size_of(name)
    if generation is None or size is None:
        return None
    return Lineage(
        generation,
        size,
        sees=bool(VISION.search(name)),
        hears=bool(AUDIO.search(name)),
        mixed=bool(MOE.search(name)),
    )


def _generation(name: str) -> str | None:
    # a distilled Qwen of another company is no plain Qwen: the table comes first
    found = next((key for key, words in GENERATION if re.search(words, name)), None)
    family = family_of(name)
    if found is not None or family not in PRECISE:
        return found
    return None if "." not in family and UNKNOWN_POINT.search(name) else family


@cache
def size_of(name: str) -> str | None:
    """Read the size from a name in lower case; None when it names none or several."""
    mixture = MIXTURE.search(name)
    if mixture is not None:
        number, each, each_first, number_last = mixture.groups()
        return f"{number or number_last}x{each or each_first}"
    found = {_size(*match) for match in SIZE.findall(name)}
    return found.pop() if len(found) == 1 else None


def _size(number: str, unit: str, active: str) -> str:
    plain = number.replace("_", ".")
    size = plain if unit == "b" else f"{float(plain) / 1000:g}"
    return f"{size}-a{active.replace('_', '.')}" if active else size
