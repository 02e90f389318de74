"""The page of one entry of the knowledge base, its documentation; and the list of all entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainrx.fix.measures import measure_text
from trainrx.fix.offered import barring
from trainrx.fix.plan import destructive_step
from trainrx.knowledge.store import Entry, Knowledge
from trainrx.knowledge.verified import Verification
from trainrx.model.knowledge import Action, Cause, EchoOf, Evidence, FactEntry, Fix, Rule, Symptom
from trainrx.model.levers import Guard, Lever, LeverStep
from trainrx.model.lint import LintRule
from trainrx.model.packages import RangeEntry
from trainrx.model.parts import Param, Reference, Spelling
from trainrx.model.protocols import Protocol, ProtocolStep, StepOutcome
from trainrx.model.states import FramePattern, ThreadState
from trainrx.model.text import Lang, Text, price_text
from trainrx.reason.phrasing import (
    ONLY_IF,
    UNLESS,
    amount_text,
    clause_text,
    condition_text,
    scalar,
    tests_text,
)
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import destruction, price
from trainrx.render.document import CopyLine, Document, View, children
from trainrx.render.layout import Styled
from trainrx.sanitizer.controls import clean

MAX_SAMPLES = 4


def explained(
    entry: Entry,
    view: View,
    behind: Sequence[Cause] = (),
    levers: Mapping[str, Lever] | None = None,
    looks: Sequence[Verification] | None = None,
) -> Document:
    """Lay out the page of an entry.

    `behind` are the causes that can be behind a symptom, `levers` those that can bar a fix, `looks`
    what was compared with its sources; None where nobody asks.
    """
    return Document(
        children(
            doc.Paragraph(
                " · ".join(_kind(entry, view)), Styled(f"{entry.id}  ", "fix"), "dim", whole=True
            ),
            doc.Paragraph(view.say(entry.title), style="strong"),
            _body(entry, view, behind, levers or {}),
            None if looks is None else doc.Paragraph(verified_text(looks, view.lang), style="dim"),
        ),
        short=True,
    )


def verified_text(looks: Sequence[Verification], lang: Lang) -> str:
    """Say when an entry was compared with its sources and how, or that it was not."""
    if not looks:
        return words.NOT_VERIFIED.in_(lang)
    told = []
    for look in looks:
        held = (words.HELD[kind].in_(lang).format(n=n) for kind, n in look.held.items())
        told.append(words.VERIFIED[look.by].in_(lang).format(on=look.on, held=", ".join(held)))
    return " ".join(told)


def _body(
    entry: Entry, view: View, behind: Sequence[Cause], levers: Mapping[str, Lever]
) -> Iterator[doc.Node | None]:
    if isinstance(entry, Cause):
        return _cause(entry, levers, view)
    if isinstance(entry, Symptom):
        return _symptom(entry, behind, view)
    if isinstance(entry, Param):
        return _param(entry, view)
    if isinstance(entry, Rule):
        return _rule(entry, view)
    if isinstance(entry, Guard):
        return _guard(entry, levers, view)
    if isinstance(entry, RangeEntry):
        return _range(entry, view)
    if isinstance(entry, Fix):
        return iter((_fixes((entry,), levers, view),))
    return _other(entry, view)


def _other(
    entry: LintRule | Lever | Protocol | ThreadState | FactEntry, view: View
) -> Iterator[doc.Node | None]:
    if isinstance(entry, Lever):
        return _lever(entry, view)
    if isinstance(entry, Protocol):
        return _protocol(entry, view)
    if isinstance(entry, ThreadState):
        return _state(entry, view)
    return _lint_rule(entry, view) if isinstance(entry, LintRule) else _fact(entry, view)


def _kind(entry: Entry, view: View) -> Iterator[str]:
    yield view.say(words.KINDS[type(entry).__name__])
    if isinstance(entry, (Cause, Symptom, Guard)) and entry.family is not None:
        yield view.say(words.FAMILY[entry.family])
    if isinstance(entry, (Cause, Symptom, Rule, Guard, LintRule, Lever, Protocol, ThreadState)):
        yield view.say(words.SINCE, version=entry.since)


def _cause(entry: Cause, levers: Mapping[str, Lever], view: View) -> Iterator[doc.Node | None]:
    yield _paragraph(view.say(entry.summary))
    yield _paragraph(view.say(words.SEVERITY[entry.severity]))
    yield _part(words.SHOWS_AS, [view.say(words.LISTED).join(entry.explains)], view)
    ranges = (f"{name} {spec}" for name, spec in entry.applies_to.items())
    yield _part(words.APPLIES, ranges, view)
    if entry.requires is not None:
        yield _part(words.REQUIRES, [condition_text(entry.requires, view.lang)], view)
    yield _part(words.WEIGHTS, [f"{view.say(words.PRIOR)} {entry.prior:g}"], view)
    yield _votes(words.SUPPORTS, entry.evidence.supports, 1, view)
    yield _votes(words.CONTRADICTS, entry.evidence.contradicts, -1, view)
    apart = (
        f"{name}{view.say(words.COLON)}{view.say(text)}"
        for name, text in entry.confusable_with.items()
    )
    yield _part(words.TOLD_APART, apart, view)
    yield _fixes(entry.fixes, levers, view)
    yield _references(entry.references, view)


def _votes(title: Text, votes: tuple[Evidence, ...], sign: int, view: View) -> doc.Section:
    style, lines = "plus" if sign > 0 else "minus", []
    for vote in votes:
        lead = Styled(f"{sign * vote.weight:+5.1f}  ", style)
        lines.append(doc.Paragraph(view.say(vote.why), lead))
        test = view.labelled(words.LOOK_AT, condition_text(vote.when, view.lang))
        lines.append(doc.Paragraph(test, style="dim", indent=7))
    return doc.Section(view.say(title), tuple(lines))


def _fixes(fixes: Sequence[Fix], levers: Mapping[str, Lever], view: View) -> doc.Section:
    remedies = (_fix(fix, number, levers, view) for number, fix in enumerate(fixes, start=1))
    return doc.Section(view.say(words.REMEDIES), tuple(remedies))


def _fix(fix: Fix, number: int, levers: Mapping[str, Lever], view: View) -> doc.Remedy:
    changes = [f"{name}: {amount_text(value)}" for name, value in fix.set.items()]
    changes += [f"{view.say(words.DELETE)} {name}" for name in fix.unset]
    changes += [package.shown for package in fix.packages]
    changes += [measure_text(measure, view.lang) for measure in fix.measures]
    lines = tuple(CopyLine(clean(text)) for text in (*changes, *fix.commands))
    steps = view.say(fix.steps).splitlines() if fix.steps else []
    paid = price_text(fix.cost, view.lang)
    offered = [] if fix.only_if is None else [(ONLY_IF, fix.only_if)]
    offered += [(UNLESS, unless) for unless in barring(fix, levers)]
    return doc.Remedy(
        number,
        f"{view.say(fix.title)} · {view.say(words.SAFETY[fix.safety])} · {fix.id}",
        children(
            doc.Code(lines) if lines else None,
            [doc.Paragraph(step) for step in steps],
            None
            if fix.destroys is None
            else destruction(destructive_step(fix.destroys, view.lang), view),
            [
                doc.Paragraph(view.labelled(label, condition_text(test, view.lang)), style="dim")
                for label, test in offered
            ],
            price(paid, view) if paid else None,
        ),
    )


def _symptom(entry: Symptom, behind: Sequence[Cause], view: View) -> Iterator[doc.Node | None]:
    yield _paragraph(view.say(words.ROLE[entry.role]))
    if entry.summary is not None:
        yield _paragraph(view.say(entry.summary))
    ids = (f"{cause.id}{view.say(words.COLON)}{view.say(cause.title)}" for cause in behind)
    yield _part(words.BEHIND, ids, view)
    yield _part(words.ECHO_OF, (echo_text(echo, view.lang) for echo in entry.echo_of), view)
    yield _samples(words.RECOGNISED, entry.samples.match, view)
    yield _samples(words.NOT_MISTAKEN, entry.samples.near_miss, view)
    given = (f"{name}: {scalar(value)}" for name, value in entry.facts.items())
    yield _part(words.GIVES, given, view)
    yield from (_codes(group, table, view) for group, table in entry.codes.items())
    yield _references(entry.references, view)


def _codes(group: str, table: Mapping[str, Mapping[str, str]], view: View) -> doc.Section:
    """Show what each value of a captured code means, one in a line."""
    wide = max((len(code) for code in table), default=0)
    ordered = sorted(table.items(), key=lambda item: (len(item[0]), item[0]))
    lines = (f"{code:>{wide}}  {'  '.join(said.values())}" for code, said in ordered)
    title = view.say(words.CODES, group=group)
    return doc.Section(title, (doc.Code(tuple(doc.CopyLine(line) for line in lines)),))


def echo_text(echo: EchoOf, lang: Lang) -> str:
    """Say what a symptom follows from, how it shows, and why."""
    told = [words.ECHO_AT[echo.at].in_(lang)] if echo.at is not None else []
    told += [words.OTHER_RANK.in_(lang)] if echo.rank is not None else []
    told += [words.WHERE_IT.in_(lang).format(tests=tests_text(echo.if_, lang))] if echo.if_ else []
    names = " | ".join(echo.by) + (f" [{tests_text(echo.by_if, lang)}]" if echo.by_if else "")
    how = words.PAREN.in_(lang).format(words.COMMA.in_(lang).join(told)) if told else ""
    return f"{names}{how}{words.COLON.in_(lang)}{echo.why.in_(lang)}"


def _param(entry: Param, view: View) -> Iterator[doc.Node | None]:
    lines: list[doc.Node] = []
    for framework, spellings in entry.spelled.items():
        for spelling in spellings:
            lines.append(doc.Paragraph(f"{framework} {spelling.versions}".rstrip(), style="strong"))
            lines.append(doc.Paragraph(_spelling(spelling, view), indent=2))
    yield doc.Section(view.say(words.SPELLED), tuple(lines))
    if entry.ask is not None:
        yield _part(words.HOW_TO_TELL, [view.say(entry.ask)], view)


def _spelling(spelling: Spelling, view: View) -> str:
    inverted = view.paren(view.say(words.INVERTED)) if spelling.inverted else ""
    parts = [(spelling.env or f"--{spelling.arg}") + inverted]
    parts += (f"{name} -> {value}" for name, value in spelling.values.items())
    if spelling.default is not None:
        parts.append(f"{view.say(words.DEFAULT)} {scalar(spelling.default)}")
    if spelling.commands:
        parts.append(" | ".join(spelling.commands))
    return view.say(words.COMMA).join(parts)


def _fact(entry: FactEntry, view: View) -> Iterator[doc.Node | None]:
    yield _part(words.UNIT, [entry.unit or ""], view)
    yield _part(words.VALUES, [" | ".join(entry.values or ())], view)
    yield _part(words.HOW_TO_TELL, [view.say(entry.ask) if entry.ask else ""], view)


def _rule(entry: Rule, view: View) -> Iterator[doc.Node | None]:
    yield _part(words.REASON, [view.say(entry.why)], view)
    yield _part(words.WHEN, (clause_text(clause, view.lang) for clause in entry.when), view)
    yield _part(words.THEN, (_action(action, view) for action in entry.then), view)
    yield _references(entry.references, view)


def _guard(entry: Guard, levers: Mapping[str, Lever], view: View) -> Iterator[doc.Node | None]:
    yield _paragraph(view.say(entry.summary))
    yield _paragraph(view.say(words.EFFECT[entry.effect]))
    ranges = [f"{entry.package} {spec}" for spec in entry.versions] or [entry.package]
    yield _part(words.APPLIES, ranges, view)
    if entry.when is not None:
        yield _part(words.WHEN, [condition_text(entry.when, view.lang)], view)
    if entry.samples is not None:
        yield _samples(words.RECOGNISED, entry.samples.match, view)
    else:
        yield _part(words.RECOGNISED, [entry.symptom or ""], view)
    yield _part(words.SIGN_OF, [entry.cause or ""], view)
    yield _fixes(entry.fixes, levers, view)
    yield _references(entry.references, view)


def _range(entry: RangeEntry, view: View) -> Iterator[doc.Node | None]:
    known = entry.range
    yield _part(words.REASON, [view.say(known.why)], view)
    spans = (f"{entry.package} {span.spec.removeprefix('>=0,')}" for span in known.affected)
    yield _part(words.APPLIES, spans, view)
    if known.when is not None:
        yield _part(words.WHEN, [condition_text(known.when, view.lang)], view)
    weight = f"{known.weight:+g} {view.say(words.NATS)}"
    yield _part(words.SIGN_OF, [f"{known.cause}{view.say(words.COLON)}{weight}"], view)
    yield _part(words.REMEDIES, (f"{pin.name}{pin.spec}" for pin in entry.pins), view)
    yield _references(known.references, view)


def _lint_rule(entry: LintRule, view: View) -> Iterator[doc.Node | None]:
    severity = view.say(words.SEVERITY[entry.severity])
    mends = view.say(words.MENDS) if entry.fix is not None else ""
    yield _paragraph(view.say(entry.summary))
    yield doc.Paragraph(" · ".join(filter(None, (severity, mends))))
    ranges = (f"{name} {spec}" for name, spec in entry.versions.items())
    yield _part(words.APPLIES, ranges, view)
    if entry.when is not None:
        yield _part(words.WHEN, [condition_text(entry.when, view.lang)], view)
    yield _part(words.HOLD_BACK, [f"# diagnose: ignore={entry.id} ..."], view)
    yield _references(entry.references, view)


def _lever(entry: Lever, view: View) -> Iterator[doc.Node | None]:
    yield _paragraph(view.say(entry.why))
    ranges = (f"{name} {spec}".rstrip() for name, spec in entry.frameworks.items())
    yield _part(words.APPLIES, ranges, view)
    if entry.when is not None:
        yield _part(words.WHEN, [condition_text(entry.when, view.lang)], view)
    if entry.unless is not None:
        yield _part(UNLESS, [condition_text(entry.unless, view.lang)], view)
    yield doc.Section(
        view.say(words.REMEDIES),
        tuple(
            doc.Remedy(number, ", ".join(step.set), children(_step(step, view)))
            for number, step in enumerate(entry.steps, start=1)
        ),
    )
    yield _part(words.EXCLUDES, [view.say(words.LISTED).join(entry.excludes)], view)
    yield _references(entry.references, view)


def _protocol(entry: Protocol, view: View) -> Iterator[doc.Node | None]:
    kinds = (view.say(words.FAMILY[family]) for family in entry.families)
    yield _part(words.APPLIES, kinds, view)
    if entry.when is not None:
        yield _part(words.WHEN, [condition_text(entry.when, view.lang)], view)
    steps = (_protocol_step(step, at, view) for at, step in enumerate(entry.steps, start=1))
    yield doc.Section(view.say(words.STEPS), tuple(steps))
    yield _references(entry.references, view)


def _protocol_step(step: ProtocolStep, number: int, view: View) -> doc.Remedy:
    command = doc.Code((CopyLine(clean(step.command)),)) if step.command else None
    when = None
    if step.when is not None:
        test = condition_text(step.when, view.lang)
        when = doc.Paragraph(view.labelled(ONLY_IF, test), style="dim")
    readings = [doc.Bullet(_reading(outcome, view)) for outcome in step.outcomes]
    how = doc.Paragraph(view.say(step.how)) if step.how is not None else None
    title = view.say(step.question) if step.question is not None else f"{step.ask}"
    return doc.Remedy(number, title, children(how, command, *readings, when))


def _state(entry: ThreadState, view: View) -> Iterator[doc.Node | None]:
    yield _paragraph(view.say(words.STATE_ROLE[entry.role]))
    yield _paragraph(view.say(words.USUAL) if entry.usual else "")
    yield _part(words.FRAMES, map(_frame, entry.frames), view)
    yield _part(words.UNDER, [_frame(entry.under) if entry.under is not None else ""], view)
    yield _part(words.BEFORE, [view.say(words.LISTED).join(entry.over)], view)
    yield _samples(words.RECOGNISED, entry.samples.match, view)
    yield _samples(words.NOT_MISTAKEN, entry.samples.near_miss, view)
    yield _references(entry.references, view)


def _frame(pattern: FramePattern) -> str:
    any_ = FramePattern()
    function = "" if pattern.function == any_.function else pattern.function
    return " · ".join(part for part in (function, pattern.file) if part not in ("", any_.file))


def _reading(outcome: StepOutcome, view: View) -> str:
    means = view.say(outcome.then) if outcome.then is not None else ", ".join(outcome.causes)
    return f"{view.say(outcome.reads)} -> {means}" if means else view.say(outcome.reads)


def _step(step: LeverStep, view: View) -> Iterator[doc.Node]:
    changes = (f"{name}: {amount_text(value)}" for name, value in step.set.items())
    yield doc.Code(tuple(CopyLine(clean(text)) for text in changes))
    if step.when is not None:
        when = condition_text(step.when, view.lang)
        yield doc.Paragraph(view.labelled(ONLY_IF, when), style="dim")
    low, high = step.price.slowdown
    if (low, high) != (1.0, 1.0):
        yield doc.Paragraph(view.say(words.SLOWER, low=f"{low:g}", high=f"{high:g}"), style="dim")


def _action(action: Action, view: View) -> str:
    if action.fact is not None:
        return f"{action.fact.name} = {scalar(action.fact.value)}"
    if action.suggest is not None:
        vote = action.suggest
        return f"{vote.weight:+g} {vote.cause}{view.say(words.COLON)}{view.say(vote.why)}"
    if action.explain is not None:
        follows = view.say(words.FOLLOWS, what=action.explain.by)
        return f"{action.explain.effect} {follows}"
    return f"{view.say(words.ASK)} {action.ask}"


def _paragraph(text: str) -> doc.Node | None:
    return doc.Paragraph(text, gap=True) if text.strip() else None


def _part(title: Text, texts: Iterable[str], view: View) -> doc.Section:
    return doc.Section(view.say(title), tuple(doc.Bullet(text) for text in texts if text.strip()))


def _samples(title: Text, lines: Sequence[str], view: View) -> doc.Section:
    """Quote lines as they are: never broken, so that they can be searched for."""
    return doc.Section(view.say(title), (doc.Excerpt(tuple(lines[:MAX_SAMPLES])),))


def _references(references: tuple[Reference, ...], view: View) -> doc.Section:
    sources = (doc.SourceNote(source.says or source.id, source.url or "") for source in references)
    return doc.Section(view.say(words.SOURCES), tuple(sources))


def listing(
    knowledge: Knowledge,
    view: View,
    *,
    terms: Sequence[str] = (),
    family: str | None = None,
    more: Iterable[Entry] = (),
) -> Document:
    """List the entries that hold all terms; the count last.

    A term may stand in id, kind, family or title, and in what a signature looks for or its samples;
    the name of a kind is looked for in the first only. `more` are entries beside the knowledge.
    """
    every = ((_row(entry, knowledge, view), entry) for entry in (*_entries(knowledge), *more))
    of_family = ((row, entry) for row, entry in every if family in (None, row[2]))
    found = [row for row, entry in of_family if _holds(row, entry, terms, view)]
    styles = ("fix", "dim", "dim", "")
    rows = tuple(doc.Row(tuple(map(Styled, row, styles))) for row in found)
    columns = (
        doc.Column(),
        doc.Column("  "),
        doc.Column("  "),
        doc.Column("  ", rest=True, least=20),
    )
    count = doc.Paragraph(view.say(words.ENTRIES, n=len(rows)), style="dim")
    return Document((doc.Table(columns, rows), count))


def _entries(knowledge: Knowledge) -> Iterator[Entry]:
    groups: tuple[dict[str, Entry], ...] = (
        dict(knowledge.causes),
        dict(knowledge.symptoms),
        dict(knowledge.params),
        dict(knowledge.facts),
        dict(knowledge.rules),
        dict(knowledge.guards),
        dict(knowledge.ranges),
        dict(knowledge.levers),
        dict(knowledge.protocols),
        dict(knowledge.states),
    )
    for group in groups:
        for ident in sorted(group):
            if ident not in knowledge.guards or isinstance(group[ident], Guard):
                yield group[ident]


def _row(entry: Entry, knowledge: Knowledge, view: View) -> tuple[str, str, str, str]:
    told = knowledge.causes[entry.range.cause] if isinstance(entry, RangeEntry) else entry
    own = told.family or "" if isinstance(told, (Cause, Symptom, Guard)) else ""
    own = told.families[0] if isinstance(told, Protocol) else own
    kind = view.say(words.KINDS[type(entry).__name__])
    return entry.id, kind, own, clean(view.say(entry.title))


def _holds(row: tuple[str, ...], entry: Entry, terms: Sequence[str], view: View) -> bool:
    text = " ".join(row).lower()
    left = [term for term in map(str.lower, terms) if term not in text]
    if not left or not isinstance(entry, (Symptom, Guard)):
        return not left
    kinds = {view.say(kind).lower() for kind in words.KINDS.values()}
    lines = [text for pattern in entry.patterns for text in (*pattern.needles, pattern.regex)]
    lines += entry.samples.match if entry.samples is not None else ()
    signs = "\n".join(lines).lower()
    return all(term in signs and term not in kinds for term in left)
