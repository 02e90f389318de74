"""The page of one entry of the knowledge base: its documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainrx.fix.measures import measure_text
from trainrx.model.guards import Guard
from trainrx.model.knowledge import Action, Cause, Evidence, FactEntry, Fix, Rule, Symptom
from trainrx.model.lint import LintRule
from trainrx.model.packages import RangeEntry
from trainrx.model.parts import Param, Reference, Spelling
from trainrx.model.text import Text
from trainrx.render import words
from trainrx.render.conditions import amount_text, clause_text, condition_text, echo_text, scalar
from trainrx.render.document import View
from trainrx.render.layout import Line, StyledText, clean
from trainrx.render.page import heading, prose

MAX_SAMPLES = 4
Entry = Cause | Symptom | Param | FactEntry | Rule | Guard | RangeEntry | LintRule


def explain(entry: Entry, view: View, behind: Sequence[Cause] = ()) -> list[Line]:
    """Lay out the page of an entry; `behind` are the causes that can be behind a symptom."""
    lines = [_name(entry, view), *prose(view, entry.title.in_(view.lang), style="strong")]
    if isinstance(entry, Cause):
        lines += _cause(entry, view)
    elif isinstance(entry, Symptom):
        lines += _symptom(entry, behind, view)
    elif isinstance(entry, Param):
        lines += _param(entry, view)
    elif isinstance(entry, Rule):
        lines += _rule(entry, view)
    elif isinstance(entry, Guard):
        lines += _guard(entry, view)
    elif isinstance(entry, RangeEntry):
        lines += _range(entry, view)
    elif isinstance(entry, LintRule):
        lines += _lint_rule(entry, view)
    else:
        lines += _fact(entry, view)
    return lines


def _name(entry: Entry, view: View) -> Line:
    parts = [words.KINDS[type(entry).__name__].in_(view.lang)]
    if isinstance(entry, (Cause, Symptom, Guard)) and entry.family is not None:
        parts.append(words.FAMILY[entry.family].in_(view.lang))
    if isinstance(entry, (Cause, Symptom, Rule, Guard, LintRule)):
        parts.append(words.STATUS[entry.status].in_(view.lang))
        parts.append(words.SINCE.in_(view.lang).format(version=entry.since))
    return (StyledText(entry.id, "fix"), StyledText(f"  {' · '.join(parts)}", "dim"))


def _cause(entry: Cause, view: View) -> Iterator[Line]:
    lang = view.lang
    yield from _part(view, None, [entry.summary.in_(lang)])
    yield from _part(view, None, [words.SEVERITY[entry.severity].in_(lang)])
    yield from _part(view, words.SHOWS_AS, [words.LISTED.in_(lang).join(entry.explains)])
    ranges = (f"{name} {spec}" for name, spec in entry.applies_to.items())
    yield from _part(view, words.APPLIES, ranges)
    if entry.requires is not None:
        yield from _part(view, words.REQUIRES, [condition_text(entry.requires, lang)])
    prior = f"{words.PRIOR.in_(lang)} {entry.prior:g}"
    yield from _part(view, words.WEIGHTS, [prior])
    yield from _votes(view, words.SUPPORTS, entry.evidence.supports, 1)
    yield from _votes(view, words.CONTRADICTS, entry.evidence.contradicts, -1)
    apart = (
        f"{name}{words.COLON.in_(lang)}{text.in_(lang)}"
        for name, text in entry.confusable_with.items()
    )
    yield from _part(view, words.TOLD_APART, apart)
    if entry.fixes:
        yield from ((), heading(words.REMEDIES.in_(lang), 0))
    for number, fix in enumerate(entry.fixes):
        yield from _fix(view, fix, f"{chr(ord('a') + number % 26)}) ")
    yield from _references(view, entry.references)


def _votes(view: View, title: Text, votes: tuple[Evidence, ...], sign: int) -> Iterator[Line]:
    if votes:
        yield from ((), heading(title.in_(view.lang), 0))
    style = "plus" if sign > 0 else "minus"
    for vote in votes:
        lead = StyledText(f"{sign * vote.weight:+5.1f}  ", style)
        yield from prose(view, vote.why.in_(view.lang), indent=2, lead=lead)
        test = f"{words.LOOK_AT.in_(view.lang)}{words.COLON.in_(view.lang)}"
        yield from prose(view, test + condition_text(vote.when, view.lang), indent=9, style="dim")


def _fix(view: View, fix: Fix, lead: str) -> Iterator[Line]:
    lang = view.lang
    title = f"{fix.title.in_(lang)} · {words.SAFETY[fix.safety].in_(lang)}"
    yield from prose(view, title, indent=2, lead=StyledText(lead))
    changes = [f"{name}: {amount_text(value)}" for name, value in fix.set.items()]
    changes += [f"{words.DELETE.in_(lang)} {name}" for name in fix.unset]
    changes += [p.shown for p in fix.packages]
    changes += [measure_text(measure, lang) for measure in fix.measures]
    for text in (*changes, *fix.commands):
        yield (StyledText("       "), StyledText(clean(text), "fix"))
    for step in (fix.steps.in_(lang) if fix.steps else "").splitlines():
        yield from prose(view, step, indent=5)
    if fix.only_if is not None:
        when = words.ONLY_IF.in_(lang) + words.COLON.in_(lang) + condition_text(fix.only_if, lang)
        yield from prose(view, when, indent=5, style="dim")
    price = words.PRICE.in_(lang) + words.COLON.in_(lang)
    yield from prose(view, fix.cost.in_(lang), indent=5, lead=StyledText(price, "dim"))


def _symptom(entry: Symptom, behind: Sequence[Cause], view: View) -> Iterator[Line]:
    lang = view.lang
    yield from _part(view, None, [words.ROLE[entry.role].in_(lang)])
    if entry.summary is not None:
        yield from _part(view, None, [entry.summary.in_(lang)])
    ids = (f"{cause.id}{words.COLON.in_(lang)}{cause.title.in_(lang)}" for cause in behind)
    yield from _part(view, words.BEHIND, ids)
    echoed = (echo_text(echo, lang) for echo in entry.echo_of)
    yield from _part(view, words.ECHO_OF, echoed)
    yield from _lines(view, words.RECOGNISED, entry.samples.match[:MAX_SAMPLES])
    yield from _lines(view, words.NOT_MISTAKEN, entry.samples.near_miss[:MAX_SAMPLES])
    given = (f"{name}: {scalar(value)}" for name, value in entry.facts.items())
    yield from _part(view, words.GIVES, given)
    yield from _references(view, entry.references)


def _param(entry: Param, view: View) -> Iterator[Line]:
    lang = view.lang
    if entry.spelled:
        yield from ((), heading(words.SPELLED.in_(lang), 0))
    for framework, spellings in entry.spelled.items():
        for spelling in spellings:
            yield (StyledText(f"  {framework} {spelling.versions}".rstrip(), "strong"),)
            yield from prose(view, _spelling(spelling, view), indent=4)
    if entry.ask is not None:
        yield from _part(view, words.HOW_TO_TELL, [entry.ask.in_(lang)])


def _spelling(spelling: Spelling, view: View) -> str:
    lang = view.lang
    text = spelling.env or f"--{spelling.arg}"
    parts = [f"{text}{words.PAREN.in_(lang).format(words.INVERTED.in_(lang))}"]
    if not spelling.inverted:
        parts = [text]
    parts += (f"{name} -> {value}" for name, value in spelling.values.items())
    if spelling.default is not None:
        parts.append(f"{words.DEFAULT.in_(lang)} {scalar(spelling.default)}")
    if spelling.commands:
        parts.append(" | ".join(spelling.commands))
    return words.COMMA.in_(lang).join(parts)


def _fact(entry: FactEntry, view: View) -> Iterator[Line]:
    unit = [entry.unit] if entry.unit else []
    yield from _part(view, words.UNIT, unit)
    yield from _part(view, words.VALUES, [" | ".join(entry.values)] if entry.values else [])
    ask = [entry.ask.in_(view.lang)] if entry.ask else []
    yield from _part(view, words.HOW_TO_TELL, ask)


def _rule(entry: Rule, view: View) -> Iterator[Line]:
    lang = view.lang
    yield from _part(view, words.REASON, [entry.why.in_(lang)])
    yield from _part(view, words.WHEN, (clause_text(clause, lang) for clause in entry.when))
    yield from _part(view, words.THEN, (_action(action, view) for action in entry.then))
    yield from _references(view, entry.references)


def _guard(entry: Guard, view: View) -> Iterator[Line]:
    lang = view.lang
    yield from _part(view, None, [entry.summary.in_(lang)])
    yield from _part(view, None, [words.EFFECT[entry.effect].in_(lang)])
    ranges = [f"{entry.package} {spec}" for spec in entry.versions] or [entry.package]
    yield from _part(view, words.APPLIES, ranges)
    if entry.when is not None:
        yield from _part(view, words.WHEN, [condition_text(entry.when, lang)])
    if entry.samples is not None:
        yield from _lines(view, words.RECOGNISED, entry.samples.match[:MAX_SAMPLES])
    elif entry.symptom:
        yield from _part(view, words.RECOGNISED, [entry.symptom])
    if entry.cause:
        yield from _part(view, words.SIGN_OF, [entry.cause])
    if entry.fixes:
        yield from ((), heading(words.REMEDIES.in_(lang), 0))
    for number, fix in enumerate(entry.fixes):
        yield from _fix(view, fix, f"{chr(ord('a') + number % 26)}) ")
    yield from _references(view, entry.references)


def _range(entry: RangeEntry, view: View) -> Iterator[Line]:
    lang, known = view.lang, entry.range
    yield from _part(view, words.REASON, [known.why.in_(lang)])
    spans = (f"{entry.package} {span.spec.removeprefix('>=0,')}" for span in known.affected)
    yield from _part(view, words.APPLIES, spans)
    if known.when is not None:
        yield from _part(view, words.WHEN, [condition_text(known.when, lang)])
    sign = f"{known.cause}{words.COLON.in_(lang)}{known.weight:+g} {words.NATS.in_(lang)}"
    yield from _part(view, words.SIGN_OF, [sign])
    yield from _part(view, words.REMEDIES, (f"{p.name}{p.spec}" for p in entry.pins))
    yield from _references(view, known.references)


def _lint_rule(entry: LintRule, view: View) -> Iterator[Line]:
    lang = view.lang
    severity = words.SEVERITY[entry.severity].in_(lang)
    mends = words.MENDS.in_(lang) if entry.fix is not None else ""
    yield from _part(
        view, None, [entry.summary.in_(lang), " · ".join(filter(None, (severity, mends)))]
    )
    ranges = (f"{name} {spec}" for name, spec in entry.versions.items())
    yield from _part(view, words.APPLIES, ranges)
    if entry.when is not None:
        yield from _part(view, words.WHEN, [condition_text(entry.when, lang)])
    ignoring = f"# diagnose: ignore={entry.id} ..."
    yield from _part(view, words.HOLD_BACK, [ignoring])
    yield from _references(view, entry.references)


def _action(action: Action, view: View) -> str:
    lang = view.lang
    if action.fact is not None:
        return f"{action.fact.name} = {scalar(action.fact.value)}"
    if action.suggest is not None:
        vote = action.suggest
        return f"{vote.weight:+g} {vote.cause}{words.COLON.in_(lang)}{vote.why.in_(lang)}"
    if action.explain is not None:
        follows = words.FOLLOWS.in_(lang).format(what=action.explain.by)
        return f"{action.explain.effect} {follows}"
    return f"{words.ASK.in_(lang)} {action.ask}"


def _part(view: View, title: Text | None, texts: Iterable[str]) -> Iterator[Line]:
    texts = [text for text in texts if text.strip()]
    if texts:
        yield ()
    if texts and title is not None:
        yield heading(title.in_(view.lang), 0)
    for text in texts:
        yield from prose(view, text, indent=2 if title is not None else 0)


def _lines(view: View, title: Text, texts: Iterable[str]) -> Iterator[Line]:
    """Quote lines as they are: never broken, so that they can be searched for."""
    yield from ((), heading(title.in_(view.lang), 0))
    for text in texts:
        yield (StyledText("  "), StyledText(clean(text), "dim"))


def _references(view: View, references: tuple[Reference, ...]) -> Iterator[Line]:
    if references:
        yield from ((), heading(words.SOURCES.in_(view.lang), 0))
    for reference in references:
        yield from prose(view, reference.says or reference.id, indent=2)
        if reference.url:
            yield (StyledText("    "), StyledText(clean(reference.url), "dim"))
