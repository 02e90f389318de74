"""The first screen of a diagnosis: what failed, on which lines that rests, what to do now.

Everything else is on the page of `--explain`. Parts that can be said at less length give way in the
order of what a reader would miss least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainrx.model.facts import Origin
from trainrx.model.result import (
    Ask,
    CauseOut,
    Diagnosis,
    DifferentialItem,
    ProvedPlan,
    Reason,
    Verdict,
)
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import change_lines, is_supported, memory, sure
from trainrx.render.document import CopyLine, Document, Elastic, Form, Room, View, children
from trainrx.render.inputs import job_text, unread_at
from trainrx.sanitizer.controls import clean

ROOM = Room(lines=24, size=3000)
LEAST_SHOWN = 0.1
"""A runner-up less probable than this is for `--explain`."""
MOST_REASONS = 3
MOST_RUNNERS_UP = 3
MOST_FINDINGS = 3
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
NAMES_A_CAUSE = ("diagnosed", "suspected", "will_fail", "will_not_fit", "at_risk")


def document(answer: Diagnosis, view: View) -> Document:
    """Lay the screen out."""
    best = _best(answer)
    nodes = children(
        head(answer, view),
        _others(answer, view),
        _gap(4),
        _questions(answer, view),
        _mind(answer, best, view),
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
    named = answer.causes if answer.verdict in NAMES_A_CAUSE else ()
    return named[0] if named else None


def _elastic(*forms: tuple[int, tuple[doc.Node, ...]]) -> Elastic:
    return Elastic(tuple(Form(loss, nodes) for loss, nodes in forms))


def _gap(loss: int) -> Elastic:
    return _elastic((0, (doc.Gap(),)), (loss, ()))


def _headline(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Headline:
    word = view.say((words.MD_TITLE if view.post else words.VERDICT)[answer.verdict])
    style = STYLE_OF[answer.verdict]
    if best is None or answer.verdict not in ("diagnosed", "suspected"):
        claim = view.say(words.CLAIM[answer.verdict])
        return doc.Headline(word, style, claim)
    if view.post:
        return doc.Headline(word, style, best.title, sure(best, view))
    family = view.say(words.FAMILY[best.family])
    return doc.Headline(word, style, family + view.say(words.COMMA) + sure(best, view))


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
    shown = doc.Bullet(seen.title, evidence=seen.evidence[:1], most=1)
    return doc.Labelled(view.say(words.SEEN), children=(shown,))


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
    """Give the lines the answer rests on, at most three, the strongest first."""
    shown = list(_findings(answer, view) if best is None else _reasons(best))[:MOST_REASONS]
    if not shown:
        return None
    label = view.say(words.WHY)

    def form(count: int, lines: int) -> tuple[doc.Node, ...]:
        items = (_reason(text, at, lines) for text, at in shown[:count])
        return (doc.Labelled(label, children=tuple(items)),)

    return _elastic(
        (0, form(3, 2)), (8, form(3, 1)), (45, form(2, 1)), (70, form(2, 0)), (90, form(1, 1))
    )


def _reason(text: str, at: Origin | None, lines: int) -> doc.Bullet:
    evidence = () if at is None else (at,)
    return doc.Bullet("" if evidence and not lines else text, evidence=evidence, most=lines or 1)


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
    for finding in answer.findings[:MOST_FINDINGS]:
        edits = finding.fix.edits if finding.fix else ()
        change = " ".join(clean(edit.text) for edit in edits)
        said = view.labelled(words.SEVERITY[finding.severity], finding.message)
        at = Origin(source=unread_at(finding.file, finding.line), text=f"-> {change}")
        yield said, at if change else Origin(source=at.source)


def plan_of(answer: Diagnosis) -> ProvedPlan | None:
    """Give what to do: the proved plan, else the first fix of the first cause, not proved."""
    plan = answer.plan
    if plan is not None and (plan.changes or plan.commands or plan.steps or plan.reason):
        return plan
    best = _best(answer)
    if best is None or not best.fixes:
        return None
    fix = best.fixes[0]
    return ProvedPlan(
        changes=fix.changes,
        commands=fix.commands,
        steps=fix.steps or ("" if fix.changes or fix.commands else fix.title),
        predicted=fix.predicted,
        safety=fix.safety,
        cost=fix.cost,
    )


def _plan(answer: Diagnosis, view: View) -> doc.Node | None:
    plan = plan_of(answer)
    if plan is None:
        nothing = doc.Labelled(view.say(words.FIX), (view.say(words.NO_FIX),), most=2)
        return None if _best(answer) is None else nothing
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
    def form(count: int, lines: int) -> tuple[doc.Node, ...]:
        said = (
            view.labelled_text(item.title, item.confirm) if item.confirm else item.title
            for item in items[:count]
        )
        return (
            doc.Labelled(
                view.say(words.COULD_BE),
                children=tuple(doc.Bullet(text, most=lines) for text in said),
            ),
        )

    return _elastic((0, form(5, 2)), (22, form(5, 1)), (35, form(4, 1)), (60, form(3, 1)))


def _questions(answer: Diagnosis, view: View) -> doc.Node | None:
    """Ask the most useful question, of a failure nobody can name up to three."""
    if answer.verdict in ("healthy", "no_problem_foreseen"):
        return None
    if not answer.asks:
        return _collect(view) if answer.verdict == "unknown" else None
    asked = answer.asks[: MOST_ASKED if answer.verdict == "unknown" else 1]
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


def _mind(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Node | None:
    """Say in a line what else is wrong with the launch, or could not be used."""
    wrong = [
        view.labelled_text(unread_at(finding.file, finding.line), finding.message)
        for finding in (() if best is None else answer.findings)
        if finding.severity == "error"
    ]
    unread = [
        view.labelled_text(unread_at(item.source, item.line), item.reason) for item in answer.unread
    ]
    said = [*wrong, *answer.warnings, *unread]
    if not said:
        return None
    more = view.paren(view.say(words.MORE_PLAIN, n=len(said) - 1)) if said[1:] else ""
    shown = doc.Labelled(view.say(words.WARNINGS), (said[0] + more,), style="dim", most=1)
    return _elastic((0, (shown,)), (12, ()))


def _last(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Node:
    """Say how to apply the plan, and where the rest stands."""
    command = answer.plan.command if answer.plan is not None else ""
    apply = view.say(words.APPLY, command=command) if command else ""
    entry = view.say(
        words.SEE_MORE if best is None else words.SEE_CAUSE, id=best.id if best else ""
    )
    return doc.Paragraph(" · ".join(filter(None, (apply, entry))), style="dim")
