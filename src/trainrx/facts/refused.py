"""Which arguments a program refused: those its log names, else those no release of it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.refusals import fate_of, takers
from trainrx.catalog.respell import Respelled, named_by_value, value_today
from trainrx.catalog.signature import catalog_command, signature
from trainrx.catalog.tables import judges, tables_of
from trainrx.facts.refusals import SYMPTOM, MentionedArgument, named_by
from trainrx.frameworks import framework_of
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.model.job import RawArg, RawLaunch
from trainrx.model.parts import Param
from trainrx.model.refusal import Fate, RefusedArgument

MOST = 12
"""Arguments that are judged; a launch with more of them is of another program."""
MISSED_KEY, JOB_RAISED = SYMPTOM + "hydra-override-error", SYMPTOM + "hydra-job-raised"
"""Hydra prints the second when it had taken all overrides: the key was then read, not given."""
LETS_PASS = ("ALLOW_EXTRA_ARGS", "ignore_args_error")


class RefusalContext(NamedTuple):
    """What stands beside refused arguments: the launch, versions, parameters.

    `strangers` are the arguments of the launch that no release it may run takes. `releases` is the
    range in which all names of the launch exist, where no version is given; `traced` are those
    that have the files of a traceback, by package.
    """

    launch: RawLaunch | None
    strangers: Sequence[RawArg]
    versions: Mapping[str, str]
    params: Mapping[str, Param]
    releases: str | None = None
    traced: Mapping[str, str] = {}


def refused_arguments(facts: Iterable[Fact], around: RefusalContext) -> tuple[RefusedArgument, ...]:
    """Give the refused arguments, those a log names before those that follow from the launch.

    Args:
        facts: what is known of the job, symptoms among it.
        around: the launch, versions, parameters.
    """
    held = facts if isinstance(facts, Facts) else Facts(facts)
    begun = any(item.kind == JOB_RAISED for item in held)
    told = dict.fromkeys(
        one for item in held if not (begun and item.kind == MISSED_KEY) for one in named_by(item)
    )
    names = {one.key: one for one in reversed(told)}
    judged = (_judged(one, held, around) for one in reversed(names.values()))
    found = [item for item in judged if item is not None][:MOST]
    known = {plain(item.arg.name) for item in found}
    # a parser lists all names it does not take, but looks at values later, or earlier
    listed = any(item.fate is not None for item in found)
    further = _foreseen(around) if not listed else _foreseen_values(around)
    return (*found, *(item for item in further if plain(item.arg.name) not in known))


def refused_facts(refused: Sequence[RefusedArgument]) -> Iterator[Fact]:
    """Say of the first of some refused arguments what it is called and what became of it."""
    for item in refused[:1]:
        at = item.arg.origin
        yield fact("argument.refused", item.arg.name, at, how="derived")
        if item.choices or item.instead:
            yield fact(
                "argument.fate", "value-renamed" if item.instead else "value", at, how="derived"
            )
        elif item.fate is not None:
            kind = "alike" if item.fate.maybe else "renamed" if item.bare else item.fate.kind
            yield fact("argument.fate", kind, at, how="derived")
            yield fact("argument.package", item.fate.package, at, how="derived")
        yield fact("argument.witness", item.witness, at, how="derived")


def _judged(
    named: MentionedArgument, facts: Facts, around: RefusalContext
) -> RefusedArgument | None:
    launch = around.launch
    package = named.package or _framework(facts, launch)
    if not named.name:
        return _unreadable(named, package, around)
    own = _of_launch(named, around)
    fate = None
    if package and not named.choices:
        same = launch is not None and launch.framework == package
        command = _command(launch) if same else named.command
        fate = _fate(named.name, package, command, around, whole=bool(named.call))
    return RefusedArgument(
        arg=RawArg(name=named.name, values=named.values, origin=named.origin)
        if own is None
        else own,
        witness="log",
        fate=fate,
        choices=named.choices,
        set_here=own is not None,
        dashed=named.dashed if own is None else own.via == "arg",
        call=named.call,
        bare=_is_bare(fate),
    )


def _unreadable(
    named: MentionedArgument, package: str, around: RefusalContext
) -> RefusedArgument | None:
    """Find the argument a text was given to that could not be read."""
    values = named.values or ("",)
    own = next(
        (a for a in (around.launch.args if around.launch else ()) if a.values == values), None
    )
    name = own.name if own is not None else named_by_value(values[0], package, around.params)
    now = _today(name, values[0], package, around) if name else None
    if now is None:
        return None if own is None else _of_choices(own, package, around)
    arg = own or RawArg(name=name, values=values, origin=named.origin)
    return _of_value(arg, now, "log", set_here=own is not None)


def _today(name: str, value: str, package: str, around: RefusalContext) -> Respelled | None:
    version = around.versions.get(package) or around.releases
    return value_today(name, value, package, version, around.params)


def _of_value(
    arg: RawArg, now: Respelled, witness: Literal["log", "launch"], *, set_here: bool
) -> RefusedArgument:
    return RefusedArgument(
        arg=arg,
        witness=witness,
        instead=now.now.value,
        canonical=now.canonical,
        set_here=set_here,
        dashed=arg.via == "arg",
    )


def _of_choices(arg: RawArg, package: str, around: RefusalContext) -> RefusedArgument | None:
    """Give an argument whose value is none of those its framework lists for it."""
    known, bits = catalog(package), _bits(package, around)
    command = catalog_command(package, _command(around.launch))
    found = (one for one in known.find(arg.name, command) if known.bits(one) & bits)
    listed = next((known.known(one, bits).choices for one in found), None)
    choices = tuple(str(choice) for choice in listed or ())
    if not choices or " ".join(arg.values or ()) in choices:
        return None
    return RefusedArgument(
        arg=arg, witness="log", choices=choices, set_here=True, dashed=arg.via == "arg"
    )


def _framework(facts: Facts, launch: RawLaunch | None) -> str:
    if launch is not None and launch.framework:
        return launch.framework
    kinds = ("launch.framework", "launch.package", "failure.package")
    return next((name for kind in kinds if (name := facts.text(kind))), "")


def _command(launch: RawLaunch | None) -> str:
    return "" if launch is None else tables_of(launch).command


def _of_launch(named: MentionedArgument, around: RefusalContext) -> RawArg | None:
    """Find the argument where it stands in the launch at hand, or in its files."""
    if around.launch is None or named.call:
        return None
    wanted = plain(named.name)
    held = (*reversed(around.launch.args), *around.strangers)
    return next((arg for arg in held if plain(arg.name) == wanted), None)


def _fate(
    name: str, package: str, command: str, around: RefusalContext, *, whole: bool = False
) -> Fate | None:
    known = catalog(package)
    if not known.releases:
        return None
    known_as = command if command in known.contents.commands else catalog_command(package, command)
    bits = _bits(package, around)
    others = {key: text for key, text in around.versions.items() if key != package}
    refusing = bits & ~takers(package, known_as, name, others) or bits
    taken = signature(package, known_as, refusing, others)
    stand_in = RawLaunch(
        framework=package, command=known_as, args=(), env=(), origin=Origin(source="")
    )
    launch = around.launch
    if launch is None or launch.framework != package:
        launch = stand_in
    return fate_of(name, launch, taken, around.params, others, whole=whole)


def _bits(package: str, around: RefusalContext) -> int:
    """Give the releases of a package that may have run."""
    known = catalog(package)
    version = around.versions.get(package)
    launch = around.launch
    if version is not None:
        return known.of(version)
    own = launch is not None and launch.framework == package
    bits = known.of(around.releases if own else None)
    return bits & known.of(around.traced.get(package)) or bits


def _is_bare(fate: Fate | None) -> bool:
    """Tell whether what is gone is now the first word, without a name."""
    return (
        fate is not None
        and fate.kind == "removed"
        and plain(fate.name) == framework_of(fate.package).now_first_word
    )


def _foreseen(around: RefusalContext) -> Iterator[RefusedArgument]:
    """Give the arguments of a launch that its program will refuse."""
    launch = around.launch
    if launch is None or len(around.strangers) > MOST:
        return
    if not framework_of(launch.framework).refuses_unknown:
        return
    names = {item.name for item in launch.env} | {plain(arg.name) for arg in launch.args}
    tables = tables_of(launch)
    if any(name in names for name in LETS_PASS):
        return
    if not judges(tables, launch.framework, _bits(launch.framework, around)):
        return
    yield from _foreseen_values(around)
    for arg in around.strangers:
        fate = _fate(arg.name, launch.framework, tables.command, around)
        if fate is not None:
            yield RefusedArgument(
                arg=arg,
                witness="launch",
                fate=fate,
                set_here=True,
                dashed=arg.via == "arg",
                bare=_is_bare(fate),
            )


def _foreseen_values(around: RefusalContext) -> Iterator[RefusedArgument]:
    """Give the arguments of a launch whose value only other releases take."""
    launch = around.launch
    for arg in launch.args if launch is not None else ():
        text = arg.values[0] if arg.values and len(arg.values) == 1 else ""
        now = _today(arg.name, text, launch.framework, around) if text and launch else None
        if now is not None:
            yield _of_value(arg, now, "launch", set_here=True)
