"""The words of `diagnose estimate`, English beside Chinese, and how its numbers are written."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainrx.model.estimate import Fit
from trainrx.model.memory import Phase, Term
from trainrx.model.text import Lang, Text
from trainrx.render.words import LISTED

VERDICT: dict[Fit, Text] = {
    "fits": Text(en="FITS", zh="放得下"),
    "tight": Text(en="TIGHT", zh="可能放不下"),
    "cannot-say": Text(en="CANNOT SAY", zh="无法判断"),
    "does-not-fit": Text(en="DOES NOT FIT", zh="放不下"),
}
STYLE_OF: dict[Fit, str] = {
    "fits": "good",
    "tight": "doubt",
    "cannot-say": "doubt",
    "does-not-fit": "bad",
}
NO_VERDICT = Text(en="ESTIMATE", zh="估算")
NO_PREDICTION = Text(en="no prediction", zh="无法预测")

# the first line
ON_THIS_CARD = Text(
    en="{card}: {gib} of {limit} GiB ({low} to {high})",
    zh="{card}：{limit} GiB 中占用 {gib} GiB（{low}～{high}）",
)
IN_BETWEEN = Text(
    en="{card}: between {low} and {high} of {limit} GiB; tell {params}",
    zh="{card}：{limit} GiB 中占用 {low}～{high} GiB；请给出 {params}",
)
RATHER_NOT = Text(en=", more likely too much", zh="，多半放不下")
RATHER_SO = Text(en=", more likely enough", zh="，多半放得下")
WITHOUT_CARD = Text(
    en="{gib} GiB per GPU ({low} to {high}); add --gpu NAME to see whether it fits",
    zh="每卡 {gib} GiB（{low}～{high}）；加 --gpu NAME 可判断是否放得下",
)
WITHOUT_SIZE = Text(
    en="{gib} GiB per GPU ({low} to {high}); the memory of {card} is not known here: "
    "give it as --gpu 24GiB",
    zh="每卡 {gib} GiB（{low}～{high}）；不清楚 {card} 的显存大小，请用 --gpu 24GiB 这样的写法给出",
)
YOUR_CARD = Text(en="the card", zh="这张卡")

# the head
JOB = Text(en="Job", zh="任务")
LAUNCH = Text(en="Launch", zh="启动命令")
PEAK = Text(en="Peak", zh="峰值")
LENGTH = Text(en="Length", zh="长度")
PEAK_AT = Text(
    en="{phase}: {gib} GiB of tensors, the largest part {term} ({part})",
    zh="{phase}：张量共 {gib} GiB，其中最大的一项是“{term}”（{part}）",
)
TOKENS: dict[str, Text] = {
    "exact": Text(en="{n} tokens a sample", zh="每条样本 {n} 个 token"),
    "cap": Text(
        en="{typical} tokens a sample, at most {n}; --data FILE would tell",
        zh="每条样本 {typical} 个 token，最多 {n} 个；可用 --data 提供数据",
    ),
    "limit": Text(
        en="{n} tokens a sample, the limit; --data FILE tells whether it is less",
        zh="每条样本按上限 {n} 个 token 计；可用 --data 提供数据",
    ),
    "data": Text(
        en="{typical} tokens a sample, {n} in the longest batch, from the data",
        zh="按数据统计，每条样本通常 {typical} 个 token，最长的 batch {n} 个",
    ),
}

# the three figures
FIGURES = Text(en="GiB per GPU", zh="每卡（GiB）")
LOW = Text(en="low", zh="下限")
BEST = Text(en="likely", zh="估计")
HIGH = Text(en="high", zh="上限")
ALLOCATED = Text(en="allocated", zh="已分配")
RESERVED = Text(en="reserved", zh="已预留")
ON_CARD = Text(en="on the card", zh="整卡占用")
FIGURE_NOTES: tuple[Text, Text, Text] = (
    Text(en="tensors (max_memory_allocated)", zh="张量（max_memory_allocated）"),
    Text(en="with cached blocks (max_memory_reserved)", zh="含缓存块（max_memory_reserved）"),
    Text(en="with context and libraries (nvidia-smi)", zh="含 CUDA 上下文与库（nvidia-smi）"),
)

# the chart
PHASES = Text(en="By phase", zh="各阶段")
PHASE: dict[Phase, Text] = {
    "load": Text(en="loading", zh="加载模型"),
    "forward": Text(en="forward", zh="前向"),
    "loss": Text(en="loss", zh="计算 loss"),
    "backward": Text(en="backward", zh="反向"),
    "step": Text(en="optimizer step", zh="优化器更新"),
    "rollout": Text(en="rollout", zh="rollout 采样"),
    "weight-sync": Text(en="weight sync", zh="权重同步"),
    "eval": Text(en="evaluation", zh="评估"),
    "save": Text(en="saving", zh="保存"),
}
IS_PEAK = Text(en="peak", zh="峰值")
LIMIT_MARK = Text(en="card: {limit}", zh="显存上限 {limit}")
CACHED = Text(en="cached blocks", zh="分配器缓存")
CONTEXT = Text(en="context, libraries", zh="CUDA 上下文与库")

# the table of terms
TERMS_AT = Text(en="At the peak ({phase})", zh="峰值时（{phase}）")
TERMS_IN = Text(en="In {phase}", zh="{phase}阶段")
SUM = Text(en="sum", zh="合计")

HOST = Text(en="Host memory per machine", zh="每台机器的主机内存")
HOST_FIGURES = Text(
    en="{resident} GiB all along, {peak} GiB at the peak of loading or saving",
    zh="常驻 {resident} GiB，加载或保存时峰值 {peak} GiB",
)
HOST_PEAK = Text(en="{peak} GiB at the peak of loading or saving", zh="加载或保存时峰值 {peak} GiB")
ASSUMED = Text(en="Taken for granted", zh="以下为假设")
SETTLED_BY = Text(en="{param} would tell", zh="可用 {param} 指明")
CARDS = Text(en="On each card", zh="各种显卡")
NO_SIZE = Text(en="size unknown", zh="显存大小未知")
COUNTED = Text(en="Counted on the real model class", zh="用真实模型类统计")
COUNTED_SAYS = Text(
    en="{gib} GiB allocated at the peak; the formula says {formula} ({difference})",
    zh="峰值已分配 {gib} GiB；公式给出 {formula}（{difference}）",
)
GAPS = Text(
    en="They differ on (counted / formula): {parts}.", zh="差异所在（统计值 / 公式值）：{parts}。"
)
COUNTED_BY = Text(
    en="{model} of transformers {transformers}, torch {torch}, {seconds} s",
    zh="transformers {transformers} 的 {model}，torch {torch}，用时 {seconds} 秒",
)
LEFT_OUT = Text(en="Not seen by the count: {parts}.", zh="统计不包括：{parts}。")
ALSO = Text(en="; ", zh="；")
NOT_COUNTED = Text(en="not counted: {reason}", zh="未能统计：{reason}")
NEEDED = Text(en="Needed", zh="还需要")
NEXT = Text(en="What to look at", zh="从哪里入手")
OVER = Text(
    en="{over} GiB too much. Largest parts: {terms}.",
    zh="超出 {over} GiB。占用最大的几项：{terms}。",
)
CLOSE = Text(
    en="At worst {over} GiB too much. Largest parts: {terms}.",
    zh="最坏情况下超出 {over} GiB。占用最大的几项：{terms}。",
)
STATIC = Text(
    en="Weights, gradients and optimizer states do not depend on batch or length: spread them "
    "over more GPUs (ZeRO-3, FSDP, tensor parallelism), offload them, train adapters or quantise.",
    zh="权重、梯度和优化器状态与 batch、序列长度无关：可以分到更多卡上（ZeRO-3、FSDP、张量并行）、"
    "卸载到内存、改为训练 LoRA，或者量化。",
)
DYNAMIC = Text(
    en="Activations and logits grow with the tokens of a micro-batch: a smaller micro-batch "
    "(with more gradient accumulation), shorter samples or gradient checkpointing lower them; "
    "a fused loss removes the logits.",
    zh="激活和 logits 随每个 micro-batch 的 token 数增长：减小 micro-batch（同时增大梯度累积）、"
    "缩短样本、开启梯度检查点都能降低；融合的 loss 可以省掉 logits。",
)
TOWER = Text(
    en="The vision tower grows with the pixels of a micro-batch: a lower pixel cap or a smaller "
    "micro-batch lowers it, and so does gradient checkpointing of the tower itself.",
    zh="视觉塔的占用随每个 micro-batch 的像素数增长：降低像素上限、减小 micro-batch，或对视觉塔"
    "本身开启梯度检查点都能降低。",
)
ENGINE = Text(
    en="The engine takes its share of the card whatever the trainer does: a lower share, putting "
    "it to sleep while training, or a server on other GPUs leaves more to the trainer.",
    zh="推理引擎按比例占用整张卡，与训练无关：降低这一比例、训练时让它休眠，或放到其他 GPU 上"
    "单独部署，都能给训练留出更多显存。",
)
VERBOSE = Text(
    en="--verbose shows the terms of every phase with their sources",
    zh="加 --verbose 查看每个阶段的明细和出处",
)
TITLE = Text(en="Memory per GPU, GiB", zh="每卡显存（GiB）")


def phase_name(name: str, lang: Lang) -> str:
    """Name a phase; one without words keeps its id."""
    known = {str(key): text for key, text in PHASE.items()}.get(name)
    return name if known is None else known.in_(lang)


TERM: dict[str, Text] = {
    "weights": Text(en="weights", zh="权重"),
    "adapters": Text(en="adapters (LoRA)", zh="LoRA adapter"),
    "copies": Text(en="reference and reward models", zh="参考模型与奖励模型"),
    "master": Text(en="fp32 master weights", zh="fp32 主权重"),
    "optimizer": Text(en="optimizer states", zh="优化器状态"),
    "gradients": Text(en="gradients", zh="梯度"),
    "buffers": Text(en="communication buckets", zh="通信缓冲区"),
    "gathered": Text(en="gathered layers", zh="聚合的层参数"),
    "checkpoints": Text(en="saved layer inputs", zh="各层输入（梯度检查点）"),
    "activations": Text(en="activations", zh="激活"),
    "live": Text(en="the layer being computed", zh="正在计算的一层"),
    "tower": Text(en="vision tower", zh="视觉塔"),
    "stashed": Text(en="inputs 8-bit matrices keep", zh="8-bit 矩阵保留的输入"),
    "scores": Text(en="attention scores of the vision tower", zh="视觉塔的注意力分数"),
    "logits": Text(en="logits and loss", zh="logits 与 loss"),
    "head": Text(en="2-byte copy of the output head", zh="输出层的 2 字节副本"),
    "bucket": Text(en="bucket of gradients", zh="梯度通信桶"),
    "unpacked": Text(en="weights unpacked for use", zh="使用时解包的权重"),
    "tied": Text(en="second gradient of the tied embedding", zh="共享 embedding 的第二份梯度"),
    "step": Text(en="temporaries of the update", zh="更新时的临时张量"),
    "engine": Text(en="vLLM", zh="vLLM"),
    "parameters": Text(en="parameters", zh="参数"),
    "working": Text(en="working memory", zh="临时内存"),
    "other": Text(en="other", zh="其他"),
    "processes": Text(en="processes", zh="进程本身"),
    "offloaded-optimizer": Text(en="offloaded optimizer states", zh="卸载的优化器状态"),
    "offloaded-weights": Text(en="offloaded weights", zh="卸载的权重"),
    "sleeping-engine": Text(en="vLLM asleep", zh="休眠的 vLLM"),
    "waiting-models": Text(en="models between their turns", zh="未轮到的模型"),
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
