"""The kb's remedies for one cause, computed and spelled for the job at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from trainrx.fix.amounts import NotComputable, target
from trainrx.fix.arguments import translations
from trainrx.fix.changes import (
    Target,
    can_spell,
    change_in_words,
    change_to,
    lacks,
    removal,
    spell_for,
)
from trainrx.fix.constraints import alters_batch, batch_note, impossible, keep_batch, repair
from trainrx.fix.measures import commands_here, is_in_part_of_others, measure_changes
from trainrx.fix.offered import refusal
from trainrx.fix.placeholders import at_home, filled, known_words
from trainrx.fix.versions import install_command, package_changes, set_changes
from trainrx.frameworks import framework_of
from trainrx.model.facts import Fact, Origin, Scalar
from trainrx.model.knowledge import Amount, Cause, Destruction, Fix
from trainrx.model.parts import Safety
from trainrx.model.refusal import Fate, RefusedArgument
from trainrx.model.result import (
    AlreadyRight,
    Change,
    DestructiveStep,
    FixOut,
    NotOffered,
    Predicted,
)
from trainrx.model.safety import graver
from trainrx.model.text import Lang, Text, price_text
from trainrx.versions.ranges import in_range, is_exact

_PER_RELEASE = Text(en="{name}: {names}", zh="{name}：{names}")
_IN = Text(en="{now} in {package} {span}", zh="{package} {span} 中为 {now}")
_ALL = Text(
    en="{name} is {now} in all of {package} {span}",
    zh="{package} {span} 的各版本中，{name} 均为 {now}",
)
_LIVES = Text(en="{package} takes {name} in {span}", zh="{package} {span} 接受 {name}")
_ELSEWHERE = Text(
    en="{name} belongs to {commands}; no release of {package} takes it with {command}",
    zh="{name} 属于 {commands}；{package} 任何版本的 {command} 都不接受它",
)
_CONTRADICTED = Text(
    en="{package} {version} should take {name} by the catalog: a development version or another "
    "installation may be what runs",
    zh="按目录 {package} {version} 应接受 {name}：实际运行的可能是开发版，或另一处安装的版本",
)
_NOTHING = Text(
    en="nothing of it can be changed in this job's command and version",
    zh="在此任务的命令与版本中没有可改之处",
)
_AT_END = Text(en="{name} cannot go any further", zh="{name} 已无法再调")
_ANOTHER = Text(en=", ", zh="，")
_MOST = 3
_CONFIRM = Text(
    en="Only when you have seen that nobody needs it any more, by hand:",
    zh="确认已无人需要后，再手动执行：",
)


def refusal_notes(job: Target) -> Iterator[str]:
    """Say of each refused argument what holds in which releases, and which command takes it."""
    for item in job.refused[:_MOST]:
        if item.fate is not None:
            yield from _notes(item, item.fate, job)


def _notes(item: RefusedArgument, fate: Fate, job: Target) -> Iterator[str]:
    dashes = "--" if item.dashed else ""
    name = f"{dashes}{item.arg.name.lstrip('-')}"
    held = {"name": name, "package": fate.package}
    version = job.versions.get(fate.package)
    if len(fate.now) > 1:
        named = [
            _IN.in_(job.lang).format(now=f"{dashes}{now}", package=fate.package, span=span)
            for now, span in fate.now
        ]
        names = _ANOTHER.in_(job.lang).join(named)
        yield _PER_RELEASE.in_(job.lang).format(name=name, names=names)
    elif fate.now and fate.asked and not is_exact(version or ""):
        now = f"{dashes}{fate.now[0][0]}"
        yield _ALL.in_(job.lang).format(now=now, span=fate.asked, **held)
    if fate.kind in ("coming", "removed") and fate.lives:
        yield _LIVES.in_(job.lang).format(span=fate.lives, **held)
        if version is not None and item.witness == "log" and _contradicted(version, fate):
            yield _CONTRADICTED.in_(job.lang).format(version=version, **held)
    if fate.commands:
        commands = ", ".join(
            f"`{framework_of(fate.package).typed(command)}`" for command in fate.commands[:_MOST]
        )
        own = f"`{framework_of(fate.package).typed(fate.command)}`"
        yield _ELSEWHERE.in_(job.lang).format(commands=commands, command=own, **held)


def _contradicted(version: str, fate: Fate) -> bool:
    return any(in_range(version, span) for span in fate.lives.split(", "))


INSTEAD = Text(en="not possible here: {why}", zh="此处不可行：{why}")
NO_FRAMEWORK = Text(
    en="the framework is not known (say it: --framework NAME): named as in transformers",
    zh="框架未知（可用 --framework 指明）：按 transformers 的参数名书写",
)
OTHER_NAMES = Text(
    en="what {name} calls its arguments is not known here: named as in transformers; look them up",
    zh="此处不知道 {name} 的参数名：按 transformers 的参数名书写，请查其文档中的对应参数",
)


MEMORY = ("oom", "growing_memory", "rank_imbalance")
"""Families whose fixes are meant to lower the peak."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do for one cause, what is in place already, and what is not offered and why.

    `left_out` are those of the latter that would be right and are not possible.
    """

    fixes: tuple[FixOut, ...] = ()
    already_right: tuple[AlreadyRight, ...] = ()
    not_offered: tuple[NotOffered, ...] = ()
    left_out: tuple[str, ...] = ()


def plan(cause: Cause, job: Target) -> Plan:
    """Work out the fixes of one cause, best first as the kb lists them."""
    if cause.family not in MEMORY:
        job = msgspec.structs.replace(job, foresee=None)
    fixes: list[FixOut] = []
    right: list[AlreadyRight] = []
    refused: list[NotOffered] = []
    left_out: list[str] = []
    for fix in cause.fixes:
        title = fix.title.in_(job.lang)
        if why := refusal(fix, job):
            refused.append(NotOffered(id=fix.id, title=title, why=why))
            continue
        try:
            made = _make(fix, cause, job)
        except _LeftOutError as error:
            refused.append(NotOffered(id=fix.id, title=title, why=str(error)))
            left_out += [f"{title}: {error}"] if error.is_told else []
            continue
        if isinstance(made, AlreadyRight):
            right.append(made)
        else:
            fixes.append(made)
    return Plan(
        fixes=tuple(fixes),
        already_right=tuple(right),
        not_offered=tuple(refused),
        left_out=tuple(left_out),
    )


def _whose_names(job: Target) -> str:
    """Say that the names are another framework's, where those of the job's are not known."""
    told = job.facts.text("launch.package")
    said = NO_FRAMEWORK if told is None else OTHER_NAMES
    return said.in_(job.lang).format(name=told)


class _LeftOutError(Exception):
    """A fix that cannot be offered; the message says why, `is_told` whether all need to know."""

    def __init__(self, why: str, *, is_told: bool = True) -> None:
        super().__init__(why)
        self.is_told = is_told


def _make(fix: Fix, cause: Cause, job: Target) -> FixOut | AlreadyRight:
    values, unknown, settled = _values(fix, job)
    if (
        settled
        and not values
        and not unknown
        and not (fix.packages or fix.unset or fix.commands or fix.measures or fix.destroys)
    ):
        return _already(fix, settled, job)
    if (why := impossible(job.facts, values)) is not None:
        raise _LeftOutError(INSTEAD.in_(job.lang).format(why=why.in_(job.lang)))
    if can_spell("train.grad_accum", job):
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
    if (values or unknown) and not job.framework:
        notes.append(_whose_names(job))
    notes += refusal_notes(job) if fix.respell else ()
    together = set_changes(fix, job)
    changes = (
        *(change for name, value in values.items() if (change := change_to(name, value, job))),
        *(change_in_words(name, fix.set[name], job) for name in unknown),
        *(change for name in fix.unset if (change := removal(name, job))),
        *(translations(job) if fix.respell else ()),
        *package_changes(fix, job),
        *together,
        *_measures(fix, job, words := known_words(cause, job)),
    )
    if not changes and (_is_bare(fix) or is_in_part_of_others(fix, job.facts)):
        raise _LeftOutError(_NOTHING.in_(job.lang), is_told=False)
    return FixOut(
        id=fix.id,
        title=fix.title.in_(job.lang),
        safety=_safety(fix, values, job),
        cost=price_text(fix.cost, job.lang),
        changes=changes,
        steps=fix.steps.in_(job.lang) if fix.steps else "",
        commands=(
            *install_command(together),
            *(filled(one, words) for one in commands_here(fix.commands, job.facts)),
        ),
        notes=tuple(notes),
        destroys=None if fix.destroys is None else destructive_step(fix.destroys, job.lang),
        predicted=_predicted(fix, values, job),
    )


def _safety(fix: Fix, values: dict[str, Scalar], job: Target) -> Safety:
    """Give the class of a remedy for this job: a step with other samples is another result."""
    return graver(fix.safety, "changes-results") if alters_batch(job.facts, values) else fix.safety


def destructive_step(found: Destruction, lang: Lang) -> DestructiveStep:
    """Give what a remedy deletes or ends, with what to look at and to be sure of before."""
    return DestructiveStep(
        target=found.target.in_(lang),
        look_first=found.look_first,
        confirm=_CONFIRM.in_(lang),
        commands=found.commands,
    )


def _measures(fix: Fix, job: Target, words: Mapping[str, str]) -> Iterator[Change]:
    """Give the measures of a remedy; an argument needs a command of the job that has it."""
    for measure in fix.measures:
        known = msgspec.structs.replace(measure, to=filled(measure.to, words))
        for change in measure_changes((known,), job.facts):
            if measure.command:
                yield change
            elif not lacks(change, job):
                yield at_home(change, job)


def _is_bare(fix: Fix) -> bool:
    return fix.steps is None and not fix.commands and fix.destroys is None


def _predicted(fix: Fix, values: dict[str, Scalar], job: Target) -> Predicted | None:
    """Foresee what a fix does; what a removal or an install comes to is not known here."""
    if job.foresee is None or not values or fix.unset or fix.packages:
        return None
    return job.foresee(values)


def _values(fix: Fix, job: Target) -> tuple[dict[str, Scalar], list[str], list[str]]:
    """Split what a fix sets into new values, values not computable, and values already in place."""
    values: dict[str, Scalar] = {}
    unknown: list[str] = []
    settled: list[str] = []
    unread = framework_of(job.facts.text("launch.framework") or "").unread(job.facts)
    for name, wanted in fix.set.items():
        if not can_spell(name, job, wanted):
            continue
        try:
            value = target(name, wanted, job.facts)
        except NotComputable:
            unknown.append(name)
            continue
        if value != job.facts.value(name):
            values[name] = value
        elif isinstance(wanted, Amount) and _is_relative(wanted):
            # the rest of the fix would only harm
            raise _LeftOutError(_AT_END.in_(job.lang).format(name=name), is_told=False)
        elif name in unread:
            raise _LeftOutError("", is_told=False)
        else:
            settled.append(name)
    return values, unknown, settled


def _is_relative(wanted: Amount) -> bool:
    bounded = wanted.right_if_at_least is not None or wanted.right_if_at_most is not None
    return not bounded and (wanted.times is not None or wanted.plus is not None)


def _already(fix: Fix, settled: Sequence[str], job: Target) -> AlreadyRight:
    present = [item for name in settled if (item := job.facts.get(name)) is not None]
    words = [
        written.text
        for item in present
        if item.value is not None and (written := spell_for(item.kind, item.value, job)) is not None
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
