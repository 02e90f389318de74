"""The head of a job: what it is, how it is laid out, and what is the matter with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from trainrx.frameworks import framework_of
from trainrx.model.facts import Scalar
from trainrx.model.inspection import InspectedJob, Sided
from trainrx.render import inspect_words as words
from trainrx.render.document import Labelled, Node, Paragraph, View
from trainrx.render.inspect_rows import plain_value, unknowns
from trainrx.render.layout import clean
from trainrx.render.words import COMMA, LISTED

LABELS = (
    words.FRAMEWORK,
    words.TASK,
    words.MODEL,
    words.LAYOUT,
    words.BATCH,
    words.NODES,
    words.CHECK,
)


def head(job: InspectedJob, view: View, number: int, count: int) -> Iterator[Node]:
    """Show what a job is, in about six lines."""
    marks = [view.say(words.NUMBER, i=number, n=count)] if count > 1 else []
    marks += [view.say(words.ROLE[job.role])] if job.role in words.ROLE and count > 1 else []
    marks += [view.say(words.PERHAPS)] if job.perhaps else []
    title = f"{clean(str(job.place))}  {what(job)}"
    aside = view.paren(view.say(COMMA).join(marks))
    yield Paragraph(title + aside, style="strong", gap=count > 1)
    known = {item.name: item.value for item in (*job.facts, *job.settings)}
    known |= {item.canonical: item.value for item in job.settings if item.known}
    for label, text in (
        (words.FRAMEWORK, framework(job, view)),
        (words.TASK, _task(job, known)),
        (words.MODEL, _model(job, known, view)),
        (words.LAYOUT, _layout(known, view)),
        (words.BATCH, _batch(known, view)),
        (words.NODES, view.say(LISTED).join(clean(str(place)) for place in job.nodes)),
    ):
        if text:
            yield Labelled(view.say(label), (text,), hard=True)
    matter = view.say(COMMA).join(_matter(job, view))
    if matter:
        yield Labelled(view.say(words.CHECK), (matter,), style="doubt", hard=True)


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
    tokens: object | Scalar | None = known.get("batch.tokens_per_micro_batch")
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
