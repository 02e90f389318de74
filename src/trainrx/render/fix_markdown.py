"""A proved change as Markdown for chats and issues: why it will do, then the patch in a fence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.fixing import FixAnswer, Proposal
from trainrx.model.planning import Standing
from trainrx.model.text import Lang, Text
from trainrx.render import fix_words as words
from trainrx.render.cause import percent
from trainrx.render.fix import brief, fix_lines_of
from trainrx.render.fix_says import (
    batch_text,
    checked_text,
    failed_text,
    memory_text,
    refusal_text,
    speed_text,
    still_lines,
    why_lines,
)
from trainrx.render.head import job_text
from trainrx.render.layout import clean
from trainrx.render.markdown import code, fence, prose
from trainrx.render.redact import masked
from trainrx.render.words import CAUSE, COLON, JOB, LIKELY, PAREN, SAFETY, WRITTEN_BY

MOST = 8


def to_markdown(answer: FixAnswer, lang: Lang) -> str:
    """Give the answer as Markdown; secrets are masked, texts of the job neutralised."""
    safe = masked(answer)
    chosen = next((item for item in safe.proposals if item.number == safe.chosen), None)
    lines = list(_head(safe, lang))
    lines += _still(safe.refused if chosen is None else chosen.refused, lang)
    if chosen is not None:
        lines += _proposal(chosen, lang)
    lines += _listed(words.OTHERS, [_other(p, lang) for p in safe.proposals if p != chosen], lang)
    lines += _listed(words.TRIED, [prose(failed_text(d, lang)) for d in safe.dropped[:MOST]], lang)
    lines += _listed(words.BY_HAND, [_hand(item, lang) for item in safe.manual[:MOST]], lang)
    tool = f"{safe.tool.name} {safe.tool.version}"
    return "\n".join([*lines, "", f"_{WRITTEN_BY.in_(lang).format(tool=tool)}_"]) + "\n"


def _head(answer: FixAnswer, lang: Lang) -> Iterator[str]:
    colon = COLON.in_(lang)
    said = prose(words.CLAIM[answer.verdict].in_(lang))
    yield f"**{words.VERDICT[answer.verdict].in_(lang)}**{colon}{said}"
    if answer.cause is not None:
        cause = answer.cause
        sure = f"{LIKELY[cause.verdict].in_(lang)} {percent(cause.probability)}"
        yield from (
            "",
            f"{CAUSE.in_(lang)}{colon}{prose(cause.title)}{PAREN.in_(lang).format(sure)}",
        )
    job = job_text(answer.job, lang)
    if job:
        yield from ("", f"{JOB.in_(lang)}{colon}{prose(job)}")
    if answer.no_plan is not None:
        yield from (
            "",
            f"{words.NO_PLAN.in_(lang)}{colon}{prose(refusal_text(answer.no_plan, lang))}",
        )


def _still(refused: Sequence[Standing], lang: Lang) -> Iterator[str]:
    title = f"**{words.STILL.in_(lang)}**{COLON.in_(lang)}"
    yield from (line for text in still_lines(refused, lang) for line in ("", title + prose(text)))


def _proposal(item: Proposal, lang: Lang) -> Iterator[str]:
    colon = COLON.in_(lang)
    title = words.PLAN.in_(lang).format(n=item.number)
    yield from ("", f"**{title}**{colon}{prose(item.title)} · {SAFETY[item.safety].in_(lang)}", "")
    said = (
        (words.MEMORY, memory_text(item, lang)),
        (words.BATCH, batch_text(item, lang)),
        (words.SPEED, speed_text(item, lang)),
        (words.COST, item.cost),
        (words.CHECKED, checked_text(item.checks, lang)),
    )
    yield from (f"- {label.in_(lang)}{colon}{prose(text)}" for label, text in said if text)
    yield from (f"- {words.WHY.in_(lang)}{colon}{prose(text)}" for text in why_lines(item, lang))
    lines = [f"{need.command}  # {words.IF_MISSING.in_(lang)}" for need in item.needs]
    lines += item.commands if item.kind == "plan" else ()
    if lines:
        yield from ("", *fence([clean(line) for line in lines], "bash"))
    if item.diff:
        # a patch is shown byte for byte: a fence holds it, and clean() would change it
        yield from ("", *fence(item.diff.rstrip("\n").split("\n"), "diff"))
    elif item.commands:
        yield from ("", *fence([clean(line) for line in item.commands], "bash"))


def _other(item: Proposal, lang: Lang) -> str:
    return f"{code(words.OTHER.in_(lang).format(n=item.number))} {prose(brief(item, lang))}"


def _hand(item: Proposal, lang: Lang) -> str:
    lines = " ".join(code(line.text) for line in fix_lines_of(item, lang))
    return " ".join(part for part in (prose(item.title), lines) if part)


def _listed(title: Text, texts: Sequence[str], lang: Lang) -> Iterator[str]:
    if texts:
        yield from ("", f"**{title.in_(lang)}**", "")
    yield from (f"- {text}" for text in texts)
