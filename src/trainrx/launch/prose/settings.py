"""The settings a clause states plainly: task, what is trained, sharding, batch size, length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.catalog.deepspeed import read_deepspeed
from trainrx.launch.prose.clauses import Clause, Statement, is_not
from trainrx.model.facts import Scalar
from trainrx.model.pattern import late

TASK, HEAD, TUNER, BITS = "task", "head", "tuner", "bits"
SHARDING, BATCH, LENGTH = "sharding", "batch", "length"
KINDS = (TASK, HEAD, TUNER, BITS, SHARDING, BATCH, LENGTH)
WHOLE = 16
"""Bits of weights that are not quantised."""
_TASK = late(
    r"(?<![A-Za-z_])(?:Async)?(grpo|gspo|dpo|ppo|kto|orpo|simpo|cpo|gkd|sft)(?:Trainer"
    r"|Config)?(?![A-Za-z])"
    r"|((?:继续|增量)?预训练(?!模型|权重|数据|阶段)|\b(?:continued )?pre-?training\b"
    r"|(?<![A-Za-z_./-])PT(?![A-Za-z0-9_]))",
    re.IGNORECASE,
)
_TASK_OF = {"gspo": "grpo"}
_HEAD = late(
    r"(?<![A-Za-z])(rerank(?:er|ing)?|embedding)(?=[\s\d]?(?:模型|训练|微调|的 ?(?:megatron|训练"
    r"|脚本)"
    r"|training|models?\b|from\b|\d{0,3}(?:\.\d)?b))|(?:训练?|微调|做|\btrain\w*|\bfine-?tun\w+)\s?"
    r"(?:an? |the )?(?:[\w.]{1,12}[- ]){0,3}(reranker|embedding)(?![A-Za-z_])",
    re.IGNORECASE,
)
_TUNER = late(
    r"(?<![A-Za-z])(?P<qlora>q-?lora)(?![A-Za-z])|(?<![A-Za-z_])(?P<lora>lora)(?![A-Za-z_]|\+)"
    r"|(?P<full>\bfull(?:[- ]param(?:eter|s)?s?| weights?)?[- ]?(?:fine-?tun\w*|sft|training"
    r"|tuning|ft\b|params?"
    r"|parameters?)|\A\W*full\W*\Z|全参(?:数|量)?|全部参数|全量(?!数据))",
    re.IGNORECASE,
)
_SHARDING = late(
    r"(?<![A-Za-z])(?:(?:deepspeed )?zero[-_ ]?(?:stage[-_ ]?)?|ds_?z)([0-3])(?![0-9])"
    r"(?P<offload>[-_ ]?(?:\+ ?|加 ?|with |and )?(?:cpu[-_ ])?offload)?",
    re.IGNORECASE,
)
_BATCH = late(
    r"(?:(?P<own>(?:per[-_ ](?:device|gpu|card)[-_ ](?:train[-_ ])?|micro[-_ ]?|每[卡张]\s?"
    r"|单卡\s?)batch[-_ ]?size)"
    r"|batch[-_ ]?size|(?<![A-Za-z])bs(?![A-Za-z]))"
    r"\s?(?:(?:is|of|was|set to|设(?:置)?[为成]|都?是|=|:|："
    r"|为)\s?)?(?P<size>\d{1,4})(?![\d.])(?P<after> per (?:device|gpu))?",
    re.IGNORECASE,
)
_LENGTH = late(
    r"(?<![A-Za-z])(?:max[-_ ]?(?:seq(?:uence)?[-_ ]?)?len(?:gth)?|cutoff[-_ ]?len"
    r"|seq(?:uence)?[-_ ]?len(?:gth)?"
    r"|model[-_ ]max[-_ ]length|(?<![度本像])(?:最大|序列)?长度)\s?"
    r"(?:(?:现在|is|of|was|set to|设(?:置)?[为成]|都?是|=|:|："
    r"|为)\s?){0,2}(\d{1,7})\s?(k)?(?![\d.A-Za-z])",
    re.IGNORECASE,
)
_EITHER = late(r"or no |with or without|开不开|加不加|\bboth\b", re.IGNORECASE)


def settings(clause: Clause) -> Iterator[Statement]:
    """Read the settings one clause states; what it denies is none."""
    text = clause.text
    for found in _TASK.finditer(text):
        said = (found[1] or "pt").lower()
        if not is_not(text, found.start()):
            yield Statement(TASK, _TASK_OF.get(said, said), clause)
    for found in _HEAD.finditer(text):
        said = (found[1] or found[2]).lower()
        yield Statement(HEAD, "embedding" if said == "embedding" else "reranker", clause)
    for found in _TUNER.finditer(text):
        if not is_not(text, found.start()):
            yield Statement(TUNER, "full" if found["full"] else "lora", clause)
            yield Statement(BITS, 4 if found["qlora"] else WHOLE, clause)
    for found in _SHARDING.finditer(text):
        either = _EITHER.search(text, 0, found.start()) is not None
        if not either and not is_not(text, found.start()):
            offload = bool(found["offload"]) and not _EITHER.search(text)
            yield Statement(SHARDING, f"zero{found[1]}{'_offload' if offload else ''}", clause)
    yield from _numbers(clause)


def _numbers(clause: Clause) -> Iterator[Statement]:
    for found in _BATCH.finditer(clause.text):
        # whatever batch is meant, that of one card is not larger
        if found["own"] or found["after"] or found["size"] == "1":
            yield Statement(BATCH, int(found["size"]), clause)
    for found in _LENGTH.finditer(clause.text):
        length = int(found[1]) * (1000 if found[2] else 1)
        if length >= 64:
            yield Statement(LENGTH, length, clause)


def settled(kind: str, value: str | int) -> dict[str, Scalar]:
    """Give the facts a setting is, by the canonical names."""
    if kind == SHARDING:
        found = read_deepspeed(str(value))
        # the stage alone leaves open what is offloaded
        return (
            found
            if "offload" in str(value)
            else {"parallel.zero_stage": found["parallel.zero_stage"]}
        )
    if kind == BITS and value == WHOLE:
        return {}
    return {_FACT_OF[kind]: value}


_FACT_OF = {
    TASK: "launch.task",
    HEAD: "task.type",
    TUNER: "tuner.type",
    BITS: "tuner.quant_bits",
    BATCH: "train.micro_batch",
    LENGTH: "train.max_length",
}
