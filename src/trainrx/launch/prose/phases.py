"""When a job fails, as a clause states it: while loading, at the first step, at saving, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainrx.launch.prose.clauses import Clause, Statement, is_not
from trainrx.model.pattern import late

PART, STEP, LAUNCH = "phase: part", "phase: step", "phase: launch"
"""Kinds of statements, the one that says most first: a part of the job, a step, no more than that
it does not start."""
PHASES = (PART, STEP, LAUNCH)
_AT = r"(?:at|in|on|during|while|when|once|before|as soon as|every time|each time|until|past)"
_THE = r"(?:the |a |an |each |every |my |any |its |it is |it tries to |i )*"
_PARTS = {
    "load": late(
        rf"\b{_AT} {_THE}(?:model |weights? |state[ _]dict "
        rf"|checkpoint )?loading(?! (?:the )?(?:data|samples))\b"
        r"|\b(?:model|weights?|state[ _]dict|checkpoint(?: shards)?|peaked)[ -]loading\b"
        r"|\bweights load\b"
        r"|\bwhile the (?:model|weights) (?:loads?|is|are)|\bloading (?:peak\w*|the (?:model"
        r"|weights))"
        r"|\b(?:doesn['’]t|does not|can['’]t|cannot)(?: even)? load\b"
        r"|(?:加载|载入)(?:[^，。数据完]{0,14})?(?:模型|权重|state dict|checkpoint shards)(?!完"
        r"|后|好|不?了)"
        r"|模型(?:在)?(?:加载|载入)(?:时|阶段|过程|的时候|就)",
        re.IGNORECASE,
    ),
    "tokenize": late(
        r"\btokeni[sz](?:ing|ation)\b|\b(?:pre-?processing|mapping|loading"
        r"|reading) (?:of )?(?:the |my )?(?:\w+ )?"
        r"(?:data ?sets?|data|samples)\b|数据(?:集)?(?:预?处理|加载|转换|格式转换)(?!完|后|好"
        r"|的时候设)"
        r"|(?:加载|处理|读取)(?:大|训练)?数据(?:集)?(?!完|后)|分词|预处理(?:阶段|时|到)"
        r"|数据(?:集)?[^，。]{0,8}，?加载的?时候",
        re.IGNORECASE,
    ),
    "eval": late(
        rf"\b{_AT} {_THE}(?:first )?(?:eval(?:uat\w+)?|validat\w+)\b"
        r"|\b(?:eval(?:uation)?|validation)\b[^.,;]{0,24}\b(?:begins|starts|kicks? in|OOMs?|fails"
        r"|hangs|crashes|stuck)\b"
        r"|(?:评估|验证集?|评测|eval(?:uation)?)(?:[^，。]{0,8})(?:时|的时候|阶段|就|那里|开始|卡"
        r"|爆|OOM|不动)"
        r"|(?:卡在|到|进入|在|开始)(?:了)?\s?(?:评估|验证|评测|eval)",
        re.IGNORECASE,
    ),
    "save": late(
        rf"\b{_AT} {_THE}(?:tries to )?(?:sav(?:e|es|ing)|writing|dumping)\b|\bsave_steps\b"
        rf"|\bwriting (?:the )?checkpoints?"
        r"|\b(?:saving|save) (?:the |a )?(?:model|checkpoint|weights)\b"
        r"|(?:保存|落盘|(?<![内显缓])存)(?:完|了|好|第一次|最后一?个|中间的?)*(?:[^，。]{0,3})"
        r"(?:模型|权重|checkpoint|ckpt|断点)?\s?(?:的时候|时|过程|阶段|之?后|就|报错|卡|崩|OOM)"
        r"|模型保存",
        re.IGNORECASE,
    ),
    "rollout": late(
        r"\b(?:in|during|when|while|at|doing) (?:the |doing )*(?:vLLM )?(?:rollouts?|generation"
        r"|sampling)\b"
        r"|(?:rollout|采样|生成)\s?(?:的时候|时|阶段|过程)",
        re.IGNORECASE,
    ),
    "weight-sync": late(
        r"\bweights?[- ](?:sync\w*|transfers?|updates?|broadcast)\b|\b(?:sync|transfer|broadcast"
        r"|push)\w*"
        r" (?:of )?(?:the |its )?(?:\w+ )?weights\b|\bweights? (?:are|is) (?:to be )?(?:sent"
        r"|pushed|synced|transferred)\b"
        r"|\bsends? (?:the |its )?(?:\w+ )?weights\b|同步权重|权重同步|[传发](?:送"
        r"|输)?(?:训练后的)?权重|权重[^，。]{0,6}(?:传|发|同步)"
        r"|[传发]权重",
        re.IGNORECASE,
    ),
}
_FIRST = late(
    r"\b(?:very )?first (?:training |optimi[sz]er )?(?:steps?|iterations?|batch|forward"
    r"|backward)\b(?! and then)"
    r"|\bstep[ -]?(?:0|1|zero|one)\b|\b(?:as soon as|the moment) (?:the )?training (?:starts"
    r"|begins)"
    r"|第 ?(?:一|0|1|零) ?个? ?(?:步|step|iter\w*|batch)|首个? ?(?:步|step)|(?:刚"
    r"|一)(?:一)?(?:开始|启动|进)训练"
    r"|训练(?:刚|一)(?:刚)?(?:开始|启动)(?!前)|step ?[01](?!\d)",
    re.IGNORECASE,
)
_LATER = late(
    r"\b(?:after|at|around|for|on|in|like|takes?|until) (?:about |around |roughly |some |like "
    r"|completing |the )*"
    r"(?:~)?(?:[2-9]|\d{2,}[\d,]*|\d+-\d+|a few|several|hundreds of|one|two|ten|second"
    r"|third)(?:th|rd|nd|\+)?\+?"
    r" ?(?:training )?(?:steps?|iterations?|epochs?)\b"
    r"|\b(?:after|around|for) (?:about |around |some |the )*(?:\d+|a few|several) (?:hours?|mins?"
    r"|minutes|days?)\b"
    r"|\b(?:at|around|near|by|on) (?:step|iteration) (?:[2-9]|\d{2,})|\bmid(?:way|-training)\b"
    r"|\bhalf-?way\b"
    r"|\b(?:in the middle of|as the|part way through the) (?:training|epoch|run)(?! (?:set|data))"
    r"|\bat (?:certain|some|specific|the same) steps?\b"
    r"|(?<![每隔])(?<!每 )\d{2,7} ?(?:多)?(?:步|个? ?steps?|iter\w*)(?!数)|第 ?(?:[2-9]|\d{2,}"
    r"|[二三四五六七八九十]) ?个? ?(?:步|step)"
    r"|训练?到?(?:了)?(?:一半|中途|途中|过程中)|中途|训到[^，。]{0,8}epoch|epoch从|固定 ?step"
    r"|同一个 ?step|几[百千十]?步(?:之|以)?后"
    r"|(?:几|\d+)个?多?小时(?:之?后|才)",
    re.IGNORECASE,
)
_BEFORE_FIRST = late(r"before (?:the )?(?:very )?\Z|[不没]到\s?\Z", re.IGNORECASE)
_AFTER_FIRST = late(r"\bafter\s(?:the )?(?:very )?\Z|过了?\s?\Z", re.IGNORECASE)
_NOT_STARTED = late(
    r"\bat (?:the )?(?:start-?up|launch|start)\b|\bimport(?:ing|s)?\b[^.;]{0,40}\b(?:fail\w*"
    r"|error|die\w*|crash\w*)"
    r"|\b(?:fails?|stops?|dies|crash\w*)\b[^.;]{0,30}\b(?:import\w*|while the arguments are read"
    r"|argument pars\w+)"
    r"|\bImportError\b|\b(?:can['’]t|cannot|won['’]t)(?: even)? (?:import|start|launch)\b"
    r"|\bargument pars\w+"
    r"|\b(?:errors? out|launching|launch)\b[^.;]{0,24}\b(?:start-?up|fails?|immediately)\b"
    r"|\bown imports\b"
    r"|(?:一|刚)?(?:启动|运行|执行)(?:就|时|的时候|失败|报错|即)|一跑就(?!\s?(?:爆|OOM|显存))"
    r"|起不来|(?:导入|import)[^，。]{0,40}(?:报错|失败|挂|崩|不了|错误)"
    r"|解析参数|参数解析|读参数|启动后[^，。]{0,20}连不上|还在解析",
    re.IGNORECASE,
)


def phases(clause: Clause) -> Iterator[Statement]:
    """Read when a clause says that the job fails."""
    text = clause.text
    for phase, pattern in _PARTS.items():
        found = pattern.search(text)
        if found is not None and not is_not(text, found.start()):
            yield Statement(PART, phase, clause)
    first = _FIRST.search(text)
    if first is not None and _BEFORE_FIRST.search(text, 0, first.start()) is not None:
        return
    if first is not None and not is_not(text, first.start()):
        passed = _AFTER_FIRST.search(text, 0, first.start()) is not None
        yield Statement(STEP, "train" if passed else "train-start", clause)
    elif (later := _LATER.search(text)) is not None and not is_not(text, later.start()):
        yield Statement(STEP, "train", clause)
    if _NOT_STARTED.search(text) is not None:
        yield Statement(LAUNCH, "launch", clause)
