"""One resolved launch as the record that `inspect` shows and `diff` compares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.names import taken_by
from trainrx.catalog.refusals import fate_of
from trainrx.catalog.signature import Signature
from trainrx.catalog.spellbook import Spellbook
from trainrx.facts.all import derive
from trainrx.frameworks import frameworks
from trainrx.inspect.topics import topic_of
from trainrx.knowledge.store import Knowledge
from trainrx.launch.job import Launch, launch_facts
from trainrx.launch.open_terms import OPEN, TERMS
from trainrx.launch.prose.conflicts import overruled
from trainrx.launch.prose.statements import Stated
from trainrx.model import reasons
from trainrx.model.facts import Fact, Facts, How, Origin
from trainrx.model.findings import Unread
from trainrx.model.inspection import InspectedJob, Item, Stranger, Via
from trainrx.model.job import Argument, EnvVar, RawArg, Setting
from trainrx.model.pattern import late
from trainrx.model.text import Lang

_UNSET = late(r"(?:--)?[\w.]{1,200}: .{1,200} is not set in the script")
"""How the reader of settings says that a value is not known; it stands in a list of its own."""
MAX_NAMED = 40
"""Beyond so many unknown names no replacement is looked for: the launch is of another program."""
_SOURCES: dict[str, tuple[str, ...]] = {
    "batch.effective": ("train.micro_batch", "train.grad_accum", "parallel.world_size"),
    "batch.tokens_per_micro_batch": ("train.micro_batch", "train.max_length"),
    "batch.generation": ("train.micro_batch", "parallel.world_size", "rlhf.steps_per_generation"),
    "batch.divisible_by_generations": ("batch.generation", "rlhf.num_generations"),
    "parallel.world_size": ("parallel.nodes", "parallel.processes_per_node"),
    "parallel.zero_stage": ("parallel.deepspeed",),
    "parallel.offload_params": ("parallel.deepspeed",),
    "parallel.offload_optimizer": ("parallel.deepspeed",),
    "parallel.weight_shards": ("parallel.zero_stage", "parallel.world_size"),
    "hardware.gpus": ("hardware.nodes", "hardware.gpus_per_node"),
    "hardware.gpus_per_node": ("parallel.visible_gpus", "parallel.processes_per_node"),
    "vision.pixel_cap": ("vision.max_pixels", "model.family"),
    "train.grad_accum": ("train.micro_batch", "parallel.processes_per_node", "parallel.nodes"),
    "train.learning_rate": ("tuner.type",),
}
"""What a value follows from, for saying so."""
_NOT_SHOWN = (
    *("log", "exit", "symptom", "series", "oom", "collective", "changed", "version", "stated"),
)
_OF_THE_HEAD = frozenset(
    {"launch.given", "launch.framework", "launch.framework_version", "launch.framework_major"}
)


class InspectContext(NamedTuple):
    """What stands beside a launch: further facts and variables, versions and whence they are.

    `named` keeps what a name no release takes is called, for the next round of a loop.
    """

    knowledge: Knowledge
    facts: tuple[Fact, ...]
    told: tuple[Fact, ...]
    stated: Stated
    env: tuple[EnvVar, ...]
    versions: Mapping[str, str]
    version_how: Mapping[str, How]
    lang: Lang
    named: dict[tuple[str, Signature], str]
    nodes: tuple[Origin, ...] = ()


def describe(launch: Launch, around: InspectContext) -> InspectedJob:
    """Say what a launch comes to."""
    raw, resolved = launch.raw, launch.resolved
    unread = tuple(u for u in dict.fromkeys((*raw.unread, *launch.unread)) if not _is_said(u))
    given = around.versions.get(raw.framework)
    how = around.version_how.get(raw.framework, "given") if given else resolved.version_how
    own = (*around.facts, *launch_facts(launch, around.versions), *around.told)
    facts = derive(own, around.knowledge, launch.shape)
    doubtful = frozenset(_doubtful(facts))
    return InspectedJob(
        place=raw.origin,
        framework=raw.framework or None,
        command=raw.command,
        version=given or resolved.version,
        version_how=how,
        task=facts.text("launch.task"),
        model=facts.text("model.name") or facts.text("model.type"),
        role=raw.role,
        perhaps=raw.perhaps,
        complete=raw.args_complete,
        nodes=around.nodes,
        configs=launch.configs,
        arguments=tuple(
            _argument(item, launch)
            for item in _ordered(resolved.arguments)
            if item.via != "default" or item.canonical not in doubtful
        ),
        settings=tuple(
            _setting(item, launch)
            for item in resolved.settings.values()
            if item.via != "default" or item.canonical not in doubtful
        ),
        facts=tuple(_facts(facts, resolved.settings, around, launch)),
        env=tuple(_variables(launch, around)),
        strangers=tuple(_strangers(launch, around)),
        shadowed=tuple(_setting(s, launch) for s in resolved.shadowed),
        defects=tuple(sorted(raw.defects, key=lambda d: (d.source, d.line))),
        unread=(*unread, *overruled(around.stated, facts, around.versions, around.lang)),
    )


def _doubtful(facts: Facts) -> Iterator[str]:
    """Give the parameters whose defaults say nothing: what nobody understands may set them."""
    for name in (facts.text(OPEN) or "").split():
        yield from TERMS[name].settings if name in TERMS else ()


def _is_said(item: Unread) -> bool:
    """Tell whether this is a value that is not known: those stand in a list of their own."""
    return _UNSET.fullmatch(item.reason) is not None


def _word(name: str, origins: Sequence[Origin]) -> str:
    """Find what is written for an argument nobody can tell the value of: `$MODEL_DIR/x`."""
    pattern = rf"(?:^|[\s'\"])(?:--?)?{re.escape(name)}[= \t]+(\S{{1,80}})"
    found = (re.search(pattern, origin.text[:2000]) for origin in origins)
    return next((match[1].strip("\"'") for match in found if match is not None), "")


def _ordered(arguments: Mapping[str, Argument]) -> list[Argument]:
    """Put given ones first, as they stand in the inputs; defaults by name."""
    told = [a for a in arguments.values() if a.via not in ("default", "computed")]
    rest = [a for a in arguments.values() if a.via in ("default", "computed")]
    place = {id(a): (a.origins[0].source, a.origins[0].line or 0) for a in told if a.origins}
    told.sort(key=lambda a: place.get(id(a), ("", 0)))
    return [*told, *sorted(rest, key=lambda a: a.name)]


def _argument(arg: Argument, launch: Launch) -> Item:
    computed = arg.via == "computed" and not arg.why
    return Item(
        topic=topic_of(arg.name, arg.canonical),
        name=arg.name,
        via=arg.via,
        how=arg.how,
        value=arg.value,
        known=arg.known,
        text=arg.text or ("" if arg.known else _word(arg.given_as or arg.name, arg.origins)),
        given_as=arg.given_as,
        canonical=arg.canonical,
        package=arg.package,
        origins=arg.origins,
        sources=_spelled(arg.canonical, launch) if computed else (),
        alternatives=arg.alternatives,
        why=arg.why,
    )


def _setting(setting: Setting, launch: Launch) -> Item:
    known = setting.value is not None
    declared = launch.resolved.arguments.get(setting.spelled_as)
    computed = (
        setting.via == "default"
        and setting.canonical in _SOURCES
        # a default that no release declares is worked out by the framework
        and (declared is None or not declared.known or declared.value != setting.value)
    )
    return Item(
        topic=topic_of(setting.spelled_as, setting.canonical),
        name=setting.spelled_as,
        via="computed" if computed else setting.via,
        how=setting.how,
        value=setting.value,
        known=known,
        text=setting.text or ("" if known else _word(setting.spelled_as, setting.origins)),
        canonical=setting.canonical,
        package=launch.raw.framework if setting.via == "default" else "",
        origins=setting.origins,
        sources=_spelled(setting.canonical, launch) if computed else (),
        why="" if known else reasons.NOT_SET,
    )


def _spelled(canonical: str, launch: Launch, facts: Facts | None = None) -> tuple[str, ...]:
    """Name what a value follows from as this framework does; what is not known has no part."""
    settings = launch.resolved.settings
    return tuple(
        settings[name].spelled_as if name in settings else name
        for name in _SOURCES.get(canonical, ())
        if name in settings or (facts is not None and name in facts)
    )


def _facts(
    facts: Facts, settings: Mapping[str, Setting], around: InspectContext, launch: Launch
) -> Iterator[Item]:
    """Give what follows from the settings, in the order of their names."""
    entries = around.knowledge.facts
    open_terms = (facts.text(OPEN) or "").split()
    shown = (f for f in facts if f.value is not None and f.kind not in settings)
    for item in sorted(shown, key=lambda f: f.kind):
        prefix = item.kind.partition(".")[0]
        if prefix in _NOT_SHOWN or item.kind in _OF_THE_HEAD:
            continue
        if item.kind == "parallel.zero_stage" and not item.value and "sharding" in open_terms:
            continue  # what nobody understands may shard: that is not "no ZeRO"
        entry = entries.get(item.kind)
        yield Item(
            topic=topic_of(item.kind, item.kind),
            name=item.kind,
            via="derived",
            how=item.how,
            value=item.value,
            canonical=item.kind,
            origins=item.origins,
            sources=_spelled(item.kind, launch, facts),
            title="" if entry is None else entry.title.in_(around.lang),
        )


def _variables(launch: Launch, around: InspectContext) -> Iterator[Item]:
    """Give every variable the command sees, those of the launch before those around it."""
    meant = {s.spelled_as: s for s in launch.resolved.settings.values() if s.via == "env"}
    seen: dict[str, EnvVar] = {}
    for var in (*around.env, *launch.raw.env):
        seen[var.name] = var
    for name in sorted(seen):
        var = seen[name]
        canonical = meant[name].canonical if name in meant else ""
        yield Item(
            topic=topic_of(name, canonical) if canonical else "environment",
            name=name,
            via="env",
            how="read",
            value=var.value,
            known=var.value is not None,
            text=var.value or "",
            canonical=canonical,
            origins=(var.origin,),
            why="" if var.value is not None else reasons.NO_TEXT,
        )
    yield from (_told("container", arg) for arg in launch.raw.container)
    yield from (_told("launcher", arg) for arg in launch.raw.launcher)


def _told(via: Via, arg: RawArg) -> Item:
    text = " ".join(arg.values or ())
    return Item(
        topic="parallel" if via == "launcher" else "environment",
        name=arg.name,
        via=via,
        how="read",
        value=True if arg.values == () else text,
        known=arg.values is not None,
        text=text,
        origins=(arg.origin,),
        alternatives=arg.alternatives,
        why="" if arg.values is not None else reasons.NOT_SET,
    )


def _strangers(launch: Launch, around: InspectContext) -> Iterator[Stranger]:
    """Give the names this version does not take, with the name each has here."""
    raw = launch.raw
    taken = {plain(name) for name in launch.resolved.arguments}
    found = [arg for arg in launch.resolved.unknown_flags if plain(arg.name) not in taken]
    for index, arg in enumerate(found):
        instead = _instead(arg, launch, around) if index < MAX_NAMED else ""
        takers = _takers(arg.name, raw.framework, raw.command)
        yield Stranger(
            name=arg.name,
            values=arg.values,
            origin=arg.origin,
            instead=instead,
            takers=takers,
            documented="" if takers else _documented(arg, launch, around),
        )


def _instead(arg: RawArg, launch: Launch, around: InspectContext) -> str:
    taken = taken_by(launch.raw, launch.resolved, around.versions)
    asked = (arg.name, taken)
    if asked not in around.named:
        fate = fate_of(arg.name, launch.raw, taken, around.knowledge.params, around.versions)
        around.named[asked] = fate.now[0][0] if fate.now else fate.near
    return around.named[asked]


def _documented(arg: RawArg, launch: Launch, around: InspectContext) -> str:
    """Give the releases `kb/params` has a name for, as `ms-swift >=4.7`; "" when it has none."""
    book = Spellbook(around.knowledge.params, launch.raw.framework, {})
    via: Literal["arg", "config"] = "config" if arg.via == "config" else "arg"
    found = book.find(arg.name, via, launch.raw.command)
    spans = (f"{entry.owner} {entry.spelling.versions}".rstrip() for entry in found)
    return ", ".join(dict.fromkeys(spans))


def _takers(name: str, framework: str, command: str) -> str:
    """Give the releases that take a name, as `ms-swift <3.0`; "" when none does."""
    lent = ((one.name, one.handed_on) for one in frameworks() if one.handed_on is not None)
    for package, of in ((framework, command), *lent):
        known = catalog(package)
        bits = 0
        for option in known.find(name, of):
            bits |= known.bits(option)
        if bits:
            return f"{package} {known.describe(bits)}".strip()
    return ""
