"""The answer on a terminal: verdict, cause and fix first, questions last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.facts import Origin
from trainrx.model.findings import Finding
from trainrx.model.result import CauseOut, Diagnosis, SymptomSeen
from trainrx.model.text import Lang
from trainrx.render import words
from trainrx.render.cause import cause_lines, percent
from trainrx.render.fixes import first_fix, names, one_line
from trainrx.render.head import head
from trainrx.render.layout import Line, StyledText, clean
from trainrx.render.page import View, heading, limited, prose, quotes

MAX_CAUSES = 3
MAX_SYMPTOMS = 5
MAX_UNREAD = 5
BLANK: Line = ()


def page(diagnosis: Diagnosis, view: View) -> list[Line]:
    """Lay the whole answer out."""
    titles = names(diagnosis)
    quoted: set[Origin] = set()
    lines = list(head(diagnosis, view))
    shown = limited(view, len(diagnosis.causes), MAX_CAUSES)
    for number, cause in enumerate(diagnosis.causes[:shown], start=1):
        lines += (BLANK, *cause_lines(view, cause, number, titles, quoted))
    lines += _further(diagnosis.causes[shown:], view)
    lines += _findings(diagnosis, view)
    lines += _symptoms(diagnosis, view, quoted)
    for part in (_unread, _warnings, _asks):
        lines += part(diagnosis, view)
    return lines


def reminder(diagnosis: Diagnosis, view: View) -> list[Line]:
    """Repeat the first fix, for a terminal where the head has scrolled away."""
    best = first_fix(diagnosis)
    if best is None:
        return []
    label = words.START_WITH.in_(view.lang) + words.COLON.in_(view.lang)
    return [BLANK, (StyledText(label, "strong"), StyledText(one_line(best[1], view.lang), "fix"))]


def _further(causes: Sequence[CauseOut], view: View) -> Iterator[Line]:
    """Name the causes that are not laid out."""
    if not causes:
        return
    named = words.LISTED.in_(view.lang).join(
        f"{cause.title}{words.PAREN.in_(view.lang).format(percent(cause.probability))}"
        for cause in causes
    )
    yield BLANK
    label = words.FURTHER.in_(view.lang) + words.COLON.in_(view.lang)
    yield from prose(view, named, lead=StyledText(label, "head"))


def _symptoms(diagnosis: Diagnosis, view: View, quoted: set[Origin]) -> Iterator[Line]:
    if not diagnosis.symptoms:
        return
    yield BLANK
    yield heading(words.SYMPTOMS.in_(view.lang), 0)
    titles = {item.id: item.title for item in diagnosis.symptoms}
    shown = limited(view, len(diagnosis.symptoms), MAX_SYMPTOMS)
    for item in diagnosis.symptoms[:shown]:
        text = item.title + _details(item, titles, view.lang)
        yield from prose(view, text, indent=2)
        evidence = item.evidence if view.everything else item.evidence[:1]
        yield from quotes(view, evidence, 4, quoted)
    yield from _rest(view, len(diagnosis.symptoms) - shown)


def _details(item: SymptomSeen, titles: dict[str, str], lang: Lang) -> str:
    """Say how often, on which ranks, in which stage, and whether it only follows."""
    parts: list[str] = []
    if item.count > 1:
        parts.append(words.TIMES.in_(lang).format(n=item.count))
    if item.ranks:
        ranks = ", ".join(str(rank) for rank in item.ranks[:8])
        parts.append(f"{words.RANKS.in_(lang)} {ranks}{', ...' if len(item.ranks) > 8 else ''}")
    if item.phase:
        parts.append(words.phase(item.phase, lang))
    if item.echo_of:
        root = titles.get(item.echo_of, item.echo_of)
        parts.append(words.FOLLOWS.in_(lang).format(what=root))
    return words.PAREN.in_(lang).format(words.COMMA.in_(lang).join(parts)) if parts else ""


def _findings(diagnosis: Diagnosis, view: View) -> Iterator[Line]:
    if diagnosis.findings:
        yield BLANK
        yield heading(words.FINDINGS.in_(view.lang), 0)
    for finding in diagnosis.findings:
        severity = words.SEVERITY[finding.severity].in_(view.lang)
        lead = f"{finding_place(finding)}  {severity}{words.COLON.in_(view.lang)}"
        yield from prose(view, lead + finding.message, indent=2)
        for edit in finding.fix.edits if finding.fix else ():
            for line in edit.text.splitlines():
                yield (StyledText("      "), StyledText(clean(line), "fix"))


def finding_place(finding: Finding) -> str:
    """Say where a finding stands."""
    return clean(finding.file if finding.line is None else f"{finding.file}:{finding.line}")


def _unread(diagnosis: Diagnosis, view: View) -> Iterator[Line]:
    if not diagnosis.unread:
        return
    yield BLANK
    yield heading(words.UNREAD.in_(view.lang), 0)
    shown = limited(view, len(diagnosis.unread), MAX_UNREAD)
    for item in diagnosis.unread[:shown]:
        where = clean(item.source if item.line is None else f"{item.source}:{item.line}")
        yield from prose(view, f"{where}{words.COLON.in_(view.lang)}{item.reason}", indent=2)
        if item.text:
            yield from quotes(view, (Origin(source=where, text=item.text),), 4, set())
    yield from _rest(view, len(diagnosis.unread) - shown)


def _warnings(diagnosis: Diagnosis, view: View) -> Iterator[Line]:
    if diagnosis.warnings:
        yield BLANK
        yield heading(words.WARNINGS.in_(view.lang), 0)
    for text in diagnosis.warnings:
        yield from prose(view, text, indent=2)


def _asks(diagnosis: Diagnosis, view: View) -> Iterator[Line]:
    if not diagnosis.asks:
        return
    title = words.ASKS_UNKNOWN if diagnosis.verdict == "unknown" else words.ASKS
    yield BLANK
    yield heading(title.in_(view.lang), 0)
    for ask in diagnosis.asks:
        yield from prose(view, ask.what, indent=2, lead=StyledText("? ", "ask"))
        if ask.splits:
            titles = names(diagnosis)
            causes = words.OR_ELSE.in_(view.lang).join(titles.get(i, i) for i in ask.splits)
            yield from prose(view, words.SPLITS.in_(view.lang).format(causes=causes), indent=4)
        if ask.how:
            yield from prose(view, ask.how, indent=4)


def _rest(view: View, count: int) -> Iterator[Line]:
    if count > 0:
        yield (StyledText("  "), StyledText(words.MORE.in_(view.lang).format(n=count), "dim"))
