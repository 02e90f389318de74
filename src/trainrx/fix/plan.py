"""The kb's remedies for one cause, computed and spelled for the job at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from trainrx.engine.conditions import Truth
from trainrx.fix.amounts import NotComputable, in_words, target
from trainrx.fix.constraints import batch_note, impossible, keep_batch, repair
from trainrx.kb.store import Knowledge
from trainrx.model.facts import Fact, Facts, Origin, Scalar
from trainrx.model.job import RawLaunch
from trainrx.model.knowledge import Amount, Cause, Fix, PackageChange
from trainrx.model.result import AlreadyRight, Change, ChangeAction, FixOut
from trainrx.model.text import Lang, Text
from trainrx.parse.respell import respelled
from trainrx.parse.spell import Spelled, spell
from trainrx.parse.version_range import in_range
from trainrx.rank.conditions import fix_name

SET_BY_USER = ("read", "given")
INSTEAD = Text(en="not possible here: {why}", zh="此处不可行：{why}")
NO_FRAMEWORK = Text(
    en="the framework is not known: named as in transformers",
    zh="框架未知：按 transformers 的参数名书写",
)


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """For whom fixes are spelled: `style` is arg (command line) or config (YAML)."""

    facts: Facts
    knowledge: Knowledge
    truths: Mapping[str, Truth]
    versions: Mapping[str, str]
    style: Literal["arg", "config"]
    lang: Lang
    launch: RawLaunch | None = None

    @property
    def framework(self) -> str:
        """Give the framework's name, "" when unknown."""
        return self.facts.text("launch.framework") or ""

    @property
    def version(self) -> str | None:
        """Give the framework's version as far as known."""
        return self.facts.text("launch.framework_version")


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do for one cause, what is in place already, and what was left out and why."""

    fixes: tuple[FixOut, ...] = ()
    already_right: tuple[AlreadyRight, ...] = ()
    left_out: tuple[str, ...] = ()


def plan(cause: Cause, job: Target) -> Plan:
    """Work out the fixes of one cause, best first as the kb lists them."""
    fixes: list[FixOut] = []
    right: list[AlreadyRight] = []
    left_out: list[str] = []
    for fix in cause.fixes:
        if not _applies(cause, fix, job):
            continue
        try:
            made = _make(fix, job)
        except _LeftOutError as error:
            left_out += [f"{fix.title.in_(job.lang)}: {error}"] if str(error) else []
            continue
        if isinstance(made, AlreadyRight):
            right.append(made)
        else:
            fixes.append(made)
    return Plan(fixes=tuple(fixes), already_right=tuple(right), left_out=tuple(left_out))


class _LeftOutError(Exception):
    """A fix that cannot be offered; the message says why, "" when nobody needs to know."""


def _applies(cause: Cause, fix: Fix, job: Target) -> bool:
    if fix.only_if is None:
        return True
    truth = job.truths.get(fix_name(cause.id, fix.id))
    return truth is not None and truth.holds is True


def _make(fix: Fix, job: Target) -> FixOut | AlreadyRight:
    values, unknown, settled = _values(fix, job)
    if settled and not values and not unknown and not (fix.packages or fix.unset or fix.commands):
        return _already(fix, settled, job)
    if (why := impossible(job.facts, values)) is not None:
        raise _LeftOutError(INSTEAD.in_(job.lang).format(why=why.in_(job.lang)))
    if _can_spell("train.grad_accum", job):
        values |= keep_batch(job.facts, values)
    notes: list[str] = []
    try:
        further = repair(job.facts, values)
    except ValueError as error:
        raise _LeftOutError(str(error)) from error
    if further is not None:
        values |= further.set
        notes.append(further.why.in_(job.lang))
    batch = batch_note(job.facts, values)
    notes += [batch.in_(job.lang)] if batch is not None else []
    if values and not job.framework:
        notes.append(NO_FRAMEWORK.in_(job.lang))
    changes = (
        *(change for name, value in values.items() if (change := _change(name, value, job))),
        *(_vague(name, fix.set[name], job) for name in unknown),
        *(change for name in fix.unset if (change := _remove(name, job))),
        *(_respelled(job) if fix.respell else ()),
        *(change for package in fix.packages if (change := _package(package, job))),
    )
    if not changes and fix.steps is None and not fix.commands:
        raise _LeftOutError
    return FixOut(
        id=fix.id,
        title=fix.title.in_(job.lang),
        safety=fix.safety,
        cost=fix.cost.in_(job.lang),
        changes=changes,
        steps=fix.steps.in_(job.lang) if fix.steps else "",
        commands=fix.commands,
        notes=tuple(notes),
    )


def _values(fix: Fix, job: Target) -> tuple[dict[str, Scalar], list[str], list[str]]:
    """Split what a fix sets into new values, values not computable, and values already in place."""
    values: dict[str, Scalar] = {}
    unknown: list[str] = []
    settled: list[str] = []
    for name, wanted in fix.set.items():
        if not _can_spell(name, job, wanted):
            continue
        try:
            value = target(name, wanted, job.facts)
        except NotComputable:
            unknown.append(name)
            continue
        if value != job.facts.value(name):
            values[name] = value
        elif isinstance(wanted, Amount) and _is_relative(wanted):
            raise _LeftOutError  # the lever is at its end: the rest of the fix would only harm
        else:
            settled.append(name)
    return values, unknown, settled


def _is_relative(wanted: Amount) -> bool:
    bounded = wanted.right_if_at_least is not None or wanted.right_if_at_most is not None
    return not bounded and (wanted.times is not None or wanted.plus is not None)


def _can_spell(name: str, job: Target, wanted: Scalar | Amount | None = None) -> bool:
    """Tell whether this framework and version have a word for a parameter at all."""
    param = job.knowledge.params.get(name)
    if param is None:
        return False
    present = job.facts.value(name)
    probe: dict[str, Scalar] = {"bool": True, "text": "", "int": 1, "float": 1.0}
    # a switch knows only its own words, so the wanted value is asked for where it is plain
    plain = probe[param.type] if wanted is None or isinstance(wanted, Amount) else wanted
    return _spell(name, plain if present is None else present, job) is not None


def _spell(name: str, value: Scalar, job: Target) -> Spelled | None:
    return spell(
        name,
        value,
        job.framework,
        job.version,
        job.knowledge.params,
        via=job.style,
        launch=job.launch,
    )


def _change(name: str, value: Scalar, job: Target) -> Change | None:
    written = _spell(name, value, job)
    if written is None:
        return None
    present = job.facts.get(name)
    by_user = present is not None and present.how in SET_BY_USER
    before = present.value if present is not None else None
    now = "set" if by_user else _now(written, job)
    at = present.origins[0] if by_user and present and present.origins else None
    return Change(
        kind=written.kind,
        param=written.param,
        canonical=name,
        action="set" if now == "unknown" else _action(before, value, by_user=by_user),
        from_=_written(name, before, job) if by_user else None,
        now=now,
        to=written.value,
        spelled=written.text,
        at=at or _unresolved(written, job),
    )


def _now(written: Spelled, job: Target) -> Literal["unset", "unknown"]:
    """Tell a parameter nobody set from one that may be set where it cannot be seen."""
    launch = job.launch
    if launch is None or not launch.args_complete or _unresolved(written, job) is not None:
        return "unknown"
    return "unset" if written.kind != "env" or launch.env_complete else "unknown"


def _unresolved(written: Spelled, job: Target) -> Origin | None:
    """Give where a parameter is set to something that is not known (`--max_length $LEN`)."""
    args = job.launch.args if job.launch is not None else ()
    found = (arg.origin for arg in args if arg.name == written.param and arg.values is None)
    return next(found, None)


def _action(before: Scalar | None, after: Scalar, *, by_user: bool) -> ChangeAction:
    if not by_user:
        return "add"
    numbers = [
        float(v) for v in (before, after) if isinstance(v, (int, float)) and not isinstance(v, bool)
    ]
    if len(numbers) == 2:
        return "lower" if numbers[1] < numbers[0] else "raise"
    return "switch" if isinstance(after, str) else "set"


def _written(name: str, value: Scalar | None, job: Target) -> str | None:
    """Give the present value in the user's own spelling (`float16`, not fp16)."""
    if value is None:
        return None
    written = _spell(name, value, job)
    if written is not None and written.value:
        return written.value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _vague(name: str, wanted: Scalar | Amount, job: Target) -> Change:
    """Give a change whose value the user must compute: what it follows from is not known."""
    written = _spell(name, 1, job)
    param = written.param if written else name
    source = wanted.fact if isinstance(wanted, Amount) else None
    entry = job.knowledge.facts.get(source) if source else None
    phrase = in_words(wanted, entry.title if entry is not None else None).in_(job.lang)
    return Change(
        kind=written.kind if written else "arg",
        param=param,
        canonical=name,
        action="set",
        now="unknown",
        to=None,
        spelled=f"{param}: {phrase}",
    )


def _respelled(job: Target) -> Iterator[Change]:
    if job.launch is None:
        return
    for found in respelled(job.launch, job.version, job.knowledge.params, job.style):
        dashes = "--" if found.arg.via == "arg" else ""
        yield Change(
            kind=found.now.kind,
            param=found.now.param,
            canonical=found.canonical,
            action="switch",
            from_=" ".join((dashes + found.arg.name, *(found.arg.values or ()))),
            to=found.now.value,
            spelled=found.now.text,
            at=found.arg.origin,
        )


def _remove(name: str, job: Target) -> Change | None:
    present = job.facts.get(name)
    if present is None or present.how not in SET_BY_USER or present.value is None:
        return None
    written = _spell(name, present.value, job)
    if written is None:
        return None
    return Change(
        kind=written.kind,
        param=written.param,
        canonical=name,
        action="remove",
        from_=_written(name, present.value, job),
        now="set",
        to=None,
        spelled=written.text,
        at=present.origins[0] if present.origins else None,
    )


def _package(wanted: PackageChange, job: Target) -> Change | None:
    present = job.versions.get(wanted.name)
    if present is not None and in_range(present, wanted.spec):
        return None
    lower_bound = any(op in wanted.spec for op in (">", "~="))
    upgrade = lower_bound or not any(op in wanted.spec for op in ("<", "=="))
    return Change(
        kind="package",
        param=wanted.name,
        canonical=f"package.{wanted.name}",
        action="upgrade" if upgrade else "downgrade",
        from_=present,
        now="set" if present is not None else "unknown",
        to=wanted.spec,
        spelled=f'pip install "{wanted.name}{wanted.spec}"',
    )


def _already(fix: Fix, settled: Sequence[str], job: Target) -> AlreadyRight:
    present = [item for name in settled if (item := job.facts.get(name)) is not None]
    words = [
        written.text
        for item in present
        if item.value is not None and (written := _spell(item.kind, item.value, job)) is not None
    ]
    return AlreadyRight(
        id=fix.id,
        title=fix.title.in_(job.lang),
        spelled=" ".join(words),
        canonical=tuple(settled),
        evidence=tuple(_origins(present)),
    )


def _origins(present: Sequence[Fact]) -> Iterator[Origin]:
    seen = {origin: None for item in present for origin in item.origins[:1]}
    yield from seen
