"""A resolved launch as a document: head, values by topic, and what is amiss at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainrx.model.inspection import InspectedJob, Inspection, Item, Stranger
from trainrx.model.job import Defect
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import inspect_words as words
from trainrx.render.diagnosis import unread_section
from trainrx.render.document import Document, View, children
from trainrx.render.inspect_head import LABELS, head, is_listed
from trainrx.render.inspect_rows import (
    hidden,
    name_text,
    origin_text,
    plain_value,
    rows,
    unknowns,
    value_text,
    why_text,
)
from trainrx.render.layout import clean, cut
from trainrx.render.words import COLON, COMMA, LISTED

MAX_JOBS = 12
LONGEST = 120
"""Characters of a value that is quoted in a sentence."""


def document(inspection: Inspection, view: View) -> Document:
    """Lay every job out, one below the other."""
    jobs = inspection.jobs
    shown = jobs if view.everything else jobs[:MAX_JOBS]
    count = doc.Paragraph(view.say(words.JOBS, n=len(jobs)), style="dim") if len(jobs) > 1 else None
    left_out = len(jobs) - len(shown)
    rest = doc.Paragraph(view.say(words.TRUNCATED, n=left_out), style="dim", gap=True)
    return Document(
        children(
            count,
            [_job(job, view, number, len(jobs)) for number, job in enumerate(shown, start=1)],
            rest if left_out else None,
            unread_section(inspection.unread, view),
        ),
        tuple(view.say(label) for label in LABELS),
        f"{inspection.tool.name} {inspection.tool.version}",
        short=True,
    )


def _job(job: InspectedJob, view: View, number: int, count: int) -> tuple[doc.Node, ...]:
    found = rows(job, everything=view.everything)
    groups = tuple(
        (view.say(words.TOPIC[topic]), tuple(_setting(item, job, view) for item in items))
        for topic, items in found.items()
    )
    rest = 0 if view.everything else hidden(job)
    return children(
        head(job, view, number, count),
        doc.Settings(groups) if groups else None,
        _amiss(job, view),
        doc.Paragraph(view.say(words.REST, n=rest), style="dim", gap=True) if rest else None,
    )


def _setting(item: Item, job: InspectedJob, view: View) -> doc.Setting:
    origin = origin_text(item, job, view)
    return doc.Setting(
        name_text(item, view.lang), value_text(item, view.lang), origin, _style(item)
    )


def _style(item: Item) -> str:
    if not item.known and item.given:
        return "doubt"
    if item.via == "derived":
        return "good"
    return "strong" if item.given else "dim"


def _amiss(job: InspectedJob, view: View) -> Iterator[doc.Node]:
    """Show what is unknown, refused, hidden or broken."""
    listed = is_listed(job)
    title = words.STRANGERS if listed else words.NO_LIST
    strangers = [_stranger(item, view, listed=listed) for item in job.strangers]
    yield _listed(words.UNKNOWNS, [_unknown(item, job, view) for item in unknowns(job)], view)
    yield _listed(title, strangers, view)
    yield _listed(words.SHADOWED, [_shadowed(item, job, view) for item in job.shadowed], view)
    yield doc.Section(view.say(words.DEFECTS), tuple(_defect(item, view) for item in job.defects))
    yield unread_section(job.unread, view)


def _listed(title: Text, texts: Sequence[str], view: View) -> doc.Section:
    return doc.Section(view.say(title), tuple(map(doc.Bullet, texts)))


def _defect(defect: Defect, view: View) -> doc.Bullet:
    at = f"{defect.source}:{defect.line}"
    at += f":{defect.column}" if defect.column is not None else ""
    known = words.DEFECT.get(defect.id)
    message = defect.message if known is None or view.lang == "en" else view.say(known)
    text = clean(defect.text.strip())
    quoted = (doc.Excerpt((text,), cut=True),) if text else ()
    return doc.Bullet(message, at=at, joint=view.say(COLON), children=quoted)


def _unknown(item: Item, job: InspectedJob, view: View) -> str:
    where = origin_text(item, job, View(view.lang))
    parts = [why_text(item, view.lang)]
    if item.alternatives:
        texts = view.say(LISTED).join(clean(text) or '""' for text in item.alternatives)
        parts.append(view.say(words.MAY_BE, texts=texts))
    shown = cut(f"{item.name} {clean(item.text)}".strip(), LONGEST)
    return f"{shown} ({where}){view.say(COLON)}{view.say(COMMA).join(parts)}"


def _stranger(item: Stranger, view: View, *, listed: bool) -> str:
    where = clean(str(item.origin)).rsplit("/", 1)[-1]
    shown = cut(f"{item.name} {clean(' '.join(item.values or ()))}".strip(), LONGEST)
    if not listed:
        return f"{shown} ({where})"
    if item.instead:
        said = view.say(words.NOW_CALLED, name=item.instead)
    elif item.takers:
        said = view.say(words.TAKEN_BY, releases=item.takers)
    else:
        said = view.say(words.TAKEN_BY_NONE)
    return f"{shown} ({where}){view.say(COLON)}{said}"


def _shadowed(item: Item, job: InspectedJob, view: View) -> str:
    where = origin_text(item, job, View(view.lang))
    winner = next((s for s in job.settings if s.canonical == item.canonical), None)
    said = "" if winner is None else view.say(words.INSTEAD_IS, name=winner.name)
    value = clean(item.text) or plain_value(item.value)
    return f"{item.name} {value} ({where})" + (f"{view.say(COLON)}{said}" if said else "")
