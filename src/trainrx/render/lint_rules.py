"""The rules of lint themselves: a list for the terminal, an index for the site."""

from __future__ import annotations

from trainrx.model.lint import GUARDS, LintKnowledge
from trainrx.model.text import Lang, Text

_GUARD_SEVERITY = {"reject": "error", "alter": "warning", "warn": "info"}


def titles(knowledge: LintKnowledge) -> dict[str, Text]:
    """Give the title of each rule by its id."""
    own = {rule.id: rule.title for rule in knowledge.rules.values()}
    return {guard.id: guard.title for guard in knowledge.guards} | own


def _rows(knowledge: LintKnowledge, lang: Lang) -> list[tuple[str, str, str, str, str]]:
    rules = [
        (rule.group, rule.id, rule.severity, "*" if rule.fix else "", rule.title.in_(lang))
        for rule in knowledge.rules.values()
    ]
    guards = [
        (GUARDS, guard.id, _GUARD_SEVERITY[guard.effect], "", guard.title.in_(lang))
        for guard in knowledge.guards
    ]
    return [*sorted(rules), *sorted(guards)]


def as_list(knowledge: LintKnowledge, lang: Lang = "en") -> str:
    """List the rules: group, id, severity, `*` where it mends, title."""
    rows = _rows(knowledge, lang)
    wide = max((len(row[1]) for row in rows), default=0)
    return "".join(
        f"{group:11}  {ident:{wide}}  {severity:7} {fix:1}  {title}\n"
        for group, ident, severity, fix, title in rows
    )


def as_index(knowledge: LintKnowledge, lang: Lang = "en") -> str:
    """Write the index of rules as Markdown, a table per group."""
    heads = (
        ("规则", "级别", "可修正", "说明") if lang == "zh" else ("Rule", "Severity", "Fix", "Finds")
    )
    lines: list[str] = []
    group = ""
    for own, ident, severity, fix, title in _rows(knowledge, lang):
        if own != group:
            group = own
            lines += [
                "",
                f"## {group}",
                "",
                f"| {' | '.join(heads)} |",
                "| --- | --- | --- | --- |",
            ]
        lines.append(f"| `{ident}` | {severity} | {'yes' if fix else ''} | {_cell(title)} |")
    return "\n".join(lines).lstrip("\n") + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
