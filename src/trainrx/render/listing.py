"""All entries of the knowledge base as a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.knowledge.store import Entry, Knowledge
from trainrx.model.guards import Guard
from trainrx.model.knowledge import Cause, Symptom
from trainrx.model.packages import RangeEntry
from trainrx.render import words as said
from trainrx.render.document import View
from trainrx.render.layout import Line, StyledText, cells, clean, cut, pad


def listing(
    knowledge: Knowledge, view: View, *, words: Sequence[str] = (), family: str | None = None
) -> list[Line]:
    """List the entries that hold all words in id, kind, family or title; the count last."""
    rows = [row for row in _rows(knowledge, view, family) if _holds(row, words)]
    widths = [max((cells(row[index]) for row in rows), default=0) for index in range(3)]
    lines = [_line(row, widths, view) for row in rows]
    return [*lines, (StyledText(said.ENTRIES.in_(view.lang).format(n=len(rows)), "dim"),)]


def _rows(
    knowledge: Knowledge, view: View, family: str | None
) -> Iterator[tuple[str, str, str, str]]:
    groups: tuple[dict[str, Entry], ...] = (
        dict(knowledge.causes),
        dict(knowledge.symptoms),
        dict(knowledge.params),
        dict(knowledge.facts),
        dict(knowledge.rules),
        dict(knowledge.guards),
        dict(knowledge.ranges),
    )
    for group in groups:
        for ident in sorted(group):
            entry = group[ident]
            if ident in knowledge.guards and not isinstance(entry, Guard):
                continue
            told = knowledge.causes[entry.range.cause] if isinstance(entry, RangeEntry) else entry
            own = told.family or "" if isinstance(told, (Cause, Symptom, Guard)) else ""
            if family is None or own == family:
                kind = said.KINDS[type(entry).__name__].in_(view.lang)
                yield ident, kind, own, clean(entry.title.in_(view.lang))


def _holds(row: tuple[str, str, str, str], words: Sequence[str]) -> bool:
    text = " ".join(row).lower()
    return all(word.lower() in text for word in words)


def _line(row: tuple[str, str, str, str], widths: list[int], view: View) -> Line:
    """Show one entry; the id is never cut, the title gives way."""
    ident, kind, family, title = row
    start = f"{pad(ident, widths[0])}  {pad(kind, widths[1])}  {pad(family, widths[2])}  "
    room = max(view.width - cells(start), 20)
    return (
        StyledText(ident, "fix"),
        StyledText(start[len(ident) :], "dim"),
        StyledText(cut(title, room)),
    )
