"""The first screen of a diagnosis: what failed, on which lines that rests, what to do now.

Everything else is on the page of `--explain`. Parts that can be said at less length give way in the
order of what a reader would miss least.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from trainrx.model.findings import ASIDE, Finding, Unread
from trainrx.model.pattern import late
from trainrx.model.result import CauseOut, Diagnosis, ProvedPlan
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import change_lines, destruction, memory, says_what, unsaid
from trainrx.render.document import Document, Elastic, Room, View, children, elastic
from trainrx.render.history import recurrence_line
from trainrx.render.inputs import job_text, unread_at
from trainrx.render.ranks import ranks_line
from trainrx.render.screen.evidence import seen, why
from trainrx.render.screen.inquiry import is_to_collect, others, questions
from trainrx.render.screen.verdict import FORESEEN, checked, headline, named_cause
from trainrx.render.series import series_line

ROOM = Room(lines=24, size=3000)
MOST_CHANGES = 7
LONGEST_COMMAND = 46
LONGEST_NAME = 30
INSTALL = "pip install "
_WORD = late(r"\w[\w.-]*\w")
_PACKAGE = late(r"(?<=[ \"])[a-z][\w-]*")


def document(answer: Diagnosis, view: View) -> Document:
    """Lay the screen out."""
    best = named_cause(answer)
    asked, also = questions(answer, view), others(answer, view)
    if is_to_collect(answer):
        asked, also = also, asked
    nodes = children(
        head(answer, view),
        also,
        _gap(4),
        asked,
        _mind(answer, best, view),
        None if view.chat else _last(answer, best, view),
    )
    return Document(nodes, labels(nodes), f"{answer.tool.name} {answer.tool.version}", room=ROOM)


def head(answer: Diagnosis, view: View) -> tuple[doc.Node, ...]:
    """Say what failed, why and what to change; a post says what to change before it says why."""
    best, plan = named_cause(answer), _plan(answer, view)
    return children(
        headline(answer, best, view),
        plan if view.post else _cause(best, view),
        seen(answer, view) if best is None else None,
        checked(answer, view),
        ranks_line(answer, view),
        _steps(answer, view),
        recurrence_line(answer, view),
        _job(answer, view),
        why(answer, best, view),
        None if view.post or plan is None else (_gap(9), plan),
    )


def labels(nodes: Iterable[doc.Node]) -> tuple[str, ...]:
    """Give the labels that are used, so that they line up."""
    forms = (node.forms[0].children if isinstance(node, Elastic) else (node,) for node in nodes)
    return tuple(node.label for form in forms for node in form if isinstance(node, doc.Labelled))


def _steps(answer: Diagnosis, view: View) -> doc.Node | None:
    said = series_line(answer, view)
    return None if said is None else elastic((0, (said,)), (50, ()))


def _gap(loss: int) -> Elastic:
    return elastic((0, (doc.Gap(),)), (loss, ()))


def _cause(best: CauseOut | None, view: View) -> doc.Node | None:
    return None if best is None else doc.Labelled(view.say(words.CAUSE), (best.title,), most=2)


def _job(answer: Diagnosis, view: View) -> doc.Node | None:
    whole, short = (job_text(answer.job, view, short=short) for short in (False, True))

    def form(text: str, most: int) -> tuple[doc.Node, ...]:
        return (doc.Labelled(view.say(words.JOB), (text,), style="dim", most=most),)

    forms = ((0, form(whole, 2)), (5, form(short, 2)), (10, form(short, 1)))
    return elastic(*forms) if whole else None


def _plan(answer: Diagnosis, view: View) -> doc.Node | None:
    plan = answer.plan
    if plan is None:
        return None
    said = " ".join((plan.title, plan.steps, *plan.commands))
    kept = unsaid(plan.changes, said)
    changes = change_lines(kept, plan.commands, view)
    # what can be copied speaks for itself
    titled = plan.title if plan.title and not says_what(kept) else ""
    more = len(changes) - MOST_CHANGES
    firm = children(
        doc.More(more) if more > 0 else None,
        doc.Paragraph(plan.reason, most=3) if plan.reason else None,
    )
    steps = tuple(doc.Paragraph(step, most=2) for step in plan.steps.splitlines())
    paid = " · ".join(filter(None, (_graver(plan, view), plan.cost)))
    figures = None if plan.predicted is None else memory(plan.predicted, view, plan.fits)

    def form(shown: int, *, cost: bool) -> tuple[doc.Node, ...]:
        return children(
            doc.Labelled(
                view.say(words.FIX),
                (titled,) if titled else (),
                lines=changes[:MOST_CHANGES],
                children=(*firm, *steps[:shown], *destruction(plan.destroys, view)),
                strong=view.post,
            ),
            doc.Labelled(view.say(words.MEMORY), (figures, *plan.assumes[:1])) if figures else None,
            doc.Labelled(view.say(words.PRICE), (paid,), style="dim", most=1)
            if paid and cost
            else None,
        )

    forms = ((0, form(3, cost=True)), (15, form(2, cost=True)), (55, form(1, cost=True)))
    return elastic(*forms, (65, form(1, cost=False)))


def _graver(plan: ProvedPlan, view: View) -> str:
    """Name the class of a plan that is more than a change without consequences."""
    told = plan.safety is not None and plan.safety not in ("safe", "manual")
    return view.say(words.SAFETY[plan.safety]) if told and plan.safety else ""


def _mind(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Node | None:
    """Say in a line what else is wrong with the launch, or could not be used.

    Without a cause the answer rests on what is wrong with the launch, and says it there.
    """
    wrong = [
        view.labelled_text(unread_at(finding.file, finding.line), finding.message)
        for finding in (() if best is None or answer.verdict in FORESEEN else answer.findings)
        if finding.severity == "error" and not _is_mended(finding, best, answer.plan)
    ]
    unread = [
        view.labelled_text(unread_at(_named(item.source), item.line), view.message(item.reason))
        for item in answer.unread
        if item.reason not in ASIDE and not _is_told(item, best)
    ]
    said = [*wrong, *unread]
    if not said:
        return None
    more = view.paren(view.say(words.MORE_PLAIN, n=len(said) - 1)) if said[1:] else ""
    shown = doc.Labelled(view.say(words.WARNINGS), (said[0] + more,), style="dim", most=1)
    # that a whole input was of no use tells why an answer is as poor as it is
    is_input = any(item.line is None for item in answer.unread)
    return elastic((0, (shown,)), (60 if is_input else 12, ()))


def _is_told(item: Unread, best: CauseOut | None) -> bool:
    """Tell whether the cause is about the very value that could not be read."""
    if best is None or item.line is None:
        return False
    places = {(at.source, at.line) for reason in best.reasons for at in reason.evidence}
    name = item.reason.partition(":")[0].lstrip("-")
    return (item.source, item.line) in places and name in _WORD.findall(best.title)


def _is_mended(finding: Finding, best: CauseOut | None, plan: ProvedPlan | None) -> bool:
    """Tell whether an error is the cause itself, or names what the plan changes or installs."""
    if best is not None and (
        finding.rule == best.id or finding.message.startswith(best.title.rstrip("."))
    ):
        return True
    if plan is None:
        return False
    names = {change.param.lstrip("-") for change in plan.changes}
    for command in plan.commands:
        names |= set(_PACKAGE.findall(command)) if command.startswith(INSTALL) else set()
    return not names.isdisjoint(_WORD.findall(finding.message))


def _named(source: str) -> str:
    """Name an input; of a long path the file, so that the line has room for what is said of it."""
    return source if len(source) <= LONGEST_NAME else PurePath(source).name


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
