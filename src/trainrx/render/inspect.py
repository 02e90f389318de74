"""A resolved launch as a document: head, values by topic, and what is amiss at the end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from trainrx.frameworks import framework_of
from trainrx.model.inspection import (
    InspectedJob,
    Inspection,
    Item,
    Sided,
    Stranger,
)
from trainrx.model.job import Defect
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import inspect_words as words
from trainrx.render.document import Document, View, children
from trainrx.render.inputs import CONFIG, configs_text, unread_section
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
from trainrx.render.layout import cut
from trainrx.render.words import COLON, COMMA, LISTED
from trainrx.sanitizer.controls import clean

LABELS = (
    words.FRAMEWORK,
    words.TASK,
    words.MODEL,
    words.LAYOUT,
    words.BATCH,
    CONFIG,
    words.NODES,
    words.CHECK,
)
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
        _head(job, view, number, count),
        doc.SettingTable(groups) if groups else None,
        _amiss(job, view),
        doc.Paragraph(view.say(words.REST, n=rest), style="dim", gap=True) if rest else None,
    )


def _setting(item: Item, job: InspectedJob, view: View) -> doc.SettingRow:
    origin = origin_text(item, job, view)
    name = name_text(item, view.lang)
    if view.everything and item.canonical not in ("", name):
        origin += f" · {item.canonical}"
    return doc.SettingRow(name, value_text(item, view.lang), origin, _style(item))


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
    elif item.documented:
        said = view.say(words.DOCUMENTED, releases=item.documented)
    else:
        said = view.say(words.TAKEN_BY_NONE)
    return f"{shown} ({where}){view.say(COLON)}{said}"


def _shadowed(item: Item, job: InspectedJob, view: View) -> str:
    where = origin_text(item, job, View(view.lang))
    winner = next((s for s in job.settings if s.canonical == item.canonical), None)
    said = "" if winner is None else view.say(words.INSTEAD_IS, name=winner.name)
    value = clean(item.text) or plain_value(item.value)
    return f"{item.name} {value} ({where})" + (f"{view.say(COLON)}{said}" if said else "")


def _head(job: InspectedJob, view: View, number: int, count: int) -> Iterator[doc.Node]:
    """Show what a job is, in about six lines."""
    marks = [view.say(words.NUMBER, i=number, n=count)] if count > 1 else []
    marks += [view.say(words.ROLE[job.role])] if job.role in words.ROLE and count > 1 else []
    marks += [view.say(words.PERHAPS)] if job.perhaps else []
    title = f"{clean(str(job.place))}  {what(job)}"
    aside = view.paren(view.say(COMMA).join(marks))
    yield doc.Paragraph(title + aside, style="strong", gap=count > 1)
    known = {item.name: item.value for item in (*job.facts, *job.settings)}
    known |= {item.canonical: item.value for item in job.settings if item.known}
    for label, text in (
        (words.FRAMEWORK, framework(job, view)),
        (words.TASK, _task(job, known)),
        (words.MODEL, _model(job, known, view)),
        (words.LAYOUT, _layout(known, view)),
        (words.BATCH, _batch(known, view)),
        (CONFIG, configs_text(job.configs, view)),
        (words.NODES, view.say(LISTED).join(clean(str(place)) for place in job.nodes)),
    ):
        if text:
            yield doc.Labelled(view.say(label), (text,), hard=True)
    matter = view.say(COMMA).join(_matter(job, view))
    if matter:
        yield doc.Labelled(view.say(words.CHECK), (matter,), style="doubt", hard=True)


def what(job: InspectedJob | Sided) -> str:
    """Give the command as one would type it."""
    return clean(framework_of(job.framework).typed(job.command))


def framework(job: InspectedJob | Sided, view: View) -> str:
    """Name the framework, its version, and how that is known."""
    if not job.framework:
        return view.say(words.NO_FRAMEWORK)
    if not job.version:
        return clean(job.framework) + view.say(COMMA) + view.say(words.NO_VERSION)
    how = words.VERSION_HOW.get(job.version_how or "given", words.VERSION_HOW["derived"])
    return clean(f"{job.framework} {job.version}") + view.say(COMMA) + view.say(how)


def _task(job: InspectedJob, known: Mapping[str, object]) -> str:
    parts = (job.task or "", known.get("tuner.type"), known.get("train.precision"))
    return clean(" · ".join(str(part) for part in parts if part))


def _model(job: InspectedJob, known: Mapping[str, object], view: View) -> str:
    if job.model is None:
        return view.say(words.NO_MODEL)
    size = known.get("model.params_b")
    parts = [str(known["model.family"])] if known.get("model.family") else []
    parts += [view.say(words.BILLION, n=plain_value(size))] if size else []
    parts += [view.say(words.VISION)] if known.get("model.is_vision") is True else []
    return clean(" · ".join((job.model, *parts)))


def _layout(known: Mapping[str, object], view: View) -> str:
    nodes, processes = known.get("hardware.nodes"), known.get("parallel.processes_per_node")
    parts: list[str] = []
    if nodes == 1 and processes == 1:
        parts.append(view.say(words.ONE_PROCESS))
    elif nodes is not None and processes is not None:
        text = words.ONE_NODE_LAYOUT if nodes == 1 else words.NODES_LAYOUT
        parts.append(view.say(text, n=nodes, p=processes))
    for name, short in (("tensor", "TP"), ("pipeline", "PP"), ("sequence", "SP")):
        size = known.get(f"parallel.{name}")
        parts += [f"{short} {size}"] if isinstance(size, int) and size > 1 else []
    stage = known.get("parallel.zero_stage")
    if isinstance(stage, int) and not isinstance(stage, bool):
        parts.append(f"ZeRO-{stage}" if stage else view.say(words.NO_ZERO))
    sharding = known.get("parallel.fsdp")
    parts += [f"FSDP {clean(sharding)}"] if isinstance(sharding, str) else []
    away = [known.get(f"parallel.offload_{name}") is True for name in ("params", "optimizer")]
    if any(away):
        text = words.BOTH if all(away) else words.PARAMETERS if away[0] else words.OPTIMIZER
        parts.append(view.say(words.OFFLOADED, what=view.say(text)))
    return view.say(COMMA).join(parts)


def _batch(known: Mapping[str, object], view: View) -> str:
    factors = [known.get(n) for n in ("train.micro_batch", "train.grad_accum")]
    effective, world = known.get("batch.effective"), known.get("parallel.world_size")
    parts: list[str] = []
    if effective is not None:
        counts = [f for f in (*factors, world) if isinstance(f, int)]
        product = " x ".join(plain_value(count) for count in counts)
        # other frameworks count otherwise: a product that does not come out explains nothing
        fits = len(counts) > 1 and math.prod(counts) == effective
        total = f"{product} = {effective}" if fits else str(effective)
        parts.append(view.say(words.SAMPLES, sum=total))
    tokens = known.get("batch.tokens_per_micro_batch")
    parts += [view.say(words.TOKENS, n=tokens)] if tokens is not None else []
    return view.say(COMMA).join(parts)


def is_listed(job: InspectedJob) -> bool:
    """Tell whether there is a list of what the program takes; one of one's own has none."""
    return framework_of(job.framework).owns_names and any(item.package for item in job.arguments)


def _matter(job: InspectedJob, view: View) -> Iterator[str]:
    """Count what is shown at the end."""
    counts = (
        (words.COUNT_DEFECTS, len(job.defects)),
        (words.COUNT_STRANGERS, len(job.strangers) if is_listed(job) else 0),
        (words.COUNT_UNKNOWN, sum(1 for _ in unknowns(job))),
        (words.COUNT_SHADOWED, len(job.shadowed)),
    )
    found = [view.say(text, n=n) for text, n in counts if n]
    yield from found
    if found:
        yield view.say(words.SEE_END)
    if not job.complete:
        yield view.say(words.HIDDEN)
