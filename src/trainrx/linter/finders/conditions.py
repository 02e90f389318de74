"""What conditions decide: the checks of the frameworks themselves, and rules with `when`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainrx.catalog.catalog import plain
from trainrx.frameworks import framework_of
from trainrx.knowledge.conditions import ARGUMENT, facts_of
from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import LineRange
from trainrx.model.facts import Fact
from trainrx.model.lint import LintGuard, LintRule
from trainrx.model.parts import Condition
from trainrx.reason.conditions import holds
from trainrx.versions.ranges import in_range

_SEVERITY = {"reject": "error", "alter": "warning", "warn": "info"}
_VAGUE = ("launch.", "hardware.", "version.", "guard.")
"""Facts that name no setting of the launch, or only say again what the guard's title does."""
MOST_NAMED = 4


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give each guard whose condition is surely true of the launch."""
    for guard in job.guards:
        others = guard.package != job.launch.framework
        if others and job.launch.command.startswith("megatron"):
            # Megatron trains without the trainer these packages check
            continue
        if others and job.launch.role == "preparation":
            # what prepares data parses such options, and starts no engine that checks them
            continue
        # few conditions hold, and to compare versions takes longer
        if holds(guard.when, job.facts, job.versions) is not True:
            continue
        if _lies_in(guard, job) is True and _matters(guard, job):
            decided = deciding(guard.when, job)
            values = {"said": guard.title.en, "said_zh": guard.title.zh, "why": shown(decided)}
            at = place(decided, job)
            yield RuleHit(guard.id, at, values, severity=_SEVERITY[guard.effect])


def _matters(guard: LintGuard, job: LintedJob) -> bool:
    """Tell whether the launch gives what a guard alters: to alter a default surprises nobody."""
    if guard.effect != "alter":
        return True
    words = set(re.findall(r"[a-z_]{4,}", guard.title.en))
    given = {plain(arg.name) for arg in job.args}
    altered = {word for word in words if "_" in word and job.taken().get(word) is not None}
    return not altered or bool(altered & given)


def concerning(guards: Iterable[LintGuard], framework: str) -> tuple[LintGuard, ...]:
    """Choose the guards that check the launches of a framework.

    These are its own, and those of packages that work inside it. One of the latter may ask for
    arguments by name where the framework's own are those of the package.
    """
    own = framework_of(framework)
    inherits = own.training_arguments
    return tuple(
        guard
        for guard in guards
        if guard.package == framework
        or (
            guard.package in own.inner_packages
            and (
                not guard.arguments or (inherits and framework_of(guard.package).training_arguments)
            )
        )
    )


def _lies_in(guard: LintGuard, job: LintedJob) -> bool | None:
    """Tell whether the package has this check at the job's version; None when nobody can tell."""
    if not guard.versions:
        return True
    present = job.versions.get(guard.package)
    if present is None:
        return None
    answers = [in_range(present, spec) for spec in guard.versions]
    if True in answers:
        return True
    return None if None in answers else False


def deciding(condition: Condition, job: LintedJob) -> list[Fact]:
    """Give the facts a condition speaks of, those that stand in the launch first."""
    found = [job.facts.get(name) for name in facts_of(condition)]
    known = [item for item in found if item is not None]
    return sorted(known, key=_remoteness)


def _remoteness(item: Fact) -> int:
    if item.kind.startswith(_VAGUE):
        return 3
    if item.how == "read":
        return 0
    return 1 if item.how in ("derived", "given") else 2


def shown(facts: list[Fact]) -> str:
    """Write what decided: `per_device_train_batch_size = 1, num_generations = 8`.

    What is off or empty because nobody set it is left out: the title says what is not there.
    """
    told = [item for item in facts if not (item.kind.startswith(_VAGUE) or _is_unset(item))]
    told = told[:MOST_NAMED]
    return ", ".join(f"{item.kind.removeprefix(ARGUMENT)} = {_plain(item.value)}" for item in told)


def _is_unset(item: Fact) -> bool:
    return item.value == "" or (item.how == "default" and item.value in (False, "none"))


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)[:60]


def place(facts: list[Fact], job: LintedJob) -> LineRange:
    """Find the word the first deciding fact stands in, the launch itself where none stands."""
    for item in facts:
        for origin in item.origins:
            if item.kind.startswith("launch.") or origin.line is None:
                continue
            for arg in (*job.args, *job.launch.launcher):
                if arg.origin == origin and _means(arg.name, item, job):
                    return job.texts.flag(arg)
            for variable in job.launch.env:
                if variable.origin == origin and _variable_means(variable.name, item, job):
                    return job.texts.variable(variable.name, origin)
    for item in facts:
        for origin in item.origins:
            if origin.line is not None and origin != job.launch.origin:
                return job.texts.whole(origin)
    return job.texts.whole(job.launch.origin)


def _means(name: str, item: Fact, job: LintedJob) -> bool:
    if item.kind.startswith(ARGUMENT):
        return name.replace("-", "_") == item.kind.removeprefix(ARGUMENT)
    setting = job.resolved.settings.get(item.kind)
    if setting is not None:
        return name.replace("-", "_") == setting.spelled_as.replace("-", "_")
    return True


def _variable_means(name: str, item: Fact, job: LintedJob) -> bool:
    setting = job.resolved.settings.get(item.kind)
    return item.kind == f"env.{name}" or setting is None or setting.spelled_as == name


def judged(job: LintedJob, rules: Iterable[LintRule]) -> Iterator[RuleHit]:
    """Give each rule whose condition is surely true of the launch."""
    for rule in rules:
        if rule.when is None or not _concerns(rule, job):
            continue
        if holds(rule.when, job.facts, job.versions) is True:
            named = [job.facts.get(name) for name in rule.points_at]
            pointed = [item for item in named if item is not None]
            decided = pointed or deciding(rule.when, job)
            values = {item.kind.replace(".", "_"): _value(item.value) for item in decided}
            yield RuleHit(rule.id, place(decided, job), values)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)[:80]


def _concerns(rule: LintRule, job: LintedJob) -> bool:
    return all(
        package in job.versions and in_range(job.versions[package], spec) is True
        for package, spec in rule.versions.items()
    )
