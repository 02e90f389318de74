"""Findings as a document: place, message and rule, the line with a caret under the word; counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

import msgspec

from trainrx.model import __version__
from trainrx.model.findings import Finding
from trainrx.model.lint import GUARDS, LintKnowledge, LintReport
from trainrx.model.safety import BY_HAND
from trainrx.model.text import Lang, Text
from trainrx.render import document as doc
from trainrx.render.document import Document, View
from trainrx.render.layout import Styled

SEVERITY: dict[str, Text] = {
    "error": Text(en="error", zh="错误"),
    "warning": Text(en="warning", zh="警告"),
    "info": Text(en="info", zh="提示"),
}
STYLE_OF = {"error": "minus", "warning": "ask", "info": "hue1"}
_GUARD_SEVERITY = {"reject": "error", "alter": "warning", "warn": "info"}
HEADS = (
    Text(en="Place", zh="位置"),
    Text(en="", zh="级别"),
    Text(en="Finding", zh="说明"),
    Text(en="Rule", zh="规则"),
)


def document(report: LintReport, view: View) -> Document:
    """Lay a report out; the last line counts."""
    found = _table(report, view) if view.post else _diagnostics(report, view)
    return Document((*found, doc.Paragraph(summary(report, view), whole=True)))


def _diagnostics(report: LintReport, view: View) -> Iterator[doc.Node]:
    for item in report.findings:
        parts = (item.file, item.line, item.column)
        safe = item.fix is not None and item.fix.safety not in BY_HAND
        yield doc.Diagnostic(
            ":".join(str(part) for part in parts if part is not None),
            Styled(view.say(SEVERITY[item.severity]), STYLE_OF[item.severity]),
            f"{item.message} [{item.rule}]{' [*]' if safe else ''}",
            item.line,
            report.texts.get(item.file, {}).get(item.line or 0, ""),
            item.column,
            item.end_column,
        )


def _table(report: LintReport, view: View) -> Iterator[doc.Node]:
    rows = tuple(
        doc.Row(
            (
                Styled(f"{item.file}:{item.line}" if item.line is not None else item.file, "fix"),
                Styled(item.severity),
                Styled(item.message),
                Styled(item.rule, "fix"),
            )
        )
        for item in report.findings
    )
    if rows:
        heads = tuple(view.say(head) for head in HEADS)
        yield doc.Table((doc.Column(), *(doc.Column("  ") for _ in HEADS[1:])), rows, heads=heads)


def summary(report: LintReport, view: View) -> str:
    """Count the findings in one line."""
    counts = Counter(item.severity for item in report.findings)
    errors, warnings, infos = counts["error"], counts["warning"], counts["info"]
    fixable = sum(item.fix is not None and item.fix.safety == "safe" for item in report.findings)
    if view.lang == "zh":
        said = f"{report.files} 个文件：{errors} 个错误，{warnings} 个警告，{infos} 个提示"
        said += f"；{fixable} 个可用 --fix 修正" if fixable else ""
        return said + (f"；忽略 {report.ignored} 个" if report.ignored else "")
    said = f"{_many(report.files, 'file')}: {_many(errors, 'error')}, {_many(warnings, 'warning')}"
    said += f", {infos} info"
    said += f"; --fix mends {fixable}" if fixable else ""
    return said + (f"; {report.ignored} ignored" if report.ignored else "")


def statistics(report: LintReport) -> str:
    """Count the findings of each rule, the most frequent first."""
    counts = Counter((item.rule, item.severity) for item in report.findings)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    width = max((len(str(count)) for _, count in rows), default=1)
    return "".join(f"{count:>{width}}  {severity:7}  {rule}\n" for (rule, severity), count in rows)


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


class LintTool(msgspec.Struct, frozen=True, kw_only=True):
    """Who answered."""

    name: str = "trainrx"
    version: str = __version__


class Unlinted(msgspec.Struct, frozen=True, kw_only=True):
    """A file nothing could be said of, and why."""

    source: str
    reason: str


class LintAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `diagnose lint --format json` prints."""

    schema_version: Literal[1] = 1
    tool: LintTool = LintTool()
    findings: tuple[Finding, ...] = ()
    files: int = 0
    ignored: int = 0
    unread: tuple[Unlinted, ...] = ()


def published(report: LintReport) -> LintAnswer:
    """Give a report as programs read it."""
    return LintAnswer(
        findings=report.findings,
        files=report.files,
        ignored=report.ignored,
        unread=tuple(Unlinted(source=name, reason=why) for name, why in report.unread),
    )


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


_HEAD: dict[Lang, str] = {
    "en": "# Rules of lint\n\nGenerated by `python -m trainrx.render.lint docs`.\n\n",
    "zh": "# lint 规则\n\n由 `python -m trainrx.render.lint docs` 生成。\n\n",
}


def index_page(knowledge: LintKnowledge, lang: Lang) -> str:
    """Write the page of the index as it is committed."""
    return _HEAD[lang] + as_index(knowledge, lang)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    from trainrx.knowledge.lint import load_lint

    held = load_lint()
    Path(sys.argv[1], "lint-rules.md").write_text(index_page(held, "en"), encoding="utf-8")
    Path(sys.argv[1], "lint-rules.zh.md").write_text(index_page(held, "zh"), encoding="utf-8")
