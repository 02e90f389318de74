"""Whose names a remedy holds: it must be offered to their framework, and to no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from trainrx.entries.problem import Problem, error
from trainrx.frameworks import framework_of, frameworks
from trainrx.frameworks.common.owners import is_of_others
from trainrx.knowledge.catalogs import open_catalog
from trainrx.model.catalog import Option
from trainrx.model.knowledge import Fix, Measure
from trainrx.model.parts import Condition, Param
from trainrx.model.pattern import late

_LENDING = tuple(one.name for one in frameworks() if one.lends_names)
LIBRARIES = ("accelerate", "deepspeed", "peft", "torchrun", *_LENDING)
"""Packages with a catalog whose names go wherever they are used."""
SPELLED = frozenset(one.name for one in frameworks() if one.spelled)
NAMED = frozenset(one.name for one in frameworks() if one.only_named)
"""Those of which knowledge speaks by name only."""
OWNERS = frozenset(one.name for one in frameworks() if one.owns_names)
"""Those whose names mean nothing to the others."""
Asked = tuple[Condition | None, Condition | None]
"""What a cause requires, and the condition of a fix."""
_ANY: frozenset[bool | None] = frozenset({True, False, None})
_NAMED_THERE = ("arg", "config_file")
_WRITTEN_ANEW = ("set", "add")
_LOOSE = late(r"^\w[\w.]*\.engine_kwargs\.\w+\.\w+$")
"""A key below a group that is empty in the configuration of verl, whatever the engine takes."""


def owner_problems(
    fixes: Sequence[Fix],
    params: Mapping[str, Param],
    requires: Condition | None = None,
    package: str = "",
) -> Iterator[Problem]:
    """List remedies that are hidden from the framework whose names they hold, or shown to others.

    An argument is the own of a framework where its catalog or its spelling in kb/params alone has
    it; `of` says so of what is in no catalog, and overrules where a library has the name too.

    Args:
        fixes: the remedies of one entry.
        params: the spellings of parameters.
        requires: what the cause requires besides.
        package: the framework whose own check the entry is, which settles what runs.
    """
    whose = _Whose(
        _owners(tuple(_spelled(params))), frozenset(_written(fixes, params, requires)), package
    )
    for fix in fixes:
        asked = (requires, fix.only_if)
        yield from _never_unknown(fix)
        for measure in fix.measures:
            where = f"fixes.{fix.id}.measures.{measure.param}"
            yield from _measure(measure, where, asked, whose)
        for change in fix.packages:
            # another framework may need another release of what it installs as a library
            own = framework_of(change.name)
            if own.owns_names and not own.is_lent and is_hidden(asked, change.name):
                where = f"fixes.{fix.id}.packages.{change.name}"
                yield error(where, f"only_if hides it where {change.name} runs")


class _Whose(NamedTuple):
    """Who has which name; what remedies that set a parameter write where; whose check this is."""

    known: Mapping[str, frozenset[str]]
    written: frozenset[tuple[str, str]]
    package: str

    def sole(self, measure: Measure) -> frozenset[str]:
        """Give the one framework that has an argument, where there is one."""
        listed = self.known.get(plain(measure.param), frozenset())
        alone = measure.kind in _NAMED_THERE and len(listed) == 1 and listed <= OWNERS
        return listed if alone else frozenset()


def _written(
    fixes: Iterable[Fix], params: Mapping[str, Param], requires: Condition | None
) -> Iterator[tuple[str, str]]:
    """Give the names that `set` comes to, with the framework to which they are offered."""
    for fix in fixes:
        pulled = {ident: params[ident] for ident in fix.set if ident in params}
        for name, framework in _spelled(pulled):
            if not is_hidden((requires, fix.only_if), framework):
                yield name, framework


def _never_unknown(fix: Fix) -> Iterator[Problem]:
    """Refuse `not` on a fact nobody may know: while it is unknown, the remedy is hidden."""
    denied = fix.only_if.not_ if fix.only_if is not None else None
    if denied is not None and denied.fact is not None and denied.known is None:
        yield error(
            f"fixes.{fix.id}.only_if",
            f"hides it while {denied.fact} is unknown: say any: [{{fact: {denied.fact}, "
            f"known: false}}, ...], or all: [{{fact: {denied.fact}, known: true}}, ...]",
        )


def _measure(measure: Measure, where: str, asked: Asked, whose: _Whose) -> Iterator[Problem]:
    unknown = [name for name in measure.of if name not in _NAMES]
    if unknown:
        yield error(where, f"of: no framework or library {', '.join(unknown)} is known")
        return
    if measure.kind == "arg" and measure.action in _WRITTEN_ANEW and _LOOSE.search(measure.param):
        yield error(where, "hydra refuses a key the configuration lacks: write a + in front")
    sole = whose.sole(measure)
    if sole and OWNERS.issuperset(measure.of) and measure.of and sole.isdisjoint(measure.of):
        yield error(where, f"of says {_or(measure.of)}, the catalogs know it of {_or(sole)} alone")
    for owner in sorted(OWNERS.intersection(measure.of or sole)):
        elsewhere = (plain(measure.param), owner) in whose.written
        if is_hidden(asked, owner) and not elsewhere:
            yield error(where, f"only_if hides it where {owner} runs, whose name it is")
    if sole and not measure.of and not whose.package:
        shown = next((run for run in _RUNS if _shown(sole, asked, run)), None)
        if shown is not None:
            yield error(
                where,
                f"is a name of {_or(sole)} alone, and is offered where {shown} runs: "
                f"say of: [{_or(sole)}], or the library it comes from",
            )


def _shown(owners: frozenset[str], asked: Asked, run: str) -> bool:
    return is_of_others(owners, (run,)) and not is_hidden(asked, run)


def is_hidden(asked: Asked, run: str) -> bool:
    """Tell whether a remedy can never be offered where this framework runs.

    What a cause requires must not be false, what a fix asks for must be true.
    """
    required, only_if = asked
    if required is not None and _outcomes(required, run) == {False}:
        return True
    return only_if is not None and True not in _outcomes(only_if, run)


def _outcomes(condition: Condition, run: str) -> frozenset[bool | None]:
    """Give what a condition may come to where only the framework that runs is settled."""
    if condition.all is not None:
        return _worst(_outcomes(part, run) for part in condition.all)
    if condition.any is not None:
        return _negated(_worst(_negated(_outcomes(part, run)) for part in condition.any))
    if condition.not_ is not None:
        return _negated(_outcomes(condition.not_, run))
    kinds = {"launch.framework": run in SPELLED, "launch.package": run in NAMED}
    if condition.fact not in kinds:
        return _ANY
    return frozenset({_of_framework(condition, run, told=kinds[condition.fact])})


def _of_framework(test: Condition, run: str, *, told: bool) -> bool | None:
    if test.known is not None:
        return test.known is told
    if not told:
        return None
    if test.ne is not None:
        return run != test.ne
    return run in (test.one_of or (test.eq,))


def _worst(parts: Iterable[frozenset[bool | None]]) -> frozenset[bool | None]:
    """Join outcomes as Kleene's and: the falsest of each choice."""
    found: frozenset[bool | None] = frozenset({True})
    for part in parts:
        found = frozenset(_falser(one, other) for one, other in product(found, part))
    return found


def _falser(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _negated(outcomes: frozenset[bool | None]) -> frozenset[bool | None]:
    return frozenset(None if outcome is None else not outcome for outcome in outcomes)


def plain(name: str) -> str:
    """Write a name as catalogs are searched: no dashes or pluses in front, no value behind."""
    return name.partition("=")[0].strip().lstrip("-+").replace("-", "_").lower()


def _spelled(params: Mapping[str, Param]) -> Iterator[tuple[str, str]]:
    """Give each name of kb/params with whose it is; what starts any job is nobody's alone."""
    for param in params.values():
        for framework, spellings in param.spelled.items():
            for spelling in spellings:
                for name in (spelling.arg, *spelling.also):
                    yield plain(name), framework


@lru_cache(maxsize=2)
def _owners(spelled: tuple[tuple[str, str], ...]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for package in sorted({*OWNERS, *LIBRARIES}):
        for option in open_catalog(package)[1].of(""):
            for name in _names(option):
                found.setdefault(name, set()).add(package)
    for name, framework in spelled:
        found.setdefault(name, set()).add(framework)
    return {name: frozenset(packages) for name, packages in found.items()}


def _names(option: Option) -> Iterator[str]:
    yield plain(option.name)
    yield from (plain(alias) for alias in option.aliases)


def _or(names: Iterable[str]) -> str:
    return " or ".join(sorted(names))


_RUNS = (*sorted(SPELLED), *sorted(NAMED))
_NAMES = SPELLED | NAMED | set(LIBRARIES) | {"megatron-core", "sglang", "torch", "ray"}
