"""Guards as what the engine knows: the message a signature, the refusal a cause with its votes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from trainrx.knowledge.conditions import ARGUMENT, arguments_of
from trainrx.model.errors import KnowledgeError
from trainrx.model.knowledge import Cause, Evidence, EvidenceSet, Fix, Symptom
from trainrx.model.levers import Guard
from trainrx.model.parts import Condition
from trainrx.model.text import Text

SAID = 4.0
FORESEEN = 4.0
SIGN = 2.0
KEPT = 1.5
PRIOR = 0.3
SAID_SO = Text(
    en="The program itself says so: this is the message of its check.",
    zh="程序自己给出了原因：这行报错来自它自身的检查。",
)
BREAKS = Text(
    en="The arguments of this launch are what the check refuses at this version.",
    zh="这份启动参数正是该版本的检查所拒绝的组合。",
)
KEEPS = Text(
    en="As far as the launch can be read, it does what the check asks for.",
    zh="就启动参数所见，它满足这项检查的要求。",
)


def with_guards(
    guards: Iterable[Guard], symptoms: Mapping[str, Symptom], causes: Mapping[str, Cause]
) -> tuple[dict[str, Symptom], dict[str, Cause]]:
    """Add what guards say to symptoms and causes.

    Raises:
        KnowledgeError: a guard takes the id of another entry, or names a cause that is not there.
    """
    symptoms, causes = dict(symptoms), dict(causes)
    for guard in guards:
        if guard.patterns:
            if guard.id in symptoms:
                raise KnowledgeError(guard.id, "id", "is a symptom already")
            symptoms[guard.id] = _symptom(guard)
        if guard.cause:
            if guard.cause not in causes:
                raise KnowledgeError(guard.id, "cause", f"there is no cause {guard.cause!r}")
            causes[guard.cause] = _joined(causes[guard.cause], guard)
        elif guard.effect == "reject":
            if guard.id in causes:
                raise KnowledgeError(guard.id, "id", "is a cause already")
            causes[guard.id] = _cause(guard)
    return symptoms, causes


def broken(guard: Guard) -> Condition | None:
    """Give the condition under which this package, at its version, objects to a launch."""
    if guard.when is None:
        return None
    parts = [guard.when]
    if arguments_of(guard.when):
        # another framework may call something else by the same name
        parts.insert(0, Condition(fact="launch.framework", eq=guard.package))
    ranges = tuple(Condition(package=guard.package, versions=spec) for spec in guard.versions)
    if ranges:
        parts.append(ranges[0] if len(ranges) == 1 else Condition(any=ranges))
    return parts[0] if len(parts) == 1 else Condition(all=tuple(parts))


def is_of_another(cause: Cause, guards: Mapping[str, Guard], framework: str) -> bool:
    """Tell whether a cause is a check that another framework makes of its own arguments."""
    guard = guards.get(cause.id)
    if guard is None or guard.when is None or not arguments_of(guard.when):
        return False
    return guard.package != framework


def spoken_of(causes: Iterable[Cause]) -> tuple[str, ...]:
    """List the arguments (`arg.NAME`) that conditions and fixes of causes name, each once."""
    found: dict[str, None] = {}
    for cause in causes:
        votes = (*cause.evidence.supports, *cause.evidence.contradicts)
        conditions = [vote.when for vote in votes]
        conditions += [fix.only_if for fix in cause.fixes if fix.only_if is not None]
        for condition in conditions:
            found |= dict.fromkeys(arguments_of(condition))
        for fix in cause.fixes:
            names = (*fix.set, *fix.unset)
            found |= dict.fromkeys(name for name in names if name.startswith(ARGUMENT))
    return tuple(found)


def message(guard: Guard) -> str:
    """Give the id of the signature of its message, "" when it says nothing."""
    return guard.id if guard.patterns else guard.symptom


def _symptom(guard: Guard) -> Symptom:
    if guard.samples is None:
        raise KnowledgeError(guard.id, "samples", "patterns need samples")
    rejects = guard.effect == "reject"
    return Symptom(
        schema=1,
        id=guard.id,
        role="failure" if rejects else "context",
        family=guard.family if rejects else None,
        title=guard.title,
        summary=guard.summary,
        since=guard.since,
        updated=guard.updated,
        patterns=guard.patterns,
        samples=guard.samples,
        references=guard.references,
    )


def _votes(guard: Guard, said: float, foreseen: float) -> tuple[Evidence, ...]:
    """Give the message and the launch one voice: either proves what the other would."""
    votes: list[Evidence] = []
    group = f"guard-{guard.id}"
    if message(guard):
        seen = Condition(symptom=message(guard))
        votes.append(
            Evidence(id=f"{guard.id}-said", weight=said, when=seen, why=SAID_SO, group=group)
        )
    breaks = broken(guard)
    if breaks is not None:
        votes.append(
            Evidence(id=f"{guard.id}-broken", weight=foreseen, when=breaks, why=BREAKS, group=group)
        )
    return tuple(votes)


def _cause(guard: Guard) -> Cause:
    kept: tuple[Evidence, ...] = ()
    if guard.when is not None:
        condition = Condition(not_=guard.when)
        kept = (Evidence(id=f"{guard.id}-kept", weight=KEPT, when=condition, why=KEEPS),)
    return Cause(
        schema=1,
        id=guard.id,
        family=guard.family,
        title=guard.title,
        summary=guard.summary,
        since=guard.since,
        updated=guard.updated,
        severity="fatal",
        explains=(message(guard),) if message(guard) else (),
        prior=PRIOR,
        evidence=EvidenceSet(supports=_votes(guard, SAID, FORESEEN), contradicts=kept),
        fixes=guard.fixes,
        references=guard.references,
        foreseeable=guard.when is not None,
        aliases=guard.aliases,
    )


def _own(fix: Fix, guard: Guard) -> Fix:
    """Offer a fix of a guard only where that guard spoke, not with every sign of the cause."""
    signs = [Condition(symptom=message(guard))] if message(guard) else []
    breaks = broken(guard)
    signs += [breaks] if breaks is not None else []
    if fix.only_if is not None or not signs:
        return fix
    condition = signs[0] if len(signs) == 1 else Condition(any=tuple(signs))
    return msgspec.structs.replace(fix, only_if=condition)


def _joined(cause: Cause, guard: Guard) -> Cause:
    explains = cause.explains
    if guard.effect == "reject" and message(guard) and message(guard) not in explains:
        explains = (*explains, message(guard))
    weights = (SAID, FORESEEN) if guard.effect == "reject" else (SIGN, SIGN)
    known = {fix.id for fix in cause.fixes}
    refs = {ref.id for ref in cause.references}
    return msgspec.structs.replace(
        cause,
        explains=explains,
        evidence=msgspec.structs.replace(
            cause.evidence, supports=(*cause.evidence.supports, *_votes(guard, *weights))
        ),
        fixes=(*cause.fixes, *(_own(fix, guard) for fix in guard.fixes if fix.id not in known)),
        references=(*cause.references, *(r for r in guard.references if r.id not in refs)),
    )
