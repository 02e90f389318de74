"""Findings as SARIF 2.1.0, for code scanning.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from trainrx.model import __version__
from trainrx.model.findings import Edit, Finding
from trainrx.model.lint import LintReport
from trainrx.model.text import Lang, Text
from trainrx.render.document import View
from trainrx.render.formats import Format
from trainrx.sanitizer import media

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SITE = "https://github.com/trainrx/trainrx"

Node = dict[str, object]


def write(report: LintReport, view: View) -> str:
    """Write a report of lint."""
    import json  # to list the formats loads each

    names = sorted({item.rule for item in report.findings})
    rules = [_rule(name, report.titles, view.lang) for name in names]
    index = {name: at for at, name in enumerate(names)}
    run: Node = {
        "tool": {
            "driver": {
                "name": "trainrx",
                "version": __version__,
                "informationUri": _SITE,
                "rules": rules,
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(item, index) for item in report.findings],
    }
    return (
        json.dumps(
            {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False
        )
        + "\n"
    )


def _rule(name: str, titles: Mapping[str, Text], lang: Lang) -> Node:
    title = titles.get(name)
    said = title.in_(lang) if title is not None else name
    return {"id": name, "shortDescription": {"text": said}}


def _result(item: Finding, index: Mapping[str, int]) -> Node:
    place: Node = {"artifactLocation": {"uri": uri(item.file)}}
    if item.line is not None:
        region: Node = {"startLine": item.line}
        if item.column is not None:
            region["startColumn"] = item.column
        if item.end_column is not None:
            region["endColumn"] = item.end_column
        place["region"] = region
    result: Node = {
        "ruleId": item.rule,
        "ruleIndex": index[item.rule],
        "level": _LEVELS[item.severity],
        "message": {"text": item.message},
        "locations": [{"physicalLocation": place}],
    }
    if item.fix is not None and item.fix.edits:
        result["fixes"] = [_fix(item.fix.edits)]
    return result


def _fix(edits: tuple[Edit, ...]) -> Node:
    changes: dict[str, list[Node]] = {}
    for edit in edits:
        region = {
            "startLine": edit.line,
            "startColumn": edit.column,
            "endLine": edit.end_line,
            "endColumn": edit.end_column,
        }
        held = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.file, []).append(held)
    return {
        "artifactChanges": [
            {"artifactLocation": {"uri": uri(name)}, "replacements": held}
            for name, held in changes.items()
        ]
    }


def uri(name: str) -> str:
    """Write a file name as a reference relative to the root of the repository, or as a file URI."""
    path = quote(name.replace("\\", "/").removeprefix("./"), errors="surrogateescape")
    return f"file://{path}" if path.startswith("/") else path


FORMAT = Format(record=write, medium=media.json, kinds=("LintReport",), utf8=True)
