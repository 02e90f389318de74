"""Refuse remedies that are called milder than what they do: the rules stand in `kb/safety.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.entries.problem import Problem, error
from trainrx.fix.measures import ACTIONS
from trainrx.model.knowledge import Fix
from trainrx.model.pattern import late
from trainrx.model.safety import GRAVITY, SafetyRule


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
    for command in fix.commands:
        if any(rule.class_ == "destructive" and _says(rule, command) for rule in rules):
            yield error(f"{where}.commands", f"{command!r} destroys: write it under `destroys`")


def touched(fix: Fix, rule: SafetyRule, entry: str) -> bool:
    """Tell whether a rule speaks of a remedy."""
    if f"{entry}/{fix.id}" in rule.except_:
        return False
    return _sets(fix, rule) or any(_says(rule, text) for text in _told(fix))


def _sets(fix: Fix, rule: SafetyRule) -> bool:
    """Tell whether a remedy sets what a rule names, and nothing that makes up for it."""
    changed = {name for name, value in fix.set.items() if not rule.values or value in rule.values}
    changed |= set(fix.unset) if not rule.values else set()
    named = changed & set(rule.parameters)
    if named and not (named - set(rule.kept_with) and set(rule.kept_with) & fix.set.keys()):
        return True
    arguments = {measure.param for measure in fix.measures if measure.kind in ("arg", "code")}
    return any(_last(name) in rule.arguments for name in arguments)


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
