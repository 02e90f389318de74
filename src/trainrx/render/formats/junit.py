"""Findings as a JUnit report."""

from __future__ import annotations

from trainrx.model.findings import Finding
from trainrx.model.lint import LintReport
from trainrx.render.document import View
from trainrx.render.formats import Format
from trainrx.sanitizer import media


def write(report: LintReport, _view: View) -> str:
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
        lines.append(f"  <testsuite name={quoteattr(name)} {own}>")
        for item in found:
            case = f"{item.rule}:{item.line or 1}:{item.column or 1}"
            where = f"classname={quoteattr(name)}"
            lines.append(f"    <testcase name={quoteattr(case)} {where}>")
            if item.severity != "info":
                said = quoteattr(item.message)
                text = escape(f"{item.file}:{item.line or 1}: {item.message}")
                lines.append(f"      <failure type={quoteattr(item.severity)} message={said}>")
                lines.append(f"{text}</failure>")
            lines.append("    </testcase>")
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


FORMAT = Format(record=write, medium=media.xml, kinds=("LintReport",), utf8=True)
