"""Run the rules over scripts and launches; turn what they find into findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import cast

from trainrx.knowledge.conditions import arguments_of
from trainrx.linter.finders.conditions import concerning, judged
from trainrx.linter.finders.conditions import find as find_guards
from trainrx.linter.job import LintedJob, Page, RuleHit
from trainrx.model.findings import Finding, FindingFix
from trainrx.model.lint import GUARDS, LintGuard, LintKnowledge, LintRule, Severity
from trainrx.model.text import Lang

_FINDERS = "trainrx.linter.finders"


class Linter:
    """The rules that are selected, ready to be run on many files.

    Args:
        knowledge: all rules.
        chosen: tells by id and group whether a rule is wanted.
        lang: language of the messages.
    """

    def __init__(
        self, knowledge: LintKnowledge, chosen: Callable[[str, str], bool], lang: Lang
    ) -> None:
        self._rules = knowledge.rules
        self._lang = lang
        self._chosen = {rule.id for rule in knowledge.rules.values() if chosen(rule.id, rule.group)}
        self.guards = tuple(g for g in knowledge.guards if chosen(g.id, GUARDS))
        self._titles = {guard.id: guard for guard in self.guards}
        self._conditions = tuple(
            rule
            for rule in knowledge.rules.values()
            if rule.when is not None and rule.id in self._chosen
        )
        finders = {rule.finder for rule in knowledge.rules.values() if rule.id in self._chosen}
        self._finders = sorted(finders - {""})
        self._wanted: dict[str, tuple[str, ...]] = {}
        self._guards: dict[str, tuple[LintGuard, ...]] = {}

    def wanted(self, framework: str) -> tuple[str, ...]:
        """List the arguments (`arg.NAME`) that conditions on launches of a framework ask for."""
        if framework not in self._wanted:
            lists = [guard.arguments for guard in self.guards_of(framework)]
            lists += [arguments_of(r.when) for r in self._conditions if r.when is not None]
            self._wanted[framework] = tuple(dict.fromkeys(n for names in lists for n in names))
        return self._wanted[framework]

    def guards_of(self, framework: str) -> tuple[LintGuard, ...]:
        """Give the guards that check the launches of a framework."""
        if framework not in self._guards:
            self._guards[framework] = concerning(self.guards, framework)
        return self._guards[framework]

    def page(self, page: Page) -> Iterator[Finding]:
        """Judge a script."""
        for name, needed in _OF_PAGES.items():
            if name in self._finders and needed(page):
                yield from self._findings(_hook(name, "look")(page))

    def job(self, job: LintedJob) -> Iterator[Finding]:
        """Judge a launch."""
        for name in self._finders:
            if name not in _OF_PAGES:
                yield from self._findings(_hook(name, "find")(job))
        if self.guards:
            yield from self._findings(find_guards(job))
        yield from self._findings(judged(job, self._conditions))

    def finding(self, found: RuleHit) -> Finding | None:
        """Put a hit into words; None when its rule is not selected."""
        guard = self._titles.get(found.rule)
        rule = self._rules.get(found.rule)
        if guard is None and (rule is None or rule.id not in self._chosen):
            return None
        message = _guard_says(guard, found, self._lang) if guard else _says(rule, found, self._lang)
        severity = found.severity or (rule.severity if rule is not None else "error")
        safety = found.safety or (rule.fix if rule is not None else None)
        fix = FindingFix(safety=safety, edits=found.edits) if found.edits and safety else None
        return Finding(
            rule=found.rule,
            severity=cast("Severity", severity),
            message=message,
            todo=filled(rule.todo.in_(self._lang), found.values) if rule and rule.todo else "",
            file=found.at.file,
            line=found.at.line,
            column=found.at.column,
            end_column=found.at.end,
            fix=fix,
        )

    def _findings(self, hits: Iterable[RuleHit]) -> Iterator[Finding]:
        for found in hits:
            item = self.finding(found)
            if item is not None:
                yield item


def _says(rule: LintRule | None, found: RuleHit, lang: Lang) -> str:
    if rule is None:
        return found.rule
    text = rule.message.in_(lang)
    return filled(text, found.values)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Put values into a message; a part in `[[...]]` is left out when its value is missing."""

    def part(match: re.Match[str]) -> str:
        names = re.findall(r"\{(\w+)\}", match[1])
        return match[1] if all(values.get(name) for name in names) else ""

    held = re.sub(r"\[\[(.*?)\]\]", part, text)
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], "?"), held)


def _guard_says(guard: LintGuard, found: RuleHit, lang: Lang) -> str:
    why = found.values.get("why", "")
    if lang == "zh":
        return f"{guard.title.zh}（{why}）" if why else guard.title.zh
    return f"{guard.title.en} ({why})" if why else guard.title.en


@cache
def _hook(name: str, kind: str) -> Callable[..., Iterator[RuleHit]]:
    """Give what a finder does with scripts (`look`) or launches (`find`)."""
    module = import_module(f"{_FINDERS}.{name}")
    return cast("Callable[..., Iterator[RuleHit]]", getattr(module, kind))


def _has_launches(page: Page) -> bool:
    return bool(page.launches)


def _has_defects(page: Page) -> bool:
    return bool(page.script.defects) or any(one.defects for one in page.launches)


_OF_PAGES: Mapping[str, Callable[[Page], bool]] = {"defects": _has_defects, "script": _has_launches}
"""Finders that look at whole scripts, and whether one has to."""


def worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Order findings, each place once: errors first, then by file and line."""
    order = {"error": 0, "warning": 1, "info": 2}
    first: dict[tuple[object, ...], Finding] = {}
    for item in findings:
        first.setdefault((item.rule, item.file, item.line, item.column, item.message), item)
    return tuple(
        sorted(
            first.values(),
            key=lambda f: (order[f.severity], f.file, f.line or 0, f.column or 0, f.rule),
        )
    )
