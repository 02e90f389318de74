"""Findings for a terminal: place, message and rule, and the line with a caret under the word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainrx.model.findings import Finding
from trainrx.model.lint import LintReport
from trainrx.model.text import Lang

SHOWN = 110
"""Characters of a line that are shown; a longer one is cut around the word."""
_COLOURS = {"error": "31", "warning": "33", "info": "36"}
_WORDS: dict[Lang, dict[str, str]] = {
    "en": {"error": "error", "warning": "warning", "info": "info"},
    "zh": {"error": "错误", "warning": "警告", "info": "提示"},
}


def as_text(report: LintReport, lang: Lang = "en", *, colour: bool = False) -> str:
    """Write a report; the last line counts."""
    lines: list[str] = []
    for item in report.findings:
        lines += _finding(item, report, lang, colour=colour)
    lines.append(summary(report, lang))
    return "\n".join(lines) + "\n"


def _finding(item: Finding, report: LintReport, lang: Lang, *, colour: bool) -> Iterator[str]:
    place = ":".join(str(part) for part in (item.file, item.line, item.column) if part is not None)
    word = _painted(_WORDS[lang][item.severity], _COLOURS[item.severity], colour=colour)
    mark = " [*]" if item.fix is not None and item.fix.safety != "manual" else ""
    yield f"{_painted(place, '1', colour=colour)}: {word}: {item.message} [{item.rule}]{mark}"
    text = report.texts.get(item.file, {}).get(item.line or 0, "")
    if text.strip() and item.line is not None:
        yield from quoted(item, text, colour=colour)


def quoted(item: Finding, text: str, *, colour: bool = False) -> Iterator[str]:
    """Show a line with a caret under what a finding means."""
    number = str(item.line)
    start = (item.column or 1) - 1
    end = max((item.end_column or start + 2) - 1, start + 1)
    shown, shift = _cut(text.rstrip(), start, end)
    yield f"  {number} | {shown}"
    if item.column is None:
        return
    begin, stop = start + shift, min(end + shift, len(shown))
    pad = "".join("\t" if char == "\t" else " " * _width(char) for char in shown[:begin])
    under = "^" * max(sum(_width(char) for char in shown[begin:stop]), 1)
    yield f"  {' ' * len(number)} | {pad}{_painted(under, _COLOURS[item.severity], colour=colour)}"


def _cut(text: str, start: int, end: int) -> tuple[str, int]:
    """Cut a long line around a word; give what is left and how far it moved."""
    if len(text) <= SHOWN:
        return text, 0
    first = max(min(start - 20, len(text) - SHOWN), 0)
    last = max(first + SHOWN, min(end, first + 2 * SHOWN))
    left, right = "..." if first else "", "..." if last < len(text) else ""
    return left + text[first:last] + right, len(left) - first


def _width(char: str) -> int:
    if char.isascii():
        return 1
    # only a line with such characters pays for this import
    import unicodedata

    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def summary(report: LintReport, lang: Lang) -> str:
    """Count the findings in one line."""
    counts = Counter(item.severity for item in report.findings)
    errors, warnings, infos = counts["error"], counts["warning"], counts["info"]
    fixable = sum(item.fix is not None and item.fix.safety == "safe" for item in report.findings)
    if lang == "zh":
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


def _painted(text: str, code: str, *, colour: bool) -> str:
    return f"\033[{code}m{text}\033[0m" if colour else text
