"""The page of one entry of each kind."""

from __future__ import annotations

from collections.abc import Iterator

from site_pages import words as site_words
from site_pages.entry_parts import colon, head, lines_of, part, remedies, sources, votes
from site_pages.markup import bullets, code, prose, table, text
from site_pages.places import Page, Site, joined
from trainrx.model.knowledge import Action, Cause, Rule, Symptom
from trainrx.model.levers import Guard
from trainrx.model.packages import RangeEntry
from trainrx.model.parts import Param, Spelling
from trainrx.reason.phrasing import clause_text, condition_text, scalar
from trainrx.render import words
from trainrx.render.explain import echo_text

MAX_SAMPLES = 8


def cause_page(site: Site, entry: Cause) -> Page:
    """Say what a cause is, what to change, and what speaks for and against it."""
    path = f"causes/{entry.id}.md"
    facts = (
        site.says(words.FAMILY[entry.family]),
        site.says(words.SEVERITY[entry.severity]),
        site.says(words.SINCE).format(version=entry.since),
    )
    lines = head(site, path, entry.title, entry.id, facts)
    lines += [prose(site.says(entry.summary)), ""]
    shown = bullets(site.link("symptoms", ident) for ident in entry.explains)
    lines += part(site, words.SHOWS_AS, shown, sought=False)
    lines += part(site, words.REMEDIES, remedies(site, entry.fixes), sought=False)
    lines += _evidence(site, entry)
    lines += part(site, words.TOLD_APART, bullets(_apart(site, entry)), sought=False)
    guards = [g.id for g in site.knowledge.guards.values() if g.cause == entry.id]
    checks = bullets(site.link("guards", g) for g in guards)
    lines += part(site, site_words.CHECKS, checks, sought=False)
    ranges = [r.id for r in site.knowledge.ranges.values() if r.range.cause == entry.id]
    breaks = bullets(site.link("ranges", r) for r in ranges)
    lines += part(site, site_words.RANGES, breaks, sought=False)
    rules = site.ruled.get(entry.id, ())
    lines += part(site, site_words.ALSO_IN, bullets(site.link("rules", r) for r in rules))
    lines += sources(site, entry.references, "cause", entry.id)
    return joined(path, [*lines, "", code(f"diagnose explain {entry.id}")])


def _evidence(site: Site, entry: Cause) -> list[str]:
    note = text(site.says(site_words.PRIOR).format(prior=entry.prior))
    lines = part(
        site, words.SUPPORTS, [note, *votes(site, entry.evidence.supports, 1)], sought=False
    )
    lines += part(
        site, words.CONTRADICTS, votes(site, entry.evidence.contradicts, -1), sought=False
    )
    if entry.requires is not None:
        told = site.names(condition_text(entry.requires, site.lang))
        lines += part(site, words.REQUIRES, [told])
    applies = (code(f"{name} {spec}") for name, spec in entry.applies_to.items())
    return lines + part(site, words.APPLIES, bullets(applies))


def _apart(site: Site, entry: Cause) -> Iterator[str]:
    for ident, told in entry.confusable_with.items():
        kind = "causes" if ident in site.knowledge.causes else "symptoms"
        yield f"{site.link(kind, ident)}{colon(site)}{prose(site.says(told))}"


def symptom_page(site: Site, entry: Symptom) -> Page:
    """Say what a line means, what can be behind it, and how it is recognised."""
    path = f"symptoms/{entry.id}.md"
    facts = (
        site.says(words.ROLE[entry.role]),
        site.says(words.FAMILY[entry.family]) if entry.family else "",
        site.says(words.SINCE).format(version=entry.since),
    )
    lines = head(site, path, entry.title, entry.id, facts)
    if entry.summary is not None:
        lines += [prose(site.says(entry.summary)), ""]
    behind = site.behind.get(entry.id, ())
    causes = bullets(site.link("causes", ident) for ident in behind)
    lines += part(site, words.BEHIND, causes, sought=False)
    echoed = (site.names(echo_text(echo, site.lang)) for echo in entry.echo_of)
    lines += part(site, words.ECHO_OF, bullets(echoed), sought=False)
    lines += lines_of(site, words.RECOGNISED, entry.samples.match[:MAX_SAMPLES])
    lines += lines_of(site, words.NOT_MISTAKEN, entry.samples.near_miss[:MAX_SAMPLES], sought=False)
    given = (site.names(f"{name}: {scalar(value)}") for name, value in entry.facts.items())
    lines += part(site, words.GIVES, bullets(given))
    rules = site.ruled.get(entry.id, ())
    lines += part(site, site_words.ALSO_IN, bullets(site.link("rules", r) for r in rules))
    return joined(path, lines + sources(site, entry.references, "symptom", entry.id))


def guard_page(site: Site, entry: Guard) -> Page:
    """Say what a framework refuses, since when, and what to change."""
    path = f"guards/{entry.id}.md"
    facts = (
        entry.package,
        site.says(words.EFFECT[entry.effect]),
        site.says(words.FAMILY[entry.family]),
    )
    lines = head(site, path, entry.title, entry.id, facts)
    lines += [prose(site.says(entry.summary)), ""]
    ranges = [f"{entry.package} {spec}" for spec in entry.versions] or [entry.package]
    lines += part(site, words.APPLIES, bullets(code(told) for told in ranges), sought=False)
    if entry.samples is not None:
        lines += lines_of(site, words.RECOGNISED, entry.samples.match[:MAX_SAMPLES])
    elif entry.symptom:
        lines += part(site, words.RECOGNISED, [site.link("symptoms", entry.symptom)])
    if entry.when is not None:
        told = site.names(condition_text(entry.when, site.lang))
        lines += part(site, words.WHEN, [told], sought=False)
    if entry.cause:
        lines += part(site, words.SIGN_OF, [site.link("causes", entry.cause)], sought=False)
    lines += part(site, words.REMEDIES, remedies(site, entry.fixes), sought=False)
    if entry.examples is not None:
        wrong, right = entry.examples.violates, entry.examples.keeps
        lines += lines_of(site, site_words.REFUSED, _launches(wrong), sought=False)
        lines += lines_of(site, site_words.ACCEPTED, _launches(right), sought=False)
    return joined(path, lines + sources(site, entry.references, "guard", entry.id))


def _launches(texts: tuple[str, ...]) -> Iterator[str]:
    for index, told in enumerate(texts):
        if index:
            yield ""
        yield from told.strip().splitlines()


def range_page(site: Site, entry: RangeEntry) -> Page:
    """Say which releases have a fault and which version cures it."""
    path, known = f"ranges/{entry.id}.md", entry.range
    lines = head(site, path, entry.title, entry.id, (entry.package, entry.updated))
    lines += [prose(site.says(known.why)), ""]
    spans = (code(f"{entry.package} {s.spec.removeprefix('>=0,')}") for s in known.affected)
    lines += part(site, words.APPLIES, bullets(spans), sought=False)
    if known.when is not None:
        told = site.names(condition_text(known.when, site.lang))
        lines += part(site, words.WHEN, [told], sought=False)
    sign = f"{site.link('causes', known.cause)} · {text(f'{known.weight:+g}')}"
    lines += part(site, words.SIGN_OF, [sign], sought=False)
    pins = (code(f"{pin.name}{pin.spec}") for pin in entry.pins)
    lines += part(site, words.REMEDIES, bullets(pins), sought=False)
    return joined(path, lines + sources(site, known.references, "range", entry.id))


def rule_page(site: Site, entry: Rule) -> Page:
    """Say what a rule concludes from what."""
    path = f"rules/{entry.id}.md"
    facts = (site.says(site_words.STAGE[entry.stage]),)
    lines = head(site, path, entry.title, entry.id, facts)
    lines += [prose(site.says(entry.why)), ""]
    told = (site.names(clause_text(clause, site.lang)) for clause in entry.when)
    lines += part(site, words.WHEN, bullets(told))
    lines += part(site, words.THEN, bullets(_action(site, a) for a in entry.then))
    return joined(path, lines + sources(site, entry.references, "rule", entry.id))


def _action(site: Site, action: Action) -> str:
    if action.fact is not None:
        return site.names(f"{action.fact.name} = {scalar(action.fact.value)}")
    if action.suggest is not None:
        vote = action.suggest
        cause = site.link("causes", vote.cause)
        return f"{text(f'{vote.weight:+g}')} {cause}{colon(site)}{prose(site.says(vote.why))}"
    if action.explain is not None:
        told = site.says(words.FOLLOWS).format(what=action.explain.by)
        return f"{code(action.explain.effect)} {text(told)}"
    return f"{site.says(words.ASK)} {site.names(action.ask or '')}"


def param_page(site: Site, entry: Param) -> Page:
    """Say how each framework writes a parameter, and which entries have to do with it."""
    path = f"params/{entry.id}.md"
    lines = head(site, path, entry.title, entry.id, (entry.type,))
    if entry.ask is not None:
        lines += [prose(site.says(entry.ask)), ""]
    head_cells = (
        site_words.FRAMEWORK,
        site_words.VERSIONS,
        site_words.WRITTEN,
        site_words.DEFAULT,
        site_words.VALUES,
    )
    rows = (
        _spelling(site, framework, spelling)
        for framework, spellings in entry.spelled.items()
        for spelling in spellings
    )
    lines += part(site, words.SPELLED, table([site.says(w) for w in head_cells], rows))
    setting = site.setting.get(entry.id, ())
    tested = [ident for ident in site.testing.get(entry.id, ()) if ident not in setting]
    for title, idents in ((site_words.CHANGED_BY, setting), (site_words.TESTED_BY, tested)):
        causes = bullets(site.link("causes", ident) for ident in idents)
        lines += part(site, title, causes, sought=False)
    return joined(path, lines)


def _spelling(site: Site, framework: str, spelling: Spelling) -> tuple[str, ...]:
    name = code(spelling.env or f"--{spelling.arg}")
    if spelling.inverted:
        name += text(site.says(words.PAREN).format(site.says(words.INVERTED)))
    if spelling.commands:
        name += " " + text(" | ".join(spelling.commands))
    default = code(scalar(spelling.default)) if spelling.default is not None else ""
    values = ", ".join(code(f"{own} -> {told}") for own, told in spelling.values.items())
    versions = code(spelling.versions) if spelling.versions else site.says(site_words.ANY_VERSION)
    known = site.says(site_words.SEVERAL) if framework == "any" else framework
    return text(known), versions, name, default, values
