"""One table: a configuration that works on each hardware."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.model.memory import Figure
from trainrx.model.planning import OnHardware, PlanAnswer, Planned
from trainrx.model.text import Lang
from trainrx.render import plan_words as words
from trainrx.render.document import View
from trainrx.render.fix_says import refusal_text, still_lines
from trainrx.render.fixes import FixLine
from trainrx.render.head import job_text
from trainrx.render.inspect import unread_lines
from trainrx.render.layout import Line, StyledText, cells, clean, cut, pad
from trainrx.render.markdown import code
from trainrx.render.markdown import prose as md_prose
from trainrx.render.page import prose, to_copy
from trainrx.render.redact import masked
from trainrx.render.words import COLON, COMMA, JOB, PAREN, SAFETY, WRITTEN_BY

BLANK: Line = ()
WIDEST = 24
MOST_UNREAD = 5


def plan_page(answer: PlanAnswer, view: View) -> list[Line]:
    """Lay the table out, a row for each hardware with its changes below."""
    lang = view.lang
    lines: list[Line] = [(StyledText(words.TITLE.in_(lang), "head"),)]
    job = job_text(answer.job, lang)
    if job:
        lines += prose(view, job, lead=StyledText(f"{JOB.in_(lang)}  ", "head"), style="dim")
    column = min(WIDEST, max(cells(hardware(row)) for row in answer.hardware)) + 2
    for row in answer.hardware:
        lines += (BLANK, *_row(row, view, column))
    lines += unread_lines(answer.unread[:MOST_UNREAD], view)
    if any(row.verdict == "plans" for row in answer.hardware):
        lines += (BLANK, *prose(view, words.NEXT.in_(lang), style="dim"))
    return lines


def to_markdown(answer: PlanAnswer, lang: Lang) -> str:
    """Give the table as Markdown; secrets are masked, texts of the job neutralised."""
    safe, colon = masked(answer), COLON.in_(lang)
    lines = [f"**{words.TITLE.in_(lang)}**", ""]
    if job := job_text(safe.job, lang):
        lines += [md_prose(job), ""]
    for row in safe.hardware:
        said = COMMA.in_(lang).join(_facts(row, lang))
        lines.append(f"- **{md_prose(hardware(row))}**{colon}{md_prose(said)}")
        if row.plans:
            lines += (f"  - {code(change.spelled)}" for change in row.plans[0].changes)
        lines += (f"  - {md_prose(text)}" for text in _below(row, lang))
    tool = f"{safe.tool.name} {safe.tool.version}"
    return "\n".join([*lines, "", f"_{WRITTEN_BY.in_(lang).format(tool=tool)}_"]) + "\n"


def hardware(row: OnHardware) -> str:
    """Name a hardware: how many of which card."""
    name = clean(row.name) or (f"{row.gib:.0f}GiB" if row.gib is not None else "GPU")
    return f"{row.gpus} x {name}" if row.gpus else name


def _row(row: OnHardware, view: View, column: int) -> Iterator[Line]:
    lang = view.lang
    verdict, *more = _facts(row, lang)
    name = pad(cut(hardware(row), column - 2), column)
    first = (StyledText(name, "strong"), StyledText(verdict, words.STYLE_OF[row.verdict]))
    rest = COMMA.in_(lang).join(more)
    if rest and column + cells(verdict) + 2 + cells(rest) <= view.width:
        yield (*first, StyledText(f"  {rest}"))
    else:
        yield first
        if rest:
            yield from prose(view, rest, indent=column)
    if row.plans:
        changes = row.plans[0].changes
        lines = (FixLine(clean(change.spelled), _was(change.from_, lang)) for change in changes)
        yield from to_copy(view, lines, column)
    for text in _below(row, lang):
        yield from prose(view, text, indent=column, style="dim")


def _was(present: str | None, lang: Lang) -> str:
    return "" if present is None else words.WAS.in_(lang).format(value=clean(present))


def _facts(row: OnHardware, lang: Lang) -> list[str]:
    """Say the verdict and the peak it comes to."""
    said = [words.VERDICT[row.verdict].in_(lang)]
    figure = row.plans[0].after if row.plans else row.before
    if figure is None:
        return said
    said.append(_peak(figure, row.gib, lang))
    if row.verdict in ("fits", "plans") and row.gib is not None and figure.high > row.gib:
        said.append(words.TIGHT.in_(lang))
    return said


def _peak(figure: Figure, size: float | None, lang: Lang) -> str:
    between = words.RANGE.in_(lang).format(low=f"{figure.low:.1f}", high=f"{figure.high:.1f}")
    card = f" / {size:.1f}" if size is not None else ""
    return f"{figure.gib:.1f}{card} GiB" + PAREN.in_(lang).format(between)


def _below(row: OnHardware, lang: Lang) -> Iterator[str]:
    if row.plans:
        yield COMMA.in_(lang).join(_price(row.plans[0], lang))
        yield from still_lines(row.plans[0].refused, lang)
    if row.verdict == "none":
        yield _least(row, lang)
    elif row.refusal is not None:
        yield refusal_text(row.refusal, lang)


def _price(plan: Planned, lang: Lang) -> Iterator[str]:
    yield SAFETY[plan.safety].in_(lang)
    low, high = plan.slowdown
    if (low, high) != (1.0, 1.0):
        yield words.SLOWER.in_(lang).format(low=f"{low:g}", high=f"{high:g}")
    if plan.batch_after is not None:
        same = plan.batch_before in (None, plan.batch_after)
        said = words.BATCH if same else words.BATCH_OTHER
        yield said.in_(lang).format(
            n=plan.batch_after, before=plan.batch_before, after=plan.batch_after
        )


def _least(row: OnHardware, lang: Lang) -> str:
    """Name the least hardware of each kind: more of these cards, or as many larger ones."""
    ways = []
    if row.fewest is not None:
        ways.append(f"{row.fewest} x {clean(row.name) or 'GPU'}")
    if row.smallest is not None:
        ways.append(f"{row.gpus or 1} x {row.smallest:.0f}GiB")
    if not ways:
        return words.NO_LEAST.in_(lang)
    return words.LEAST.in_(lang).format(least=words.OR.in_(lang).join(ways))
