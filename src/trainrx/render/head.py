"""The head of an answer: verdict, cause, first fix, job; what a tired reader sees first."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.model.result import Ask, Diagnosis, JobSummary
from trainrx.model.text import Lang, Text
from trainrx.render import words
from trainrx.render.cause import percent
from trainrx.render.fixes import first_fix, fix_lines
from trainrx.render.layout import Line, StyledText, cells, clean, pad, wrap
from trainrx.render.page import View, prose, to_copy

STYLE_OF = {"diagnosed": "bad", "suspected": "doubt", "unknown": "doubt", "healthy": "good"}
MAX_HEAD_FIXES = 3


def job_text(job: JobSummary, lang: Lang) -> str:
    """Say in one line what is known of the job."""
    framework = " ".join(part for part in (job.framework, job.framework_version) if part)
    cards = (f"{job.gpus} x {job.gpu}" if job.gpu else f"{job.gpus} GPU") if job.gpus else job.gpu
    nodes = ""
    if job.nodes is not None:
        nodes = words.ONE_NODE.in_(lang) if job.nodes == 1 else words.NODES.in_(lang)
    parts = (framework, job.task, job.model, cards, nodes.format(n=job.nodes))
    return clean(" · ".join(part for part in parts if part))


def checked(diagnosis: Diagnosis, lang: Lang) -> tuple[str, ...]:
    """Say what a healthy verdict rests on, and what it does not cover."""
    facts = diagnosis.facts
    settings = sum(name.split(".")[0] in _SETTINGS for name in facts)
    parts = [words.COUNT_SETTINGS.in_(lang).format(n=settings)] if settings else []
    has_log = facts.get("log.given") is True or bool(diagnosis.symptoms)
    if has_log:
        parts.append(words.COUNT_SIGNS.in_(lang))
    parts.append(words.KNOWLEDGE.in_(lang).format(version=diagnosis.tool.kb))
    limits: list[Text] = []
    if not has_log:
        limits.append(words.HEALTHY_LAUNCH_ONLY)
    elif facts.get("log.finished") is not True:
        limits.append(words.HEALTHY_UNFINISHED)
    if facts.get("launch.given") is False:
        limits.append(words.HEALTHY_LOG_ONLY)
    return (words.LISTED.in_(lang).join(parts), *(text.in_(lang) for text in limits))


_LABELS = (words.CAUSE, words.FIX, words.JOB, words.NEXT, words.SEEN, words.CHECKED)
_SETTINGS = frozenset(
    ("train", "tuner", "freeze", "vision", "parallel", "rlhf", "vllm", "model", "nccl", "alloc")
)


def head(diagnosis: Diagnosis, view: View) -> Iterator[Line]:
    """Show verdict, cause and first fix within five lines, then the job."""
    lang, best = view.lang, diagnosis.causes[0] if diagnosis.causes else None
    verdict = StyledText(words.VERDICT[diagnosis.verdict].in_(lang), STYLE_OF[diagnosis.verdict])
    claim = ""
    if diagnosis.verdict == "unknown":
        claim = words.UNKNOWN_CLAIM.in_(lang)
    elif diagnosis.verdict == "healthy":
        claim = words.HEALTHY_CLAIM.in_(lang)
    elif best is not None:
        sure = f"{words.LIKELY[best.verdict].in_(lang)} {percent(best.probability)}"
        claim = f"{words.FAMILY[best.family].in_(lang)}{words.COMMA.in_(lang)}{sure}"
    elif diagnosis.findings:
        claim = diagnosis.findings[0].message
    yield from prose(view, claim, lead=StyledText(verdict.text + "  ", verdict.style))
    if diagnosis.verdict == "healthy":
        for index, text in enumerate(checked(diagnosis, lang)):
            yield from _labelled(view, words.WARNINGS if index else words.CHECKED, text)
    elif diagnosis.verdict == "unknown":
        yield from _unknown(diagnosis, view)
    elif best is not None:
        yield from _labelled(view, words.CAUSE, best.title, most=2)
        yield from _first_fix(diagnosis, view)
    job = job_text(diagnosis.job, lang)
    if job:
        yield from _labelled(view, words.JOB, job, style="dim")


def _first_fix(diagnosis: Diagnosis, view: View) -> Iterator[Line]:
    best = first_fix(diagnosis)
    if best is None:
        yield from _labelled(view, words.FIX, words.NO_FIX.in_(view.lang))
        return
    fix = best[1]
    lines = fix_lines(fix, view.lang)
    if not lines:
        yield from _labelled(view, words.FIX, fix.steps.split("\n")[0] or fix.title, most=2)
        return
    label = _label(view, words.FIX)
    for index, line in enumerate(to_copy(view, lines[:MAX_HEAD_FIXES], cells(label))):
        yield (StyledText(label, "head"), *line[1:]) if index == 0 else line


def _unknown(diagnosis: Diagnosis, view: View) -> Iterator[Line]:
    seen = next((item for item in diagnosis.symptoms if item.echo_of is None), None)
    if seen is not None:
        where = f" - {clean(str(seen.evidence[0]))}" if seen.evidence else ""
        yield from _labelled(view, words.SEEN, seen.title + where, most=2)
    if diagnosis.asks:
        ask = diagnosis.asks[0]
        yield from _labelled(view, words.NEXT, question(ask, view.lang), most=2)
        return
    yield from _labelled(view, words.NEXT, words.COLLECT.in_(view.lang))
    yield (
        StyledText(" " * cells(_label(view, words.NEXT))),
        StyledText(words.COLLECT_COMMAND, "fix"),
    )


def _label(view: View, label: Text) -> str:
    most = max(cells(word.in_(view.lang)) for word in _LABELS)
    return pad(label.in_(view.lang), most) + "  "


def _labelled(
    view: View, label: Text, text: str, *, most: int = 9, style: str = ""
) -> Iterator[Line]:
    """Show a text beside its label, in at most so many lines."""
    lead = _label(view, label)
    room = view.width - cells(lead)
    parts = wrap(clean(text), room)
    if len(parts) > most:
        parts = [*parts[: most - 1], *_ellipsis(parts[most - 1], room)]
    for index, part in enumerate(parts):
        yield (
            StyledText(lead if index == 0 else " " * cells(lead), "head"),
            StyledText(part, style),
        )


def _ellipsis(text: str, room: int) -> Iterator[str]:
    while cells(text) > room - 3:
        text = text[:-1]
    yield text.rstrip() + "..."


def question(ask: Ask, lang: Lang) -> str:
    """Say in one line what is asked and how to find it out."""
    if not ask.how:
        return ask.what
    ended = ask.what.endswith((".", "?", "!", "。", "？", "！"))
    joint = words.SPACE.in_(lang) if ended else words.COLON.in_(lang)
    return ask.what + joint + ask.how
