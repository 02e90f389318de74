"""Findings as other programs take them: annotations of GitHub, GitLab, JUnit, Markdown."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from trainrx.model.findings import Finding
from trainrx.model.lint import LintReport
from trainrx.model.text import Lang
from trainrx.render.lint_text import summary

_GITHUB = {"error": "error", "warning": "warning", "info": "notice"}
_GITLAB = {"error": "critical", "warning": "minor", "info": "info"}


def as_github(report: LintReport) -> str:
    """Write workflow commands, one a line.

    https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
    """
    return "".join(_annotation(item) for item in report.findings)


def _annotation(item: Finding) -> str:
    places = (("line", item.line), ("col", item.column), ("endColumn", item.end_column))
    told = "".join(f",{key}={value}" for key, value in places if value is not None)
    head = f"file={_property(item.file)}{told},title={_property(item.rule)}"
    return f"::{_GITHUB[item.severity]} {head}::{_data(item.message)} [{item.rule}]\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_gitlab(report: LintReport) -> str:
    """Write a code quality report; a fingerprint does not change when lines move.

    https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
    """
    seen: Counter[str] = Counter()
    rows = []
    for item in report.findings:
        text = report.texts.get(item.file, {}).get(item.line or 0, "").strip()
        key = f"{item.file}\0{item.rule}\0{text}\0{item.message}"
        seen[key] += 1
        mark = hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "replace")).hexdigest()
        rows.append(
            {
                "description": item.message,
                "check_name": item.rule,
                "fingerprint": mark,
                "severity": _GITLAB[item.severity],
                "location": {
                    "path": item.file.replace("\\", "/").removeprefix("./"),
                    "lines": {"begin": item.line or 1},
                },
            }
        )
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def as_junit(report: LintReport) -> str:
    """Write a JUnit report: a suite per file, a case per finding; infos pass."""
    from xml.sax.saxutils import escape, quoteattr

    by_file: dict[str, list[Finding]] = {}
    for item in report.findings:
        by_file.setdefault(item.file, []).append(item)
    failed = sum(item.severity != "info" for item in report.findings)
    total = max(len(report.findings), report.files - len(by_file))
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines.append(f'<testsuites name="trainrx" tests="{total}" failures="{failed}">')
    for name, found in by_file.items():
        bad = sum(item.severity != "info" for item in found)
        own = f'tests="{len(found)}" failures="{bad}" errors="0"'
        lines.append(f"  <testsuite name={quoteattr(_clean(name))} {own}>")
        for item in found:
            case = f"{item.rule}:{item.line or 1}:{item.column or 1}"
            where = f"classname={quoteattr(_clean(name))}"
            lines.append(f"    <testcase name={quoteattr(case)} {where}>")
            if item.severity != "info":
                said = quoteattr(_clean(item.message))
                text = escape(_clean(f"{item.file}:{item.line or 1}: {item.message}"))
                lines.append(f"      <failure type={quoteattr(item.severity)} message={said}>")
                lines.append(f"{text}</failure>")
            lines.append("    </testcase>")
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _clean(text: str) -> str:
    """Leave out the characters XML has no place for."""
    return "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff"))


def as_markdown(report: LintReport, lang: Lang = "en") -> str:
    """Write a table for a pull request or an issue."""
    if not report.findings:
        return summary(report, lang) + "\n"
    heads = ("位置", "级别", "说明", "规则") if lang == "zh" else ("Place", "", "Finding", "Rule")
    lines = [f"| {' | '.join(heads)} |", "| --- | --- | --- | --- |"]
    for item in report.findings:
        place = f"{item.file}:{item.line}" if item.line is not None else item.file
        cells = (f"`{place}`", item.severity, _cell(item.message), f"`{item.rule}`")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", summary(report, lang)]) + "\n"


def _cell(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
    return escaped.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
