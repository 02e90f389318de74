"""In which releases there is what a message says is not there, and what to install for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from packaging.version import Version

from trainrx.facts.homes import SymbolContext, SymbolHome, find_home
from trainrx.facts.lacking import Lack, lacks
from trainrx.facts.packages import applies
from trainrx.knowledge.packages import read_requirements
from trainrx.model.facts import Fact, Facts, fact
from trainrx.versions.ranges import in_range
from trainrx.versions.spans import Span, common, holds, nearest, outside


def symbol_facts(
    facts: Facts, sighted: Iterable[Fact], versions: Mapping[str, str]
) -> Iterator[Fact]:
    """Say which release has what the first message names that the record can answer.

    Nothing is said of a name the record does not know, nor where the installed release has it:
    there something else is wrong.
    """
    told = list(lacks(sighted))
    if not told:
        return
    around = SymbolContext(
        versions,
        facts.text("launch.framework") or "",
        facts.text("failure.package") or "",
    )
    for lack in told:
        found = find_home(lack, around)
        said = list(_said(lack, found, around)) if found is not None else []
        if said:
            yield from said
            return


def _said(lack: Lack, found: SymbolHome, around: SymbolContext) -> Iterator[Fact]:
    present = around.versions.get(found.package)
    if present is not None and holds(found.releases, present) is not False:
        return
    fits = _allowed(found, around)
    span = nearest(fits or found.releases, present)
    if span is None or not span.spec:
        return
    side = _side(span, present)
    at = lack.origin
    shown = lack.of if not lack.name else f"{lack.of}.{lack.name}"
    yield fact("symbol.name", shown, at, how="derived")
    yield fact("symbol.package", found.package, at, how="derived")
    yield fact("symbol.side", side, at, how="derived")
    yield fact("symbol.releases", span.spec, at, how="derived")
    if found.moved and side == "older":
        yield fact("symbol.import", f"from {found.moved} import {lack.name}", at, how="derived")
    yield from _asker(lack, found, span, around)


def _side(span: Span, present: str | None) -> str:
    """Tell on which side of the installed release the wanted ones lie."""
    if present is not None:
        return "newer" if span.start and in_range(present, f"<{span.start}") else "older"
    return "older" if span.end else "newer"


def _allowed(found: SymbolHome, around: SymbolContext) -> tuple[Span, ...]:
    """Give the wanted releases that what is installed allows, as far as its needs are known."""
    spans = found.releases
    known = read_requirements()
    for holder, version in around.versions.items():
        for need in known.needs.get(holder, ()):
            if need.needs == found.package and need.kind != "extra" and applies(need, version):
                spans = common(spans, (_bounds(need.spec),))
    return spans


def _bounds(spec: str) -> Span:
    """Give the outer ends of a range as far as they are plain."""
    start = end = ""
    for part in spec.split(","):
        if part.startswith(">="):
            start = part[2:]
        elif part.startswith("<") and not part.startswith("<="):
            end = part[1:]
    return Span(start, end)


def _asker(lack: Lack, found: SymbolHome, wants: Span, around: SymbolContext) -> Iterator[Fact]:
    """Say which release of the package that asks does without what is not there."""
    package = found.by or (around.raised_in if around.raised_in != found.package else "")
    package = package or _displeased(found.package, around) or _building(found.package, around)
    # torch looks attributes up for whoever asks
    if not package or (package == "torch" and package not in found.asking):
        return
    yield fact("symbol.asker", package, lack.origin, how="derived")
    side = _side(wants, around.versions.get(found.package))
    present = around.versions.get(package)
    free = outside(found.asking[package]) if package in found.asking else ()
    if not free:
        free = _allowing(package, found.package, side, around)
    if not free:
        free = _made_for(package, found.package, side, wants)
    wanted = [span for span in free if (span.start if side == "older" else span.end)]
    span = nearest(wanted, present)
    if span is not None and (present is None or holds((span,), present) is False):
        yield fact("symbol.asker_releases", span.spec, lack.origin, how="derived")


def _made_for(package: str, needed: str, side: str, wants: Span) -> tuple[Span, ...]:
    """Give the releases that ask for no release with the name, or still allow one before it."""
    needs = [
        (need, start)
        for need in read_requirements().needs.get(package, ())
        if need.needs == needed and need.kind == "requires" and (start := _bounds(need.spec).start)
    ]
    if side == "older" and wants.end:
        end = Version(wants.end)
        since = [need.since for need, start in needs if Version(start) >= end]
        return (Span(min(since, key=Version), ""),) if since else ()
    if side == "newer" and wants.start:
        begin = Version(wants.start)
        until = [need.until for need, start in needs if Version(start) < begin]
        return (Span("", max(until, key=Version)),) if until and all(until) else ()
    return ()


def _displeased(needed: str, around: SymbolContext) -> str:
    """Name an installed package whose metadata rule out what is installed of another."""
    present = around.versions.get(needed)
    if present is None:
        return ""
    known = read_requirements().needs
    for holder, version in around.versions.items():
        for need in known.get(holder, ()):
            held = need.needs == needed and need.kind == "requires" and applies(need, version)
            if held and in_range(present, need.spec) is False:
                return holder
    return ""


def _building(needed: str, around: SymbolContext) -> str:
    """Name the framework of the job where it builds on a package."""
    needs = read_requirements().needs.get(around.framework, ())
    return around.framework if any(need.needs == needed for need in needs) else ""


def _allowing(package: str, needed: str, side: str, around: SymbolContext) -> tuple[Span, ...]:
    """Give the releases whose metadata allow what is installed, where those of today do not."""
    present, own = around.versions.get(needed), around.versions.get(package)
    if present is None or own is None:
        return ()
    needs = [n for n in read_requirements().needs.get(package, ()) if n.needs == needed]
    held = [n for n in needs if n.kind == "requires" and applies(n, own)]
    if not held or all(in_range(present, n.spec) for n in held):
        return ()
    fits = [n for n in needs if n.kind == "requires" and in_range(present, n.spec)]
    if side == "older":
        return tuple(Span(n.since, n.until) for n in fits)
    # metadata without a lower end say nothing of what is too old
    return tuple(Span("", n.until) for n in fits if ">" in n.spec)
