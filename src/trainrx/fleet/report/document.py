"""A report as a document: for a terminal, or in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.fleet.across.groups import Group
from trainrx.fleet.report import words
from trainrx.fleet.report.summary import FleetReport
from trainrx.render import document as doc
from trainrx.render.document import Column, Document, Row, View, children
from trainrx.render.layout import Styled
from trainrx.sanitizer.controls import clean

MOST_ROWS = 15
COLUMNS = (
    Column(most=40),
    *(Column(gap="  ", right=True) for _ in range(4)),
    Column(gap="  ", rest=True, least=12, drop=8),
)


def document(report: FleetReport, view: View) -> Document:
    """Lay the report out: totals, suspects, then the tables."""
    return Document(
        children(
            doc.Headline(words.total(report, view.lang), "bad" if report.failed else "good"),
            doc.Paragraph(words.period(report, view.lang), style="dim"),
            _told(report, view),
            doc.Section(view.say(words.SUSPECTS), tuple(_suspects(report, view))),
            _table(view.say(words.BY[report.by]), report.groups, view, named=report.by == "cause"),
            _table(view.say(words.PARAMS), report.params, view, named=False),
        ),
        tool=f"trainrx {report.version}",
    )


def _told(report: FleetReport, view: View) -> doc.Node | None:
    said = words.told(report, view.lang)
    return doc.Paragraph(said) if said else None


def _suspects(report: FleetReport, view: View) -> Iterator[doc.Node]:
    if not report.suspects:
        yield doc.Paragraph(view.say(words.NO_SUSPECT))
    for one in report.suspects:
        names = ", ".join(map(clean, one.together))
        together = (doc.Paragraph(view.say(words.TOGETHER, names=names)),) if names else ()
        yield doc.Bullet(clean(words.suspicion(one, view.lang)), children=together)
    yield doc.Paragraph(view.say(words.METHOD), style="dim")


def _table(title: str, groups: Sequence[Group], view: View, *, named: bool) -> doc.Section | None:
    if not groups:
        return None
    heads = tuple(view.say(head) for head in words.HEADS)
    shown = view.first(groups, MOST_ROWS)
    rows = [
        Row(tuple(Styled(clean(cell)) for cell in words.cells_of(one, named=named, lang=view.lang)))
        for one in shown
    ]
    if not view.post:
        rows.insert(0, Row(tuple(Styled(head, "dim") for head in heads)))
    left = len(groups) - len(shown)
    more = (doc.Paragraph(view.say(words.MORE, count=left), style="dim"),) if left else ()
    return doc.Section(title, (doc.Table(COLUMNS, tuple(rows), heads=heads), *more))
