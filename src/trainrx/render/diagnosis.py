"""A diagnosis as a document: verdict, cause and fix first, questions last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.result import (
    Ask,
    CauseOut,
    Diagnosis,
    FixOut,
    JobSummary,
    SymptomSeen,
    Verdict,
)
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import candidate, fix_lines, percent, ranks_text, sure, titles
from trainrx.render.document import CopyLine, Document, View, children
from trainrx.render.layout import Styled, clean

MAX_CAUSES = 3
MAX_SYMPTOMS = 5
MAX_UNREAD = 5
MAX_UNREAD_POSTED = 10
MAX_HEAD_FIXES = 3
MAX_TITLE = 110
STYLE_OF: dict[Verdict, str] = {
    "diagnosed": "bad",
    "suspected": "doubt",
    "unknown": "doubt",
    "healthy": "good",
    "will_fail": "bad",
    "will_not_fit": "bad",
    "at_risk": "doubt",
    "no_problem_foreseen": "good",
}
_LABELS = (words.CAUSE, words.FIX, words.JOB, words.NEXT, words.SEEN, words.CHECKED)
_SETTINGS = frozenset(
    ("train", "tuner", "freeze", "vision", "parallel", "rlhf", "vllm", "model", "nccl", "alloc")
)


def document(answer: Diagnosis, view: View) -> Document:
    """Lay the whole answer out."""
    names = titles(answer)
    shown = view.first(answer.causes, MAX_CAUSES)
    return Document(
        children(
            *_head(answer, view),
            [candidate(cause, number, names, view) for number, cause in enumerate(shown, start=1)],
            _further(answer.causes[len(shown) :], view),
            doc.Section(view.say(words.FINDINGS), tuple(_findings(answer, view))),
            _symptoms(answer, view),
            _unread(answer, view),
            doc.Section(
                view.say(words.WARNINGS), tuple(doc.Bullet(text) for text in answer.warnings)
            ),
            _asks(answer, view),
        ),
        tuple(view.say(label) for label in _LABELS),
        f"{answer.tool.name} {answer.tool.version}",
        reminder=children(_reminder(answer, view)),
    )


def _reminder(answer: Diagnosis, view: View) -> doc.Node | None:
    """Repeat the first fix."""
    best = _first_fix(answer)
    if best is None:
        return None
    lead = Styled(view.labelled(words.START_WITH, ""), "strong")
    return doc.Paragraph(one_line(best, view), lead, "fix", gap=True, whole=True)


def one_line(fix: FixOut, view: View) -> str:
    """Say a fix in one line: its spelled changes, else its first command, else its title."""
    lines = fix_lines(fix, view)
    if lines:
        return " ".join(line.text for line in lines) if fix.changes else lines[0].text
    return clean(fix.title)


def job_text(job: JobSummary, view: View) -> str:
    """Say in one line what is known of the job."""
    framework = " ".join(part for part in (job.framework, job.framework_version) if part)
    cards = (f"{job.gpus} x {job.gpu}" if job.gpu else f"{job.gpus} GPU") if job.gpus else job.gpu
    nodes = ""
    if job.nodes is not None:
        nodes = view.say(words.ONE_NODE if job.nodes == 1 else words.NODES, n=job.nodes)
    parts = (framework, job.task, job.model, cards, nodes)
    return clean(" · ".join(part for part in parts if part))


def unread_at(source: str, line: int | None) -> str:
    """Name the place of something that could not be used."""
    return source if line is None else f"{source}:{line}"


def checked(answer: Diagnosis, view: View) -> tuple[str, ...]:
    """Say what a healthy verdict rests on, and what it does not cover."""
    facts = answer.facts
    settings = sum(name.split(".")[0] in _SETTINGS for name in facts)
    parts = [view.say(words.COUNT_SETTINGS, n=settings)] if settings else []
    has_log = facts.get("log.given") is True or bool(answer.symptoms)
    if has_log:
        parts.append(view.say(words.COUNT_SIGNS))
    parts.append(view.say(words.KNOWLEDGE, version=answer.tool.kb))
    limits: list[Text] = []
    if not has_log:
        limits.append(words.HEALTHY_LAUNCH_ONLY)
    elif facts.get("log.finished") is not True:
        limits.append(words.HEALTHY_UNFINISHED)
    if facts.get("launch.given") is False:
        limits.append(words.HEALTHY_LOG_ONLY)
    return (view.say(words.LISTED).join(parts), *(view.say(text) for text in limits))


def question(ask: Ask, view: View) -> str:
    """Say in one line what is asked and how to find it out."""
    if not ask.how:
        return ask.what
    ended = ask.what.endswith((".", "?", "!", "。", "？", "！"))
    return ask.what + view.say(words.SPACE if ended else words.COLON) + ask.how


def _head(answer: Diagnosis, view: View) -> Iterator[doc.Node]:
    """Say verdict, cause and first fix, which a terminal shows within five lines; then the job."""
    best = answer.causes[0] if answer.causes else None
    word = words.MD_TITLE if view.post else words.VERDICT
    claim, aside = _claim(answer, best, view)
    yield doc.Headline(view.say(word[answer.verdict]), STYLE_OF[answer.verdict], claim, aside)
    if answer.verdict == "healthy":
        yield from _rests_on(answer, view)
    elif answer.verdict == "unknown":
        yield from _next(answer, view)
    elif best is not None and view.post:
        yield from _posted_fix(answer, view)
    elif best is not None:
        yield doc.Labelled(view.say(words.CAUSE), (best.title,), most=2)
        yield _shown_fix(answer, view)
    job = job_text(answer.job, view)
    if job:
        yield doc.Labelled(view.say(words.JOB), (job,), style="dim")


def _claim(answer: Diagnosis, best: CauseOut | None, view: View) -> tuple[str, str]:
    """Give what the headline claims, and the aside on how sure that is."""
    if answer.verdict == "unknown":
        return view.say(words.UNKNOWN_CLAIM), ""
    if answer.verdict == "healthy":
        return view.say(words.HEALTHY_CLAIM), ""
    if best is not None and view.post:
        return short(best.title, MAX_TITLE), sure(best, view)
    if best is not None:
        family = view.say(words.FAMILY[best.family])
        return f"{family}{view.say(words.COMMA)}{sure(best, view)}", ""
    return "" if view.post or not answer.findings else answer.findings[0].message, ""


def short(text: str, limit: int) -> str:
    """Cut a text to so many characters."""
    text = clean(text)
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."


def _rests_on(answer: Diagnosis, view: View) -> Iterator[doc.Node]:
    for index, text in enumerate(checked(answer, view)):
        label = view.say(words.WARNINGS if index else words.CHECKED)
        yield doc.Bullet(text) if view.post else doc.Labelled(label, (text,))


def _first_fix(answer: Diagnosis) -> FixOut | None:
    return answer.causes[0].fixes[0] if answer.causes and answer.causes[0].fixes else None


def _posted_fix(answer: Diagnosis, view: View) -> Iterator[doc.Node]:
    fix = _first_fix(answer)
    if fix is not None:
        text = short(one_line(fix, view), MAX_TITLE)
        label = view.say(words.FIRST_FIX)
        if fix_lines(fix, view):
            yield doc.Labelled(label, (text,), strong=True, style="fix")
        else:
            yield doc.Labelled(label, (text,), strong=True)


def _shown_fix(answer: Diagnosis, view: View) -> doc.Labelled:
    label, fix = view.say(words.FIX), _first_fix(answer)
    if fix is None:
        return doc.Labelled(label, (view.say(words.NO_FIX),))
    lines = fix_lines(fix, view)
    if lines:
        return doc.Labelled(label, lines=lines[:MAX_HEAD_FIXES])
    return doc.Labelled(label, (fix.steps.split("\n")[0] or fix.title,), most=2)


def _next(answer: Diagnosis, view: View) -> Iterator[doc.Node]:
    """Say what was seen of a failure nobody can name, and what to find out."""
    seen = next((item for item in answer.symptoms if item.echo_of is None), None)
    if seen is not None and not view.post:
        where = f" - {clean(str(seen.evidence[0]))}" if seen.evidence else ""
        yield doc.Labelled(view.say(words.SEEN), (seen.title + where,), most=2)
    label = view.say(words.NEXT)
    if answer.asks:
        yield doc.Labelled(label, (question(answer.asks[0], view),), most=2, strong=True)
        return
    command = (CopyLine(words.COLLECT_COMMAND),)
    yield doc.Labelled(label, (view.say(words.COLLECT),), command, strong=True)


def _further(causes: tuple[CauseOut, ...], view: View) -> doc.Node | None:
    """Name the causes that are not laid out."""
    if not causes:
        return None
    named = view.say(words.LISTED).join(
        cause.title + view.paren(percent(cause.probability)) for cause in causes
    )
    return doc.Paragraph(named, Styled(view.labelled(words.FURTHER, ""), "head"), gap=True)


def _findings(answer: Diagnosis, view: View) -> Iterator[doc.Node]:
    for finding in answer.findings:
        said = view.labelled(words.SEVERITY[finding.severity], finding.message)
        edits = finding.fix.edits if finding.fix else ()
        lines = tuple(CopyLine(clean(line)) for edit in edits for line in edit.text.splitlines())
        code = (doc.Code(lines),) if lines else ()
        at = unread_at(finding.file, finding.line)
        yield doc.Bullet(said, at=at, joint="  ", children=code)


def _symptoms(answer: Diagnosis, view: View) -> doc.Section:
    names = {item.id: item.title for item in answer.symptoms}
    shown = view.first(answer.symptoms, MAX_SYMPTOMS)
    items = [
        doc.Bullet(
            item.title + _details(item, names, view),
            evidence=item.evidence if view.everything else item.evidence[:1],
        )
        for item in shown
    ]
    rest = len(answer.symptoms) - len(shown)
    return doc.Section(view.say(words.SYMPTOMS), children(items, doc.More(rest) if rest else None))


def _details(item: SymptomSeen, names: dict[str, str], view: View) -> str:
    """Say how often, on which ranks, in which stage, and whether it only follows."""
    parts: list[str] = []
    if not view.post:
        parts += [view.say(words.TIMES, n=item.count)] if item.count > 1 else []
        parts += [ranks_text(item.ranks, view)] if item.ranks else []
        parts += [words.phase(item.phase, view.lang)] if item.phase else []
    if item.echo_of:
        root = names.get(item.echo_of, item.echo_of)
        parts.append(view.say(words.FOLLOWS, what=root))
    return view.paren(view.say(words.COMMA).join(parts))


def unread_section(unread: Sequence[Unread], view: View, *, quoted: bool = False) -> doc.Section:
    """List what could not be used, with the lines it stands on where they are `quoted`."""
    items = [
        doc.Bullet(
            item.reason,
            at=(at := unread_at(item.source, item.line)),
            joint=view.say(words.COLON),
            evidence=(Origin(source=at, text=item.text),) if item.text and quoted else (),
        )
        for item in unread
    ]
    return doc.Section(view.say(words.UNREAD), tuple(items))


def _unread(answer: Diagnosis, view: View) -> doc.Section:
    limit = MAX_UNREAD_POSTED if view.post else MAX_UNREAD
    shown = answer.unread if view.everything else answer.unread[:limit]
    section = unread_section(shown, view, quoted=not view.post)
    rest = len(answer.unread) - len(shown)
    return doc.Section(section.title, children(section.children, doc.More(rest) if rest else None))


def _asks(answer: Diagnosis, view: View) -> doc.Section:
    title = words.ASKS_UNKNOWN if answer.verdict == "unknown" else words.ASKS
    names, items = titles(answer), []
    for ask in answer.asks:
        if view.post:
            items.append(doc.Bullet(question(ask, view)))
            continue
        causes = view.say(words.OR_ELSE).join(names.get(one, one) for one in ask.splits)
        splits = doc.Paragraph(view.say(words.SPLITS, causes=causes)) if ask.splits else None
        how = doc.Paragraph(ask.how) if ask.how else None
        items.append(doc.Bullet(ask.what, "?", children=children(splits, how)))
    return doc.Section(view.say(title), tuple(items))
