"""Changes no parameter stands for (code, data, hardware), worded so that they can be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from trainrx.fix.placeholders import is_open
from trainrx.frameworks import framework_of, frameworks
from trainrx.frameworks.common.owners import is_of_others
from trainrx.model.facts import Facts
from trainrx.model.knowledge import Fix, Measure
from trainrx.model.pattern import late
from trainrx.model.result import Change
from trainrx.model.text import Lang, Text

_STARTED = late(r"(?:^|[|;&]) *(?:[A-Z_]+=\S* +)*([\w-]+)")
"""The program a command starts, behind its variables."""


def running(facts: Facts) -> tuple[str, ...]:
    """Name the framework that runs, under both facts that tell it; empty where neither does.

    A user may name a library as the package in question: that says nothing of what trains.
    """
    framework, package = facts.text("launch.framework"), facts.text("launch.package")
    named = (framework, package if framework_of(package).only_named else None)
    return tuple(name for name in named if name)


def is_package_of_others(name: str, facts: Facts) -> bool:
    """Tell whether a release of this package cannot matter to what runs.

    It does matter where the exception was raised in it, whatever runs.
    """
    own = framework_of(name)
    if not own.owns_names or own.is_lent or facts.text("failure.package") == name:
        return False
    return is_of_others((name,), running(facts))


def is_in_part_of_others(fix: Fix, facts: Facts) -> bool:
    """Tell whether some change of a remedy belongs to another framework."""
    runs = running(facts)
    return any(is_of_others(measure.of, runs) for measure in fix.measures) or any(
        is_package_of_others(package.name, facts) for package in fix.packages
    )


def commands_here(commands: Iterable[str], facts: Facts) -> Iterator[str]:
    """Leave out commands of other frameworks than the one that runs (`llamafactory-cli -h`)."""
    runs = running(facts)
    for command in commands:
        started = {found[1] for found in _STARTED.finditer(command)} if runs else set[str]()
        owners = {one.name for one in frameworks() if started & {*one.programs}}
        if not is_of_others(owners, runs):
            yield command


ACTIONS: dict[str, Text] = {
    "set": Text(en="set ", zh="设置 "),
    "lower": Text(en="lower ", zh="调低 "),
    "raise": Text(en="raise ", zh="调高 "),
    "add": Text(en="add ", zh="添加 "),
    "remove": Text(en="remove ", zh="去掉 "),
    "upgrade": Text(en="upgrade ", zh="升级 "),
    "downgrade": Text(en="downgrade ", zh="降级 "),
    "switch": Text(en="change ", zh="更改 "),
}


FROM_FACT = "$"


def measure_changes(wanted: Iterable[Measure], facts: Facts) -> Iterator[Change]:
    """Give measures as changes.

    One that names a fact nobody knows is left out, and one of another framework than runs here.
    `++$hydra.append` stands for `++` and the text of the fact `hydra.append`, in `to` as well.
    """
    runs = running(facts)
    for measure in wanted:
        if is_of_others(measure.of, runs):
            continue
        param, to = _told(measure.param, facts), _told(measure.to, facts)
        if param is not None and to is not None:
            yield measure_change(msgspec.structs.replace(measure, param=param, to=to))


def _told(text: str, facts: Facts) -> str | None:
    """Write a word with the text of the fact it ends with; nothing where nobody knows that."""
    before, sign, name = text.partition(FROM_FACT)
    told = facts.text(name) if sign else ""
    return None if told is None else before + told


def measure_change(wanted: Measure) -> Change:
    """Give a measure as a change; nobody can tell from a launch whether it is taken already."""
    return Change(
        kind=wanted.kind,
        param=wanted.param,
        canonical="",
        action=wanted.action,
        now="unknown",
        to=None if is_open(wanted.to) else wanted.to or None,
        spelled=_spelled(wanted),
    )


def measure_text(wanted: Measure, lang: Lang) -> str:
    """Word a measure: an assignment for a variable, else what to do, to what, whose that is."""
    if wanted.kind == "env" and wanted.to:
        return _spelled(wanted)
    whose = f" ({', '.join(wanted.of)})" if wanted.of else ""
    return f"{ACTIONS[wanted.action].in_(lang)}{_spelled(wanted)}{whose}"


def _spelled(wanted: Measure) -> str:
    if not wanted.to:
        return wanted.param
    sign = "=" if wanted.kind == "env" else ": "
    return f"{wanted.param}{sign}{wanted.to}"
