"""A configuration that works on each hardware, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.model.memory import Figure
from trainrx.model.planning import OnHardware, PlanAnswer, Planned
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render.document import CopyLine, Document, View, children
from trainrx.render.fix_words import refusal_text, still_lines
from trainrx.render.inputs import job_text, unread_section
from trainrx.render.words import COMMA, JOB, SAFETY, SLOWER
from trainrx.sanitizer.controls import clean

VERDICT: Mapping[str, Text] = {
    "fits": Text(en="fits as it is", zh="无需修改即可运行"),
    "plans": Text(en="with changes", zh="修改后可运行"),
    "none": Text(en="no configuration", zh="没有可行配置"),
    "unknown": Text(en="unknown", zh="无法判断"),
}
TIGHT = Text(en="rather tight", zh="余量偏紧")
STYLE_OF: Mapping[str, str] = {
    "fits": "good",
    "plans": "doubt",
    "none": "bad",
    "unknown": "doubt",
}
TITLE = Text(en="A working configuration per hardware", zh="各种硬件上的可行配置")
WAS = Text(en="was {value}", zh="原为 {value}")
LEAST = Text(en="least hardware: {least}", zh="最低硬件：{least}")
OR = Text(en=" or ", zh=" 或 ")
NO_LEAST = Text(
    en="no number or size of cards that was tried is enough", zh="试过的卡数和显存都不够"
)
RANGE = Text(en="between {low} and {high}", zh="区间 {low}～{high}")
BATCH = Text(en="effective batch {n}", zh="等效 batch {n}")
BATCH_OTHER = Text(en="effective batch {before} -> {after}", zh="等效 batch {before} -> {after}")
NEXT = Text(
    en="`diagnose fix FILE --gpu NAME --gpus N` writes the changes for the machine the job has.",
    zh="`diagnose fix FILE --gpu NAME --gpus N` 会针对任务现有的机器生成修改。",
)
MOST_UNREAD = 5


def document(answer: PlanAnswer, view: View) -> Document:
    """Lay the answer out, a case for each hardware with its changes below."""
    job, label = job_text(answer.job, view), view.say(JOB)
    works = any(row.verdict == "plans" for row in answer.hardware) and not view.post
    return Document(
        children(
            doc.Headline(view.say(TITLE), "head"),
            doc.Labelled(label, (job,), style="dim") if job else None,
            doc.Cases(tuple(_case(row, view) for row in answer.hardware)),
            None if view.post else unread_section(answer.unread[:MOST_UNREAD], view),
            doc.Paragraph(view.say(NEXT), style="dim", gap=True) if works else None,
        ),
        (label,),
        f"{answer.tool.name} {answer.tool.version}",
        short=True,
    )


def hardware(row: OnHardware) -> str:
    """Name a hardware: how many of which card."""
    name = clean(row.name) or (f"{row.gib:.0f}GiB" if row.gib is not None else "GPU")
    return f"{row.gpus} x {name}" if row.gpus else name


def _case(row: OnHardware, view: View) -> doc.Case:
    verdict, *more = _facts(row, view)
    changes = row.plans[0].changes if row.plans else ()
    lines = tuple(CopyLine(clean(one.spelled), _was(one.from_, view)) for one in changes)
    below = tuple(doc.Paragraph(text, style="dim") for text in _below(row, view))
    return doc.Case(
        hardware(row),
        verdict,
        STYLE_OF[row.verdict],
        view.say(COMMA).join(more),
        lines,
        below,
    )


def _was(present: str | None, view: View) -> str:
    return "" if present is None else view.say(WAS, value=clean(present))


def _facts(row: OnHardware, view: View) -> list[str]:
    """Say the verdict and the peak it comes to."""
    said = [view.say(VERDICT[row.verdict])]
    figure = row.plans[0].after if row.plans else row.before
    if figure is None:
        return said
    said.append(_peak(figure, row.gib, view))
    if row.verdict in ("fits", "plans") and row.gib is not None and figure.high > row.gib:
        said.append(view.say(TIGHT))
    return said


def _peak(figure: Figure, size: float | None, view: View) -> str:
    between = view.say(RANGE, low=f"{figure.low:.1f}", high=f"{figure.high:.1f}")
    card = f" / {size:.1f}" if size is not None else ""
    return f"{figure.gib:.1f}{card} GiB" + view.paren(between)


def _below(row: OnHardware, view: View) -> Iterator[str]:
    if row.plans:
        yield view.say(COMMA).join(_price(row.plans[0], view))
        yield from still_lines(row.plans[0].refused, view)
    if row.verdict == "none":
        yield _least(row, view)
    elif row.refusal is not None:
        yield refusal_text(row.refusal, view)


def _price(plan: Planned, view: View) -> Iterator[str]:
    yield view.say(SAFETY[plan.safety])
    low, high = plan.slowdown
    if (low, high) != (1.0, 1.0):
        yield view.say(SLOWER, low=f"{low:g}", high=f"{high:g}")
    if plan.batch_after is not None:
        same = plan.batch_before in (None, plan.batch_after)
        said = BATCH if same else BATCH_OTHER
        before, after = plan.batch_before, plan.batch_after
        yield view.say(said, n=after, before=before, after=after)


def _least(row: OnHardware, view: View) -> str:
    """Name the least hardware of each kind: more of these cards, or as many larger ones."""
    ways = []
    if row.fewest is not None:
        ways.append(f"{row.fewest} x {clean(row.name) or 'GPU'}")
    if row.smallest is not None:
        ways.append(f"{row.gpus or 1} x {row.smallest:.0f}GiB")
    if not ways:
        return view.say(NO_LEAST)
    return view.say(LEAST, least=view.say(OR).join(ways))
