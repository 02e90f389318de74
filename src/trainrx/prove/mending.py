"""What must change besides, where a check of the framework refuses the launch as it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from trainrx.fix.amounts import NotComputable, target
from trainrx.fix.changes import Target, can_spell
from trainrx.fix.constraints import impossible, keep_batch
from trainrx.knowledge.store import Knowledge
from trainrx.model.facts import Facts, Scalar
from trainrx.model.knowledge import Amount, Fix
from trainrx.model.levers import Guard
from trainrx.model.parts import Reference
from trainrx.model.planning import Move, Price, Standing
from trainrx.model.safety import QUALITY
from trainrx.model.text import Lang, Text
from trainrx.reason.conditions import holds

_GIVES_WAY = frozenset(
    {
        "parallel.processes_per_node",
        "parallel.sequence",
        "rlhf.async",
        "train.grad_accum",
        "train.micro_batch",
        "train.packing",
        "train.precision",
        "train.streaming",
        "tuner.quant_bits",
    }
)
"""What a check leaves no choice about: the launch is refused with any other value."""
BEGUN = frozenset({"train-start", "train", "eval", "save", "rollout", "weight-sync"})
"""Phases a job reaches only when its framework took the launch."""
WHY = Text(
    en="Without it the framework refuses the launch: {title}.",
    zh="不改这一项，框架会拒绝启动：{title}。",
)


class JoinedFix(NamedTuple):
    """A remedy that settles a refusal: canonical parameters with their new values."""

    guard: Guard
    fix: Fix
    values: dict[str, Scalar]


class Ways(NamedTuple):
    """How refusals are looked for and mended in one job.

    `read` gives the facts of the launch with further values, None where they cannot be written;
    `refused` the ids of the guards that refuse such facts; `held` what must stay as it is.
    """

    job: Target
    read: Callable[[Mapping[str, Scalar]], Facts | None]
    refused: Callable[[Facts], AbstractSet[str]]
    held: AbstractSet[str] = frozenset()


def join(facts: Facts, ways: Ways) -> tuple[JoinedFix, ...]:
    """Find, for each refusal that stands, the first remedy that ends it and brings no other.

    Args:
        facts: what is read of the launch, with all that was changed so far.
        ways: the job.
    """
    found: list[JoinedFix] = []
    values: dict[str, Scalar] = {}
    standing = ways.refused(facts)
    for ident in sorted(standing):
        guard = ways.job.knowledge.guards.get(ident)
        if guard is None or ident not in standing:
            continue
        for fix, more in _remedies(guard, facts, ways):
            after = ways.read(values | more)
            left = standing if after is None else ways.refused(after)
            if after is not None and ident not in left and left <= standing:
                found.append(JoinedFix(guard, fix, more))
                values |= more
                facts, standing = after, left
                break
    return tuple(found)


def move_of(one: JoinedFix) -> Move:
    """Give a remedy that was joined as a move of a plan."""
    title = one.guard.title
    return Move(
        lever=one.fix.id,
        values=tuple(one.values.items()),
        price=Price(quality=QUALITY[one.fix.safety]),
        why=Text(en=WHY.en.format(title=title.en), zh=WHY.zh.format(title=title.zh)),
        source=source_of(one.guard),
    )


def source_of(guard: Guard) -> str:
    """Give the address of where the check stands."""
    first: Reference | None = next(iter(guard.references), None)
    return "" if first is None else first.url


def standing_of(ident: str, knowledge: Knowledge, lang: Lang) -> Standing:
    """Say what a check refuses, and what to do about it."""
    guard = knowledge.guards[ident]
    fixes = _fixes(guard, knowledge)
    todo = fixes[0].title if guard.fixes and fixes else guard.summary
    return Standing(id=ident, title=guard.title.in_(lang), todo=todo.in_(lang))


def begun(known: Facts) -> bool:
    """Tell whether a log shows that the job began to train: what a check says is void then."""
    steps = known.number("series.steps") or 0
    return steps > 0 or known.text("oom.phase") in BEGUN or known.value("log.finished") is True


def taken(known: Facts) -> bool:
    """Tell whether a log shows that the parser took the arguments: a card was filled after it."""
    return begun(known) or known.number("oom.asked_gib") is not None


def _fixes(guard: Guard, knowledge: Knowledge) -> tuple[Fix, ...]:
    """List the remedies of a check, those that keep the result first."""
    cause = knowledge.causes.get(guard.cause or guard.id)
    own = (*guard.fixes, *(cause.fixes if cause is not None else ()))
    first: dict[str, Fix] = {}
    for fix in own:
        first.setdefault(fix.id, fix)
    return tuple(sorted(first.values(), key=lambda fix: QUALITY[fix.safety]))


def _remedies(guard: Guard, facts: Facts, ways: Ways) -> Iterator[tuple[Fix, dict[str, Scalar]]]:
    for fix in _fixes(guard, ways.job.knowledge):
        if fix.unset or fix.packages or not _is_plain(fix):
            continue
        if fix.only_if is not None and holds(fix.only_if, facts, ways.job.versions) is not True:
            continue
        values = _values(fix, facts, ways.job)
        if values and ways.held.isdisjoint(values) and impossible(facts, values) is None:
            yield fix, values


def _is_plain(fix: Fix) -> bool:
    """Tell whether a remedy leaves nothing to decide: the result stays, or the launch says it."""
    if fix.safety in ("safe", "costs"):
        return bool(fix.set)
    computed = all(
        name in _GIVES_WAY or isinstance(wanted, Amount) for name, wanted in fix.set.items()
    )
    return fix.safety == "changes-results" and bool(fix.set) and computed


def _values(fix: Fix, facts: Facts, job: Target) -> dict[str, Scalar]:
    """Work out what a remedy sets; nothing where one of its values cannot be told or written."""
    values: dict[str, Scalar] = {}
    for name, wanted in fix.set.items():
        if not can_spell(name, job, wanted):
            return {}
        try:
            value = target(name, wanted, facts)
        except NotComputable:
            return {}
        if value != facts.value(name):
            values[name] = value
    if can_spell("train.grad_accum", job):
        values |= keep_batch(facts, values)
    return values
