"""What is wrong with the data and the checkpoints a launch names, where they are to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainrx.linter.job import LintedJob, RuleHit
from trainrx.linter.places import MAX_LINE, LineRange, changed_lines, replaced
from trainrx.model.facts import Origin
from trainrx.model.findings import Edit
from trainrx.model.parts import Safety

if TYPE_CHECKING:
    from trainrx.data.findings import EntryEdit

CHANGES_RESULTS: Safety = "changes-results"


def find(job: LintedJob) -> Iterator[RuleHit]:
    """Give what a bounded sample of the data shows."""
    if job.data is None or job.launch.role != "trainer":
        return
    # the readers of data are loaded only where there is some to read
    from trainrx.data.checkpoints import checkpoint_findings
    from trainrx.data.findings import data_findings
    from trainrx.data.survey import surveyed

    found = data_findings(surveyed(job.data), job.data)
    for item in (*found, *checkpoint_findings(job.data)):
        at = _place(item.at, job)
        edits = () if item.instead is None else _edits(at, item.instead, job)
        edits = edits if item.entry is None else _entry_edits(item.entry)
        safety = CHANGES_RESULTS if edits else None
        yield RuleHit(item.rule, at, item.values, edits, safety, item.severity)


def _edits(at: LineRange, instead: tuple[str, str], job: LintedJob) -> tuple[Edit, ...]:
    """Replace a word of a line, where it stands there once."""
    word, text = instead
    line = job.texts.line(at.file, at.line)
    found = list(re.finditer(rf"(?<![\w./-]){re.escape(word)}(?![\w./-])", line[:MAX_LINE]))
    if len(found) != 1:
        return ()
    start, end = found[0].span()
    return replaced(LineRange(at.file, at.line, start + 1, end + 1), text)


def _entry_edits(wanted: EntryEdit) -> tuple[Edit, ...]:
    """Write keys into an entry of the list of data sets; nothing else in it may be different."""
    # edits of JSON by the spans of its keys are needed only here
    from trainrx.data.sources import read_index
    from trainrx.fix.patch.mappings import mapping_edits
    from trainrx.fix.patch.wanted import Want, applied

    name, text = wanted.entry.index, wanted.entry.text
    for key, value in wanted.wanted:
        want = Want("arg", f"{wanted.entry.name}.{key}", (value,))
        edits = next(mapping_edits(name, text, want), ())
        text = applied({name: text}, edits)[name]
    before, after = read_index(wanted.entry.text), read_index(text)
    if before is None or after != {**before, wanted.entry.name: dict(wanted.whole)}:
        return ()
    return changed_lines(name, wanted.entry.text, text)


def _place(at: Origin, job: LintedJob) -> LineRange:
    """Point at the launch, or at a line of the data."""
    if at.line is not None and job.texts.line(at.source, at.line):
        return job.texts.whole(at)
    return LineRange(at.source, at.line)
