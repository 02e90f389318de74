"""What a proposal costs, in words: the result, the batch, the time of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.model.fixing import Proposal
from trainrx.model.text import Lang, Text

QUALITY: Mapping[int, Text] = {
    0: Text(en="the same result", zh="训练结果不变"),
    1: Text(en="close to the same result", zh="与原来的结果相近"),
    2: Text(en="another result: compare before you trust it", zh="结果会不同：请先对比再采用"),
    3: Text(en="another model or other data is trained", zh="相当于训练另一个模型或另一份数据"),
}
BATCH_OTHER = Text(
    en="effective batch {before} -> {after}: adapt the learning rate, or keep it by accumulation",
    zh="等效 batch {before} -> {after}：请调整学习率，或用梯度累积保持不变",
)
SPEED_SAYS = Text(
    en="a step takes {low} to {high} times as long", zh="每步耗时为原来的 {low}～{high} 倍"
)
SPEED_SAME = Text(en="a step takes as long as before", zh="每步耗时不变")
AND = Text(en="; ", zh="；")


def price(item: Proposal, lang: Lang) -> str:
    """Say in a line what a proposal costs; "" where nothing is known of it."""
    *before, last = [text for text in _terms(item, lang) if text] or [""]
    return AND.in_(lang).join((*(text.rstrip(".。") for text in before), last))


def _terms(item: Proposal, lang: Lang) -> Iterator[str]:
    yield item.cost
    # that the result is another one is what the class of a proposal says, in front of its price
    if item.kind == "plan" and (item.quality > 1 or item.safety == "safe"):
        yield QUALITY[item.quality].in_(lang)
    before, after = item.batch.before, item.batch.after
    if None not in (before, after) and before != after:
        yield BATCH_OTHER.in_(lang).format(before=before, after=after)
    if item.slowdown is not None:
        yield speed(item.slowdown, lang)


def speed(factors: tuple[float, float], lang: Lang) -> str:
    """Say how much longer a step takes."""
    low, high = factors
    if low == high == 1.0:
        return SPEED_SAME.in_(lang)
    return SPEED_SAYS.in_(lang).format(low=f"{low:g}", high=f"{high:g}")
