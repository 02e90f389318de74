"""Findings as JSON, as the contract has them (schema_version 1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.findings import Finding
from trainrx.model.lint import LintReport
from trainrx.model.version import __version__


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


def as_json(report: LintReport) -> str:
    """Write a report, indented."""
    answer = LintAnswer(
        findings=report.findings,
        files=report.files,
        ignored=report.ignored,
        unread=tuple(Unlinted(source=name, reason=why) for name, why in report.unread),
    )
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n"
