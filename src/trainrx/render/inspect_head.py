"""The head of a job: what it is, how it is laid out, and what is the matter with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from trainrx.frameworks import framework_of
from trainrx.model.facts import Scalar
from trainrx.model.inspection import InspectedJob, Sided
from trainrx.model.text import Lang, Text
from trainrx.render import inspect_words as words
from trainrx.render.document import View
from trainrx.render.inspect_rows import plain_value, unknowns
from trainrx.render.layout import Line, StyledText, cells, clean, pad, wrap
from trainrx.render.words import COMMA, LISTED, PAREN

_LABELS = (
    words.FRAMEWORK,
    words.TASK,
    words.MODEL,
    words.LAYOUT,
    words.BATCH,
    words.NODES,
    words.CHECK,
)


def job_head(job: InspectedJob, view: View, number: int, count: int) -> Iterator[Line]:
    """Show what a job is, in about six lines."""
    lang = view.lang
    title = [clean(str(job.place)), what(job)]
    marks = [words.NUMBER.in_(lang).format(i=number, n=count)] if count > 1 else []
    marks += [words.ROLE[job.role].in_(lang)] if job.role in words.ROLE and count > 1 else []
    marks += [words.PERHAPS.in_(lang)] if job.perhaps else []
    aside = PAREN.in_(lang).format(COMMA.in_(lang).join(marks)) if marks else ""
    first, *rest = wrap("  ".join(title) + aside, view.width)
    yield (StyledText(first, "strong"),)
    yield from ((StyledText(part, "strong"),) for part in rest)
    known = {item.name: item.value for item in (*job.facts, *job.settings)}
    known |= {item.canonical: item.value for item in job.settings if item.known}
    yield from labelled(view, words.FRAMEWORK, framework(job, lang))
    for label, text in (
        (words.TASK, _task(job, known)),
        (words.MODEL, _model(job, known, lang)),
        (words.LAYOUT, _layout(known, lang)),
        (words.BATCH, _batch(known, lang)),
    ):
        if text:
            yield from labelled(view, label, text)
    if job.nodes:
        others = LISTED.in_(lang).join(clean(str(place)) for place in job.nodes)
        yield from labelled(view, words.NODES, others)
    matter = COMMA.in_(lang).join(_matter(job, lang))
    if matter:
        yield from labelled(view, words.CHECK, matter, style="doubt")


def what(job: InspectedJob | Sided) -> str:
    """Give the command as one would type it."""
    return clean(framework_of(job.framework).typed(job.command))


def framework(job: InspectedJob | Sided, lang: Lang) -> str:
    """Name the framework, its version, and how that is known."""
    if not job.framework:
        return words.NO_FRAMEWORK.in_(lang)
    if not job.version:
        return clean(job.framework) + COMMA.in_(lang) + words.NO_VERSION.in_(lang)
    how = words.VERSION_HOW.get(job.version_how or "given", words.VERSION_HOW["derived"])
    return clean(f"{job.framework} {job.version}") + COMMA.in_(lang) + how.in_(lang)


def labelled(view: View, label: Text, text: str, style: str = "") -> Iterator[Line]:
    """Show a text beside its label."""
    most = max(cells(word.in_(view.lang)) for word in _LABELS)
    lead = pad(label.in_(view.lang), most) + "  "
    for index, part in enumerate(wrap(text, view.width - cells(lead), hard=True)):
        yield (
            StyledText(lead if index == 0 else " " * cells(lead), "head"),
            StyledText(part, style),
        )


def _task(job: InspectedJob, known: Mapping[str, object]) -> str:
    parts = (job.task or "", known.get("tuner.type"), known.get("train.precision"))
    return clean(" · ".join(str(part) for part in parts if part))


def _model(job: InspectedJob, known: Mapping[str, object], lang: Lang) -> str:
    if job.model is None:
        return words.NO_MODEL.in_(lang)
    size = known.get("model.params_b")
    parts = [str(known["model.family"])] if known.get("model.family") else []
    parts += [words.BILLION.in_(lang).format(n=plain_value(size))] if size else []
    parts += [words.VISION.in_(lang)] if known.get("model.is_vision") is True else []
    return clean(" · ".join((job.model, *parts)))


def _layout(known: Mapping[str, object], lang: Lang) -> str:
    nodes, processes = known.get("hardware.nodes"), known.get("parallel.processes_per_node")
    parts: list[str] = []
    if nodes == 1 and processes == 1:
        parts.append(words.ONE_PROCESS.in_(lang))
    elif nodes is not None and processes is not None:
        text = words.ONE_NODE_LAYOUT if nodes == 1 else words.NODES_LAYOUT
        parts.append(text.in_(lang).format(n=nodes, p=processes))
    for name, short in (("tensor", "TP"), ("pipeline", "PP"), ("sequence", "SP")):
        size = known.get(f"parallel.{name}")
        parts += [f"{short} {size}"] if isinstance(size, int) and size > 1 else []
    stage = known.get("parallel.zero_stage")
    if isinstance(stage, int) and not isinstance(stage, bool):
        parts.append(f"ZeRO-{stage}" if stage else words.NO_ZERO.in_(lang))
    away = [known.get(f"parallel.offload_{name}") is True for name in ("params", "optimizer")]
    if any(away):
        text = words.BOTH if all(away) else words.PARAMETERS if away[0] else words.OPTIMIZER
        parts.append(words.OFFLOADED.in_(lang).format(what=text.in_(lang)))
    return COMMA.in_(lang).join(parts)


def _batch(known: Mapping[str, object], lang: Lang) -> str:
    factors = [known.get(n) for n in ("train.micro_batch", "train.grad_accum")]
    effective, world = known.get("batch.effective"), known.get("parallel.world_size")
    parts: list[str] = []
    if effective is not None:
        counts = [f for f in (*factors, world) if isinstance(f, int)]
        product = " x ".join(plain_value(count) for count in counts)
        # other frameworks count otherwise: a product that does not come out explains nothing
        fits = len(counts) > 1 and math.prod(counts) == effective
        total = f"{product} = {effective}" if fits else str(effective)
        parts.append(words.SAMPLES.in_(lang).format(sum=total))
    tokens: object | Scalar | None = known.get("batch.tokens_per_micro_batch")
    parts += [words.TOKENS.in_(lang).format(n=tokens)] if tokens is not None else []
    return COMMA.in_(lang).join(parts)


def is_listed(job: InspectedJob) -> bool:
    """Tell whether there is a list of what the program takes; one of one's own has none."""
    return framework_of(job.framework).owns_names and any(item.package for item in job.arguments)


def _matter(job: InspectedJob, lang: Lang) -> Iterator[str]:
    """Count what is shown at the end."""
    counts = (
        (words.COUNT_DEFECTS, len(job.defects)),
        (words.COUNT_STRANGERS, len(job.strangers) if is_listed(job) else 0),
        (words.COUNT_UNKNOWN, sum(1 for _ in unknowns(job))),
        (words.COUNT_SHADOWED, len(job.shadowed)),
    )
    found = [text.in_(lang).format(n=n) for text, n in counts if n]
    yield from found
    if found:
        yield words.SEE_END.in_(lang)
    if not job.complete:
        yield words.HIDDEN.in_(lang)
