"""What was given, in words: the job, and what of the inputs could not be used."""

from __future__ import annotations

from collections.abc import Sequence

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.result import JobSummary
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import View
from trainrx.sanitizer.controls import clean


def job_text(job: JobSummary, view: View, *, short: bool = False) -> str:
    """Say in one line what is known of the job.

    `short`: no owner of the model, no single node, and the model last, where a line is cut.
    """
    framework = " ".join(part for part in (job.framework, job.framework_version) if part)
    cards = (f"{job.gpus} x {job.gpu}" if job.gpu else f"{job.gpus} GPU") if job.gpus else job.gpu
    nodes = ""
    if job.nodes is not None and not (short and job.nodes == 1):
        nodes = view.say(words.ONE_NODE if job.nodes == 1 else words.NODES, n=job.nodes)
    model = (job.model or "").rstrip("/").rpartition("/")[2] if short else job.model
    where = (cards, nodes)
    parts = (framework, job.task, *where, model) if short else (framework, job.task, model, *where)
    return clean(" · ".join(part for part in parts if part))


def unread_at(source: str, line: int | None) -> str:
    """Name the place of something that could not be used."""
    return source if line is None else f"{source}:{line}"


def unread_section(unread: Sequence[Unread], view: View, *, quoted: bool = False) -> doc.Section:
    """List what could not be used, with the lines it stands on where they are `quoted`."""
    items = [
        doc.Bullet(
            item.reason,
            at=(at := unread_at(item.source, item.line)),
            joint=view.say(words.COLON),
            evidence=(Origin(source=at, text=item.text),) if item.text and quoted else (),
        )
        for item in unread
    ]
    return doc.Section(view.say(words.UNREAD), tuple(items))
