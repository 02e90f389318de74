"""The first screen of a diagnosis: what failed, on which lines that rests, what to do now.

Everything else is on the page of `--explain`. Parts that can be said at less length give way in the
order of what a reader would miss least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Finding
from trainrx.model.result import (
    Ask,
    CauseOut,
    Diagnosis,
    DifferentialItem,
    Reason,
    Verdict,
)
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import change_lines, is_supported, memory, ranks_text, sure
from trainrx.render.document import CopyLine, Document, Elastic, Form, Room, View, children
from trainrx.render.inputs import job_text, unread_at
from trainrx.sanitizer.controls import clean

ROOM = Room(lines=24, size=3000)
LEAST_SHOWN = 0.1
"""A runner-up less probable than this is for `--explain`."""
MOST_REASONS = 3
MOST_RUNNERS_UP = 3
MOST_CHANGES = 7
MOST_DIFFERENTIAL = 5
MOST_ASKED = 3
STYLE_OF: dict[Verdict, str] = {
    "diagnosed": "bad",
    "suspected": "doubt",
    "unknown": "doubt",
    "healthy": "good",
    "will_fail": "bad",
    "will_not_fit": "bad",
    "at_risk": "doubt",
    "no_problem_foreseen": "good",
}
_SETTINGS = frozenset(
    ("train", "tuner", "freeze", "vision", "parallel", "rlhf", "vllm", "model", "nccl", "alloc")
)
FORESEEN = ("will_fail", "will_not_fit", "at_risk", "no_problem_foreseen")
NAMES_NO_CAUSE = ("unknown", "healthy", "no_problem_foreseen")
OF_A_RUN = ("log", "oom", "failure", "series", "symptom", "collective", "rank", "stack")
"""What the questions begin with that a launch which has not run cannot answer."""
OF_MEMORY = ("memory-exceeds-card", "memory-may-exceed-card")
LONGEST_COMMAND = 46


def document(answer: Diagnosis, view: View) -> Document:
    """Lay the screen out."""
    best = _best(answer)
    nodes = children(
        head(answer, view),
        _others(answer, view),
        _gap(4),
        _questions(answer, view),
        _mind(answer, view),
        _last(answer, best, view),
    )
    return Document(nodes, labels(nodes), f"{answer.tool.name} {answer.tool.version}", room=ROOM)


def head(answer: Diagnosis, view: View) -> tuple[doc.Node, ...]:
    """Say what failed, why and what to change; a post says what to change before it says why."""
    best, plan = _best(answer), _plan(answer, view)
    return children(
        _headline(answer, best, view),
        plan if view.post else _cause(best, view),
        _seen(answer, view) if best is None else None,
        _checked(answer, view),
        _job(answer, view),
        _why(answer, best, view),
        None if view.post or plan is None else (_gap(9), plan),
    )


def labels(nodes: Iterable[doc.Node]) -> tuple[str, ...]:
    """Give the labels that are used, so that they line up."""
    forms = (node.forms[0].children if isinstance(node, Elastic) else (node,) for node in nodes)
    return tuple(node.label for form in forms for node in form if isinstance(node, doc.Labelled))


def _best(answer: Diagnosis) -> CauseOut | None:
    """Give the cause the verdict speaks of."""
    named = () if answer.verdict in NAMES_NO_CAUSE else answer.causes
    return named[0] if named else None


def _elastic(*forms: tuple[int, tuple[doc.Node, ...]]) -> Elastic:
    return Elastic(tuple(Form(loss, nodes) for loss, nodes in forms))


def _gap(loss: int) -> Elastic:
    return _elastic((0, (doc.Gap(),)), (loss, ()))


def _headline(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Headline:
    word = view.say((words.MD_TITLE if view.post else words.VERDICT)[answer.verdict])
    style = STYLE_OF[answer.verdict]
    if best is None or answer.verdict in FORESEEN:
        return doc.Headline(word, style, _foreseen(answer, view))
    if view.post:
        return doc.Headline(word, style, best.title, sure(best, view))
    family = view.say(words.FAMILY[best.family])
    return doc.Headline(word, style, family + view.say(words.COMMA) + sure(best, view))


def _foreseen(answer: Diagnosis, view: View) -> str:
    """Say what the verdict claims; of a launch that does not fit by how much."""
    memory = answer.plan.predicted if answer.plan is not None else None
    if answer.verdict != "will_not_fit" or memory is None:
        return view.say(words.CLAIM[answer.verdict])
    figures = {"need": f"{memory.before_gib:.1f}", "card": f"{memory.limit_gib:.1f}"}
    return view.say(words.NEEDS, **figures)


def _cause(best: CauseOut | None, view: View) -> doc.Node | None:
    return None if best is None else doc.Labelled(view.say(words.CAUSE), (best.title,), most=2)


def _job(answer: Diagnosis, view: View) -> doc.Node | None:
    whole, short = (job_text(answer.job, view, short=short) for short in (False, True))

    def form(text: str, most: int) -> tuple[doc.Node, ...]:
        return (doc.Labelled(view.say(words.JOB), (text,), style="dim", most=most),)

    forms = ((0, form(whole, 2)), (5, form(short, 2)), (10, form(short, 1)))
    return _elastic(*forms) if whole else None


def _seen(answer: Diagnosis, view: View) -> doc.Node | None:
    """Say what was seen of a failure nobody can name."""
    seen = next((item for item in answer.symptoms if item.echo_of is None), None)
    if seen is None:
        return None
    title = seen.title + view.paren(ranks_text(seen.ranks, view))

    def form(quoted: int) -> tuple[doc.Node, ...]:
        shown = doc.Bullet(title, evidence=seen.evidence[:1], most=1, quoted=quoted)
        return (doc.Labelled(view.say(words.SEEN), children=(shown,)),)

    return _elastic((0, form(2)), (24, form(1)))


def _checked(answer: Diagnosis, view: View) -> tuple[doc.Node, ...]:
    """Say what an answer without a problem rests on."""
    if answer.verdict not in ("healthy", "no_problem_foreseen"):
        return ()
    first, *limits = checked(answer, view)
    mind = view.say(words.WARNINGS)
    return (
        doc.Labelled(view.say(words.CHECKED), (first,), most=2),
        *(doc.Labelled(mind, (limit,), most=2) for limit in limits),
    )


def checked(answer: Diagnosis, view: View) -> tuple[str, ...]:
    """Say what a healthy verdict rests on, and what it does not cover."""
    facts = answer.facts
    settings = sum(name.split(".")[0] in _SETTINGS for name in facts)
    parts = [view.say(words.COUNT_SETTINGS, n=settings)] if settings else []
    has_log = facts.get("log.given") is True or bool(answer.symptoms)
    if has_log:
        parts.append(view.say(words.COUNT_SIGNS))
    parts.append(view.say(words.KNOWLEDGE, version=answer.tool.kb))
    limits: list[Text] = []
    if not has_log:
        limits.append(words.HEALTHY_LAUNCH_ONLY)
    elif facts.get("log.finished") is not True:
        limits.append(words.HEALTHY_UNFINISHED)
    if facts.get("launch.given") is False:
        limits.append(words.HEALTHY_LOG_ONLY)
    return (view.say(words.LISTED).join(parts), *(view.say(text) for text in limits))


def _why(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Node | None:
    """Give the lines the answer rests on, at most three, the strongest first.

    Of a launch that has not run what refuses it goes before what is foreseen.
    """
    refused = _findings(answer, view) if best is None or answer.verdict in FORESEEN else ()
    shown = [*refused, *(() if best is None else _reasons(best))][:MOST_REASONS]
    if not shown:
        return None
    label = view.say(words.WHY)

    def form(*said: int, quoted: int = 1) -> tuple[doc.Node, ...]:
        items = (
            _reason(text, at, lines, quoted) for (text, at), lines in zip(shown, said, strict=False)
        )
        return (doc.Labelled(label, children=tuple(items)),)

    return _elastic(
        (0, form(2, 2, 2, quoted=2)),
        (3, form(2, 2, 2)),
        (8, form(2, 2, 1)),
        (8, form(2, 1, 1)),
        (11, form(1, 1, 1)),
        (45, form(1, 1)),
        (70, form(0, 0)),
        (90, form(1)),
    )


def _reason(text: str, at: Origin | None, said: int, quoted: int) -> doc.Bullet:
    """Give a reason and its line in so many lines; where it has none, the reason stands anyhow."""
    evidence = () if at is None else (at,)
    shown = "" if evidence and not said else text
    return doc.Bullet(shown, evidence=evidence, most=said or 1, quoted=quoted)


def _reasons(best: CauseOut) -> Iterator[tuple[str, Origin | None]]:
    """Give reasons with the line that shows each; what only repeats a line is left out."""
    used: set[Origin] = set()
    for reason in best.reasons:
        line = _line(reason)
        if reason.holds is True and reason.weight > 0 and line not in used:
            used.update(() if line is None else (line,))
            yield reason.text, line


def _line(reason: Reason) -> Origin | None:
    """Give the first line a reason rests on, one of a file before an option."""
    return min(reason.evidence, key=lambda origin: origin.line is None, default=None)


def _findings(answer: Diagnosis, view: View) -> Iterator[tuple[str, Origin | None]]:
    for finding in _of_consequence(answer)[:MOST_REASONS]:
        edits = finding.fix.edits if finding.fix else ()
        change = " ".join(clean(edit.text) for edit in edits)
        said = view.labelled(words.SEVERITY[finding.severity], finding.message)
        at = Origin(source=unread_at(finding.file, finding.line), text=f"-> {change}")
        yield said, at if change else msgspec.structs.replace(at, text="")


def _of_consequence(answer: Diagnosis) -> tuple[Finding, ...]:
    """Give the errors, else the warnings; what is said of the memory stands in the headline."""
    told = answer.verdict == "will_not_fit"
    left = [one for one in answer.findings if not (told and one.rule in OF_MEMORY)]
    errors = tuple(one for one in left if one.severity == "error")
    return errors or tuple(one for one in left if one.severity == "warning")


def _plan(answer: Diagnosis, view: View) -> doc.Node | None:
    plan = answer.plan
    if plan is None:
        return None
    changes = change_lines(plan.changes, plan.commands, view)
    more = len(changes) - MOST_CHANGES
    firm = children(
        doc.More(more) if more > 0 else None,
        doc.Paragraph(plan.reason, most=3) if plan.reason else None,
    )
    steps = tuple(doc.Paragraph(step, most=2) for step in plan.steps.splitlines())
    figures = None if plan.predicted is None else memory(plan.predicted, view, plan.fits)

    def form(shown: int, *, cost: bool) -> tuple[doc.Node, ...]:
        return children(
            doc.Labelled(
                view.say(words.FIX),
                lines=changes[:MOST_CHANGES],
                children=(*firm, *steps[:shown]),
                strong=view.post,
            ),
            doc.Labelled(view.say(words.MEMORY), (figures,)) if figures else None,
            doc.Labelled(view.say(words.PRICE), (plan.cost,), style="dim", most=1)
            if plan.cost and cost
            else None,
        )

    forms = ((0, form(3, cost=True)), (15, form(2, cost=True)), (55, form(1, cost=True)))
    return _elastic(*forms, (65, form(1, cost=False)))


def _others(answer: Diagnosis, view: View) -> doc.Node | None:
    """Name the other causes that may be behind it, a line each."""
    if answer.differential and _best(answer) is None:
        return _differential(answer.differential, view)
    others = runners_up(answer)
    shorter = (_alternatives(others[:count], view) for count in range(len(others), 0, -1))
    forms = (*((25 * at, form) for at, form in enumerate(shorter)), (92, ()))
    return _elastic(*forms) if others else None


def _alternatives(causes: tuple[CauseOut, ...], view: View) -> tuple[doc.Node, ...]:
    """Name causes under the word that says how sure they are."""
    groups = (
        (label, tuple(doc.Bullet(one.title, most=1) for one in causes if one.verdict == verdict))
        for verdict, label in words.ALSO.items()
    )
    return tuple(doc.Labelled(view.say(label), children=items) for label, items in groups if items)


def runners_up(answer: Diagnosis) -> tuple[CauseOut, ...]:
    """Give the other causes something speaks for."""
    best = _best(answer)
    found = (
        cause
        for cause in answer.causes
        if cause is not best and cause.probability >= LEAST_SHOWN and is_supported(cause)
    )
    return tuple(found)[:MOST_RUNNERS_UP]


def _differential(items: tuple[DifferentialItem, ...], view: View) -> Elastic:
    """Say what can be behind it, each with what would confirm it."""

    def item(one: DifferentialItem, *, signed: bool) -> tuple[doc.Node, ...]:
        sign = view.say(words.SIGN, what=one.confirm) if one.confirm and signed else ""
        return children(
            doc.Paragraph(one.title, most=1),
            doc.Paragraph(sign, indent=2, style="dim", most=1) if sign else None,
        )

    def form(count: int, *, signed: bool) -> tuple[doc.Node, ...]:
        shown = (item(one, signed=signed) for one in items[:count])
        return (doc.Labelled(view.say(words.COULD_BE), children=children(*shown)),)

    return _elastic(
        (0, form(MOST_DIFFERENTIAL, signed=True)),
        (22, form(4, signed=True)),
        (35, form(3, signed=True)),
        (60, form(3, signed=False)),
    )


def _questions(answer: Diagnosis, view: View) -> doc.Node | None:
    """Ask the most useful question, of a failure nobody can name up to three."""
    if answer.verdict in ("healthy", "no_problem_foreseen"):
        return None
    ran = answer.verdict not in FORESEEN
    open_ = [ask for ask in answer.asks if ran or ask.id.partition(".")[0] not in OF_A_RUN]
    if not open_:
        return _collect(view) if answer.verdict == "unknown" else None
    asked = open_[: MOST_ASKED if answer.verdict == "unknown" else 1]
    label = view.say(words.QUESTION)

    def form(count: int, readings: int) -> tuple[doc.Node, ...]:
        items = (_question(ask, readings) for ask in asked[:count])
        return (doc.Labelled(label, children=children(*items)),)

    return _elastic(
        (0, form(3, 2)), (18, form(3, 1)), (50, form(2, 1)), (75, form(1, 1)), (85, form(1, 0))
    )


def _question(ask: Ask, readings: int) -> Iterator[doc.Node]:
    yield doc.Paragraph(ask.what, style="strong", most=2)
    if ask.command:
        yield doc.Code((CopyLine(clean(ask.command)),))
    elif ask.how:
        yield doc.Paragraph(ask.how, indent=2, most=2)
    for reading in ask.reading[:readings]:
        yield doc.Paragraph(reading, indent=2, most=1)


def _collect(view: View) -> doc.Node:
    command = (CopyLine(words.COLLECT_COMMAND),)
    return doc.Labelled(view.say(words.NEXT), (view.say(words.COLLECT),), command)


def _mind(answer: Diagnosis, view: View) -> doc.Node | None:
    """Say in a line what else is wrong with the launch, or could not be used."""
    wrong = [
        view.labelled_text(unread_at(finding.file, finding.line), finding.message)
        for finding in (() if answer.verdict in FORESEEN else answer.findings)
        if finding.severity == "error"
    ]
    unread = [
        view.labelled_text(unread_at(item.source, item.line), item.reason) for item in answer.unread
    ]
    said = [*wrong, *unread]
    if not said:
        return None
    more = view.paren(view.say(words.MORE_PLAIN, n=len(said) - 1)) if said[1:] else ""
    shown = doc.Labelled(view.say(words.WARNINGS), (said[0] + more,), style="dim", most=1)
    return _elastic((0, (shown,)), (12, ()))


def _last(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Node:
    """Say how to apply the plan, and where the rest stands."""
    command = answer.plan.command if answer.plan is not None else ""
    short = len(command) <= LONGEST_COMMAND or view.post
    said = (
        view.say(words.APPLY if short else words.APPLY_SAME, command=command) if command else "",
        view.say(words.SEE_MORE),
        view.say(words.SEE_CAUSE, id=best.id) if best is not None and view.post else "",
    )
    text = " · ".join(filter(None, said))
    return doc.Paragraph(text[:1].upper() + text[1:], style="dim")
