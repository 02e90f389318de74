"""What a finding of lint is about, and whether a program's own refusal names it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainrx.catalog.catalog import plain
from trainrx.inputs.encoding import decode_text
from trainrx.inputs.stream import tail
from trainrx.linter.places import FileLines
from trainrx.model.facts import Origin
from trainrx.model.findings import Finding
from trainrx.model.job import Input
from trainrx.model.pattern import late

LONGEST = 4000
"""Characters of a log line that are searched."""
MOST_LINES = 40
"""Lines of a log that may be its refusal: the last exceptions and errors of parsers."""
ANYWHERE = 4
"""Characters from which on a value is known for one without quotes around it."""
TELLING = 3
"""Characters from which on a number says whose it is: 0 and 1 are got everywhere."""
COMMON = frozenset({"true", "false", "none", "null", "auto"})
_REFUSING = late(r"(?:Error|Exception)\b|\berror: |: command not found")
_NAMED = late(r"--[A-Za-z][\w.-]*")
_KEY = late(r"[A-Za-z]\w*_\w*")
_DECIDING = late(r"(?<![\w.])(\w+) = ")
_DECIDED = late(r" = (-?\d[\d.e+-]*\d)(?=[,)])")
_NUMBER = late(r"-\.?\d")


class FindingSubject(NamedTuple):
    """The arguments a finding is about, the words it objects to, and others its message has.

    `decided` are the values its message gives of what decides it: a program says that it got one.
    """

    names: frozenset[str]
    values: frozenset[str]
    others: frozenset[str] = frozenset()
    decided: frozenset[str] = frozenset()

    def stands_in(self, line: str) -> bool:
        """Tell whether a line names an argument, or quotes a value."""
        line = line[:LONGEST]
        return (
            any(_names(name, line) for name in self.names)
            or any(_holds(value, line) for value in self.values)
            or any(_quotes(word, line) for word in self.others)
            or any(_got(value, line) for value in self.decided)
        )


def subject_of(finding: Finding, lines: FileLines) -> FindingSubject:
    """Read from the place of a finding, and from its message, what it is about."""
    marked = _marked(finding, lines)
    words = marked.split() if marked.strip("\\ \t") else [marked.strip("\\")]
    names = {plain(word.partition("=")[0]) for word in words if _is_name(word)}
    values = {word.strip("'\"") for word in words if not _is_name(word)}
    said = _KEY.match(finding.message) or _NAMED.search(finding.message)
    names |= {plain(said[0])} if said else set()
    names |= {match[1] for match in _DECIDING.finditer(finding.message)}
    others = {word.strip(",;.()") for word in finding.message.split() if "_" in word}
    told = frozenset(match[1] for match in _DECIDED.finditer(finding.message))
    decided = frozenset(value for value in told if len(value) >= TELLING)
    return FindingSubject(
        frozenset(names - {""}), frozenset(values - {""}), frozenset(others), decided
    )


def refusing_lines(logs: Sequence[Input]) -> Iterator[Origin]:
    """Give the last lines of logs in which a program refuses something.

    Lines are numbered where the log was read from its beginning.
    """
    for log in logs:
        last = tail(log)
        lines = enumerate(decode_text(last.data).split("\n"), start=1)
        found = [(number, text) for number, text in lines if _REFUSING.search(text[:LONGEST])]
        for number, text in found[-MOST_LINES:]:
            yield Origin(source=log.name, line=number if last.whole else None, text=text.strip())


def _marked(finding: Finding, lines: FileLines) -> str:
    line = lines.line(finding.file, finding.line)
    if finding.column is None or finding.end_column is None:
        return ""
    return line[finding.column - 1 : finding.end_column - 1]


def _is_name(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not _NUMBER.match(word)


def _names(name: str, line: str) -> bool:
    """Look for a name: a plain word counts only as an option, or in quotes."""
    word = re.escape(name).replace("_", "[_-]")
    forms = [rf"(?<![\w-])--{word}(?![\w-])", rf"['\"`]{word}['\"`]"]
    if "_" in name:
        forms.append(rf"(?<![\w.-]){word}(?![\w-])")
    return re.search("|".join(forms), line) is not None


def _holds(value: str, line: str) -> bool:
    """Look for a value: a short or a common word counts only in quotes."""
    if len(value) < ANYWHERE or value.lower() in COMMON:
        return _quotes(value, line) or _got(value, line)
    form = rf"(?<![\w.-]){re.escape(value)}(?![\w-])"
    return re.search(form, line, re.IGNORECASE) is not None


def _got(value: str, line: str) -> bool:
    """Look for a value at the end of what a program says it got."""
    form = rf"\bgot (?:[\w.]+=)?{re.escape(value)}\.?$"
    return re.search(form, line, re.IGNORECASE) is not None


def _quotes(word: str, line: str) -> bool:
    return re.search(rf"(['\"`]){re.escape(word)}\1", line, re.IGNORECASE) is not None
