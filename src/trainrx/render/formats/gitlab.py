"""Findings as a code quality report of GitLab.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

from collections import Counter

from trainrx.model.lint import LintReport
from trainrx.render.document import View
from trainrx.render.formats import Format
from trainrx.sanitizer import media

_GITLAB = {"error": "critical", "warning": "minor", "info": "info"}


def write(report: LintReport, _view: View) -> str:
    """Write a report; a fingerprint does not change when lines move."""
    # to list the formats loads each
    import hashlib
    import json

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


FORMAT = Format(record=write, medium=media.json, kinds=("LintReport",), utf8=True)
