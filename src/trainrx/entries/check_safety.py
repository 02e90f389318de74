"""Refuse remedies that are called milder than what they do: the rules stand in `kb/safety.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainrx.entries.problem import Problem, error
from trainrx.fix.measures import ACTIONS
from trainrx.model.knowledge import Fix
from trainrx.model.levers import LeverStep
from trainrx.model.pattern import late
from trainrx.model.safety import GRAVITY, SafetyRule

_WRITTEN = ("arg", "code", "config_file")
"""Kinds of measures whose names are those of a launch or of its configuration."""


def safety_problems(
    fix: Fix, entry: str, rules: Sequence[SafetyRule], where: str
) -> Iterator[Problem]:
    """List where a remedy of an entry claims better than the rules, or destroys without a look."""
    for rule in rules:
        if GRAVITY[fix.safety] < GRAVITY[rule.class_] and touched(fix, rule, entry):
            said = f"is {fix.safety}, kb/safety.yaml says {rule.class_} ({rule.id}): {rule.why.en}"
            yield error(f"{where}.safety", said)
    if (fix.safety == "destructive") != (fix.destroys is not None):
        said = "destructive and `destroys` (target, look_first, commands) belong together"
        yield error(f"{where}.safety", said)
    if fix.destroys is not None and not fix.destroys.look_first:
        yield error(f"{where}.destroys.look_first", "needs a command that shows the target")
    destructive = [rule for rule in rules if rule.class_ == "destructive"]
    for command in fix.commands:
        if any(_says(rule, command) for rule in destructive):
            yield error(f"{where}.commands", f"{command!r} destroys: write it under `destroys`")
    told = fix.steps.en if fix.steps is not None and fix.safety == "destructive" else ""
    if any(_says(rule, told) for rule in destructive):
        yield error(f"{where}.steps", "name what destroys: write the command under `destroys`")


def step_problems(
    step: LeverStep, lever: str, at: int, rules: Sequence[SafetyRule]
) -> Iterator[Problem]:
    """List where a step of a lever (`at` counts from 1) is graded better than the rules say.

    Rules with `kept_with` are left out: the planner keeps what they speak of, or says so.
    """
    for rule in rules:
        graver = GRAVITY[rule.class_] >= GRAVITY["changes-results"] and not rule.kept_with
        if step.price.quality or not graver or f"{lever}/{at}" in rule.except_:
            continue
        if set(rule.parameters) & _settings(step.set, (), rule):
            said = f"is 0, kb/safety.yaml says {rule.class_} ({rule.id}): {rule.why.en}"
            yield error(f"steps[{at - 1}].price.quality", said)


def touched(fix: Fix, rule: SafetyRule, entry: str) -> bool:
    """Tell whether a rule speaks of a remedy."""
    if f"{entry}/{fix.id}" in rule.except_:
        return False
    return _sets(fix, rule) or any(_says(rule, text) for text in _told(fix))


def _sets(fix: Fix, rule: SafetyRule) -> bool:
    """Tell whether a remedy sets what a rule names, and nothing that makes up for it."""
    named = _settings(fix.set, fix.unset, rule) & set(rule.parameters)
    if named and not (named - set(rule.kept_with) and set(rule.kept_with) & fix.set.keys()):
        return True
    written = {measure.param for measure in fix.measures if measure.kind in _WRITTEN}
    return any({name, _last(name)} & set(rule.arguments) for name in written)


def _settings(values: Mapping[str, object], unset: Iterable[str], rule: SafetyRule) -> set[str]:
    """Give the parameters that are changed to what a rule speaks of."""
    changed = {name for name, value in values.items() if not rule.values or value in rule.values}
    return changed if rule.values else changed | set(unset)


def _last(name: str) -> str:
    return name.lstrip("-+").replace("-", "_").rpartition(".")[2]


def _says(rule: SafetyRule, text: str) -> bool:
    return any(late(pattern).search(text) for pattern in rule.commands)


def _told(fix: Fix) -> Iterator[str]:
    yield fix.title.en
    yield fix.cost.en
    if fix.steps is not None:
        yield fix.steps.en
    yield from fix.commands
    for measure in fix.measures:
        yield f"{ACTIONS[measure.action].en}{measure.param} {measure.to}".rstrip()
