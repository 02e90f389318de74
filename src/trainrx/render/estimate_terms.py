"""Numbers and names of the terms of an estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainrx.model.memory import Term
from trainrx.model.text import Lang, Text
from trainrx.render.words import LISTED

TERM: dict[str, Text] = {
    "weights": Text(en="weights", zh="权重"),
    "adapters": Text(en="adapters (LoRA)", zh="LoRA 适配器"),
    "copies": Text(en="reference and reward models", zh="参考模型与奖励模型"),
    "master": Text(en="fp32 master weights", zh="fp32 主权重"),
    "optimizer": Text(en="optimizer states", zh="优化器状态"),
    "gradients": Text(en="gradients", zh="梯度"),
    "buffers": Text(en="communication buckets", zh="通信缓冲区"),
    "gathered": Text(en="gathered layers", zh="聚合的层参数"),
    "checkpoints": Text(en="saved layer inputs", zh="检查点（各层输入）"),
    "activations": Text(en="activations", zh="激活"),
    "live": Text(en="the layer being computed", zh="正在计算的一层"),
    "tower": Text(en="vision tower", zh="视觉塔"),
    "logits": Text(en="logits and loss", zh="logits 与 loss"),
    "step": Text(en="temporaries of the update", zh="更新时的临时张量"),
    "engine": Text(en="vLLM", zh="vLLM"),
    "parameters": Text(en="parameters", zh="参数"),
    "working": Text(en="working memory", zh="临时内存"),
    "other": Text(en="other", zh="其他"),
    "processes": Text(en="processes", zh="进程本身"),
    "offloaded-optimizer": Text(en="offloaded optimizer states", zh="卸载的优化器状态"),
    "offloaded-weights": Text(en="offloaded weights", zh="卸载的权重"),
    "sleeping-engine": Text(en="vLLM asleep", zh="休眠的 vLLM"),
    "loading": Text(en="weights while they load", zh="加载中的权重"),
    "saving": Text(en="weights gathered to be saved", zh="为保存而聚合的权重"),
}
LARGEST = 3
NOTHING = 0.005
"""GiB below which a term is shown only among everything."""


def gib(value: float) -> str:
    """Write GiB as finely as it is known: one digit, two for what would read 0.0."""
    return f"{value:.2f}" if 0 < abs(value) < 0.095 else f"{value:.1f}"


def term_name(name: str, lang: Lang) -> str:
    """Name a term; one without words of its own keeps its id, readable."""
    known = TERM.get(name)
    return name.replace("-", " ").replace("_", " ") if known is None else known.in_(lang)


def share(part: float, whole: float) -> str:
    """Give a part in per cent; "" where there is no whole, or next to none."""
    percent = 100 * part / whole if whole > 0 else math.inf
    if not math.isfinite(percent):
        return ""
    rounded = round(percent)
    return "<1%" if rounded == 0 and part > 0 else f"{rounded}%"


def largest(terms: Sequence[Term], lang: Lang, most: int = LARGEST) -> str:
    """Name the largest terms with their sizes."""
    ranked = sorted((t for t in terms if t.gib > 0), key=lambda term: -term.gib)[:most]
    named = (f"{term_name(term.name, lang)} {gib(term.gib)}" for term in ranked)
    return LISTED.in_(lang).join(named)
