"""Rules for causes: what speaks for and against them, what they say to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.entries.check_common import (
    KnownNames,
    condition_problems,
    head_problems,
    range_problems,
    text_problems,
    title_problems,
    unused_references,
)
from trainrx.entries.check_owners import owner_problems
from trainrx.entries.check_safety import safety_problems
from trainrx.entries.problem import Problem, error, warning
from trainrx.entries.sources import EntrySource
from trainrx.knowledge.conditions import ARGUMENT, facts_of, packages_of, symptoms_of
from trainrx.model.knowledge import FORMER, Amount, Cause, Evidence, Fix
from trainrx.model.parts import Reference
from trainrx.model.pattern import late
from trainrx.reason.certainty import tells_by_name

_REMEDY = late(
    r"(?:set|use|enable|disable|add|remove|fix|turn|raise|lower|increase|reduce|decrease|install|"
    r"upgrade|downgrade|pin|switch|allow|change|avoid|try|check|run|make|do|dont|please)-.*"
)
_JUDGING = {"bad", "wrong", "broken"}
MAX_PRIOR = 0.6
MAX_WEIGHT = 5
DECISIVE = 2.5
TELLING = 1.0
"""Votes of this weight show what a cause is recognised by."""


def cause_problems(entry: Cause, stem: str, folder: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a cause that lies in `causes/<folder>/<stem>.yaml`."""
    yield from head_problems(entry, stem, names)
    yield from _name(entry.id)
    if folder != entry.family:
        yield error("family", f"is {entry.family!r}, the folder says {folder!r}")
    yield from text_problems(("summary", entry.summary))
    yield from unused_references(entry.references, _used(entry))
    yield from _relations(entry, names)
    yield from _priors(entry, names)
    yield from _evidence(entry, names)
    if entry.generic and not any(vote.alone for vote in entry.evidence.supports):
        yield error("generic", "no vote holds alone: what is left when all else is ruled out?")
    yield from fix_problems(entry.fixes, entry.references, names, entry.id)
    yield from owner_problems(entry.fixes, names.params, entry.requires)


def _name(ident: str) -> Iterator[Problem]:
    if _REMEDY.fullmatch(ident):
        yield error("id", "names a remedy; name the bad state ('activations-exceed-memory')")
    if "bad" in ident.split("-"):
        yield warning("id", "'bad' says nothing: what is the state?")


def _used(entry: Cause) -> set[str]:
    votes = (*entry.evidence.supports, *entry.evidence.contradicts)
    return {vote.ref for vote in votes} | {fix.ref for fix in entry.fixes}


def _relations(entry: Cause, names: KnownNames) -> Iterator[Problem]:
    for ident in entry.explains:
        if ident not in names.symptoms:
            yield error("explains", f"no symptom {ident!r}")
    if not entry.explains and not entry.foreseeable:
        yield error("explains", "is empty, and foreseeable is not set: it can never be reported")
    for ident, text in entry.confusable_with.items():
        where = f"confusable_with.{ident}"
        yield from text_problems((where, text))
        if ident not in names.causes and ident not in names.symptoms:
            yield error(where, f"no cause {ident!r}")
        elif ident == entry.id:
            yield error(where, "is the entry itself")
        elif ident in names.causes and (ident, entry.id) not in names.confused:
            yield warning(where, "does not name this cause in turn: a reader comes from both sides")
    for package, spec in entry.applies_to.items():
        yield from range_problems(f"applies_to.{package}", spec)


def _priors(entry: Cause, names: KnownNames) -> Iterator[Problem]:
    cases = ((f"priors[{at}].prior", case.prior) for at, case in enumerate(entry.priors))
    for key, prior in (("prior", entry.prior), *cases):
        if not 0 < prior <= MAX_PRIOR:
            yield error(key, f"is {prior:g}, must lie in (0, {MAX_PRIOR}]")
    for at, case in enumerate(entry.priors):
        yield from condition_problems(f"priors[{at}].when", case.when, names)
    if entry.requires is not None:
        yield from condition_problems("requires", entry.requires, names)


def _evidence(entry: Cause, names: KnownNames) -> Iterator[Problem]:
    refs = {ref.id for ref in entry.references}
    votes = (*entry.evidence.supports, *entry.evidence.contradicts)
    for ident in _twice([vote.id for vote in votes]):
        yield error(f"evidence.{ident}", "an id stands twice")
    if not entry.evidence.supports:
        yield error("evidence.supports", "nothing speaks for it")
    elif not any(_tells(vote, entry, names) for vote in entry.evidence.supports):
        said = "only a symptom that other causes explain too speaks for it: what tells them apart?"
        yield warning("evidence.supports", said)
    for vote in votes:
        where = f"evidence.{vote.id}"
        yield from text_problems((f"{where}.why", vote.why))
        if not 0 < vote.weight <= MAX_WEIGHT:
            yield error(
                f"{where}.weight", f"is {vote.weight:g}, must lie in (0, {MAX_WEIGHT}] nats"
            )
        if vote.ref and vote.ref not in refs:
            yield error(f"{where}.ref", f"no reference {vote.ref!r}")
        yield from condition_problems(f"{where}.when", vote.when, names)
        if packages_of(vote.when) and not vote.ref:
            yield warning(where, "speaks of versions without a ref")
        yield from _computed(where, vote, entry)
        yield from _askable(f"{where}.when", vote, names)


def _computed(where: str, vote: Evidence, entry: Cause) -> Iterator[Problem]:
    """Say where `computed` claims what nothing computes, or what is known without it."""
    if not vote.computed:
        return
    names = facts_of(vote.when)
    if vote in entry.evidence.contradicts:
        yield error(f"{where}.computed", "says nothing of a vote against a cause")
    elif not names and not packages_of(vote.when):
        yield error(f"{where}.computed", "nothing of the launch is tested: what was computed?")
    elif told := [name for name in names if tells_by_name(name)]:
        yield error(f"{where}.computed", f"{told[0]} says so by its name: leave it out")


def _tells(vote: Evidence, entry: Cause, names: KnownNames) -> bool:
    """Tell whether a vote says more than that one of several causes is at work."""
    seen = vote.when.symptom
    if seen is None or seen not in entry.explains or vote.when.if_:
        return True
    return names.shared.get(seen, 0) <= 1 or vote.weight >= DECISIVE


def _askable(key: str, vote: Evidence, names: KnownNames) -> Iterator[Problem]:
    for name in facts_of(vote.when):
        fact = names.facts.get(name)
        if fact is not None and fact.ask is None:
            yield warning(key, f"rests on {name}, whose entry has no ask: nobody can supply it")


_EXAMPLE = late(r"(?:^|[\s=\"'])(?:[./~]*path/to|/?your[_/-]|/?my[_/-])")
"""A path of documentation where a reader is to write his own; in brackets it reads as one."""


def fix_problems(
    fixes: Sequence[Fix], references: Sequence[Reference], names: KnownNames, entry: str
) -> Iterator[Problem]:
    """List what is wrong with remedies."""
    if not fixes:
        yield error("fixes", "there is none")
    for ident in _twice([fix.id for fix in fixes]):
        yield error(f"fixes.{ident}", "an id stands twice")
    refs = {ref.id for ref in references}
    for fix in fixes:
        where = f"fixes.{fix.id}"
        yield from title_problems(fix.title, f"{where}.title")
        yield from text_problems((f"{where}.cost", fix.cost), (f"{where}.steps", fix.steps))
        if fix.ref and fix.ref not in refs:
            yield error(f"{where}.ref", f"no reference {fix.ref!r}")
        # where there is one source, it is clear which is meant
        if fix.packages and not fix.ref and len(references) > 1:
            yield warning(where, "names versions without a ref")
        if fix.only_if is not None:
            yield from condition_problems(f"{where}.only_if", fix.only_if, names)
        if fix.destroys is not None:
            yield from text_problems((f"{where}.destroys.target", fix.destroys.target))
        yield from _changes(fix, where, names)
        yield from safety_problems(fix, entry, names.safety, where)


def coinciding_causes(entries: Sequence[EntrySource]) -> Iterator[tuple[EntrySource, Problem]]:
    """Refuse a cause that the same symptoms tell as another, and whose remedies change the same."""
    seen: dict[tuple[frozenset[str], frozenset[str]], str] = {}
    for source in entries:
        for cause in source.records:
            if not isinstance(cause, Cause):
                continue
            shown = (_telling_symptoms(cause), _changed(cause))
            first = seen.setdefault(shown, cause.id) if all(shown) else cause.id
            if first != cause.id:
                said = f"has the symptoms and the changes of {first!r}: make it one, with an alias"
                yield source, error("id", said)


def _telling_symptoms(cause: Cause) -> frozenset[str]:
    votes = (vote for vote in cause.evidence.supports if vote.weight >= TELLING)
    return frozenset(name for vote in votes for name in symptoms_of(vote.when))


def _changed(cause: Cause) -> frozenset[str]:
    return frozenset(
        name
        for fix in cause.fixes
        for name in (
            *fix.set,
            *fix.unset,
            *(package.name for package in fix.packages),
            *(measure.param for measure in fix.measures),
        )
    )


def shared_fix_problems(fix: Fix, stem: str, names: KnownNames) -> Iterator[Problem]:
    """List what is wrong with a remedy that several entries refer to."""
    if fix.id != stem:
        yield error("id", f"is {fix.id!r}, the file name says {stem!r}")
    if fix.ref:
        yield error("ref", "the source stands where the fix is referred to")
    for problem in (*fix_problems([fix], (), names, stem), *owner_problems([fix], names.params)):
        yield problem._replace(key=problem.key.removeprefix(f"fixes.{fix.id}."))


def _changes(fix: Fix, where: str, names: KnownNames) -> Iterator[Problem]:
    changes = (fix.set, fix.unset, fix.respell, fix.packages, fix.measures, fix.consistent_set)
    if not any((*changes, fix.steps, fix.commands, fix.destroys)):
        yield error(
            where, "changes nothing: give set, unset, packages, measures, steps or commands"
        )
    for key, listed in (("set", tuple(fix.set)), ("unset", fix.unset)):
        for name in listed:
            if name not in names.params and not name.startswith(ARGUMENT):
                yield error(f"{where}.{key}", f"no parameter {name!r} in kb/params")
    for name, amount in fix.set.items():
        if isinstance(amount, Amount) and amount.fact and not names.is_fact(amount.fact):
            yield error(f"{where}.set.{name}", f"no fact {amount.fact!r}")
    for package in fix.packages:
        told = package.spec.removeprefix("$")
        if package.spec == FORMER:
            continue
        if told == package.spec:
            yield from range_problems(f"{where}.packages.{package.name}", package.spec)
        elif not names.is_fact(told):
            yield error(f"{where}.packages.{package.name}", f"no fact {told!r}")
    yield from _examples(fix, where)
    for measure in fix.measures:
        _, sign, told = measure.param.partition("$")
        if sign and not names.is_fact(told):
            yield error(f"{where}.measures", f"no fact {told!r}")


def _examples(fix: Fix, where: str) -> Iterator[Problem]:
    """Refuse values that are paths of documentation: they would be written into a launch."""
    given = [(f"set.{name}", value) for name, value in fix.set.items()]
    given += [(f"measures.{item.param}", item.to) for item in fix.measures]
    for name, value in given:
        if isinstance(value, str) and _EXAMPLE.search(value):
            said = f"{value!r} is nobody's path: write what is to stand there in <brackets>"
            yield error(f"{where}.{name}", said)


def _twice(idents: Sequence[str]) -> list[str]:
    return sorted({ident for ident in idents if idents.count(ident) > 1})
