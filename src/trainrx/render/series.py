"""What the steps of a job say, in a line: how memory grows, when it ends, who differs, why NaN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.model.facts import Scalar
from trainrx.model.result import Diagnosis
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import View

LABEL = Text(en="Steps", zh="各步")
GROWS = frozenset({"memory-grows", "seen-memory-grows", "seen-host-memory-grows"})
GROWTH: Mapping[str, Text] = {
    "linear": Text(en="memory rises evenly, step by step", zh="显存逐步匀速上涨"),
    "staircase": Text(
        en="memory rises with each longer sample and rests between",
        zh="显存随更长的样本上台阶，中间持平",
    ),
    "jump": Text(en="memory rose at once, late in the run", zh="显存在后期一次性上跳"),
    "fragmentation": Text(
        en="reserved memory grows away from what tensors use",
        zh="预留显存增长而张量占用不变（碎片）",
    ),
    "evaluation": Text(en="memory rises where evaluations begin", zh="显存在评估开始时上涨"),
}
PLAIN = frozenset({"staircase", "jump"})
"""Shapes that a job shows without being ill: they are said where memory is what failed."""
BY_STEP = Text(en="by {gib} GiB each", zh="每步 {gib} GiB")
BY_HOUR = Text(en="by {gib} GiB an hour", zh="每小时 {gib} GiB")
FULL_AT = Text(en="full about step {step} ({low}-{high})", zh="约第 {step} 步占满（{low}～{high}）")
FULL_IN = Text(en="full in about {hours} h", zh="约 {hours} 小时后占满")
HOST = Text(en="host memory rises evenly", zh="主机内存匀速上涨")
SPREAD = Text(
    en="GPU {highest} holds {gib} GiB more than GPU {lowest}{order}",
    zh="GPU {highest} 比 GPU {lowest} 多占 {gib} GiB{order}",
)
ORDER: Mapping[str, Text] = {
    "first": Text(en="the first stands out", zh="第一张卡突出"),
    "last": Text(en="the last stands out", zh="最后一张卡突出"),
    "one": Text(en="one stands out", zh="单卡突出"),
    "one-lower": Text(en="one holds less", zh="单卡偏少"),
    "falling": Text(en="falling from the first to the last", zh="从首卡到末卡递减"),
    "rising": Text(en="rising from the first to the last", zh="从首卡到末卡递增"),
    "two-groups": Text(en="two groups", zh="分成两组"),
    "scattered": Text(en="in no order", zh="没有规律"),
}
SLOW = Text(
    en="rank {rank} takes {factor} x as long for each step",
    zh="rank {rank} 每步耗时是其他的 {factor} 倍",
)
NAN: Mapping[str, Text] = {
    "overflow": Text(
        en="loss scaling skipped steps before the NaN", zh="NaN 之前 loss scale 已多次跳步"
    ),
    "gradient-rose": Text(en="grad_norm rose before the NaN", zh="NaN 之前 grad_norm 已上升"),
    "loss-rose": Text(en="the loss rose before the NaN", zh="NaN 之前 loss 已上升"),
    "rate-at-its-peak": Text(
        en="the NaN came at the highest learning rate", zh="NaN 出现在学习率达到最高时"
    ),
    "long-sample": Text(
        en="the longest completions so far came before the NaN",
        zh="NaN 之前出现了目前最长的 completion",
    ),
    "nothing": Text(en="nothing moved before the NaN", zh="NaN 之前各项指标没有异动"),
}


def series_line(answer: Diagnosis, view: View) -> doc.Node | None:
    """Say in a line what the steps show that is not as ever."""
    if answer.verdict == "healthy":
        return None
    said = view.say(words.LISTED).join(_sentences(answer, view))
    return doc.Labelled(view.say(LABEL), (said,), most=2) if said else None


def _sentences(answer: Diagnosis, view: View) -> Iterator[str]:
    facts, families = answer.facts, {seen.family for seen in answer.symptoms}
    failed_of_memory = bool(GROWS & {seen.id for seen in answer.symptoms}) or "oom" in families
    shape = str(facts.get("series.memory_trend", ""))
    if shape in GROWTH and (failed_of_memory or shape not in PLAIN):
        yield view.say(GROWTH[shape]) + _ahead(facts, "series.memory", view)
    if facts.get("series.host_memory_trend") == "linear":
        yield view.say(HOST) + _ahead(facts, "series.host_memory", view)
    order = facts.get("series.rank_pattern")
    if order in ORDER:
        yield view.say(
            SPREAD,
            highest=facts["series.rank_highest"],
            lowest=facts["series.rank_lowest"],
            gib=f"{facts['series.rank_spread_gib']:.1f}",
            order=view.paren(view.say(ORDER[str(order)])),
        )
    if "series.slowest_rank" in facts:
        rank, factor = facts["series.slowest_rank"], facts["series.slow_factor"]
        yield view.say(SLOW, rank=rank, factor=factor)
    before = str(facts.get("series.nan_after", ""))
    if before in NAN:
        yield view.say(NAN[before])


def _ahead(facts: Mapping[str, Scalar], name: str, view: View) -> str:
    """Say how fast it rises and when there is no more."""
    said: list[str] = []
    for unit, text in (("step", BY_STEP), ("hour", BY_HOUR)):
        rate = facts.get(f"{name}_gib_per_{unit}")
        if isinstance(rate, float):
            said.append(view.say(text, gib=f"{rate:.2g}"))
    if f"{name}_forecast_step" in facts:
        ends = {end: facts[f"{name}_forecast_{end}"] for end in ("step", "low", "high")}
        said.append(view.say(FULL_AT, **ends))
    elif f"{name}_forecast_hours" in facts:
        said.append(view.say(FULL_IN, hours=facts[f"{name}_forecast_hours"]))
    return view.paren(view.say(words.LISTED).join(said)) if said else ""
