"""The lines an answer rests on: what was seen, and the reasons of its first cause."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Finding
from trainrx.model.result import CauseOut, Diagnosis, Reason
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import ranks_text
from trainrx.render.document import View, elastic
from trainrx.render.inputs import unread_at
from trainrx.render.screen.verdict import FORESEEN, tells_memory
from trainrx.sanitizer.controls import clean
from trainrx.verdict.preflight import ASIDE

MOST_REASONS = 3
OF_MEMORY = ("memory-exceeds-card", "memory-may-exceed-card", "memory-is-tight")


def seen(answer: Diagnosis, view: View) -> doc.Node | None:
    """Say what was seen of a failure nobody can name."""
    seen = next((item for item in answer.symptoms if item.echo_of is None), None)
    if seen is None:
        return None
    title = seen.title + view.paren(ranks_text(seen.ranks, view))

    def form(quoted: int) -> tuple[doc.Node, ...]:
        shown = doc.Bullet(title, evidence=seen.evidence[:1], most=1, quoted=quoted)
        return (doc.Labelled(view.say(words.SEEN), children=(shown,)),)

    return elastic((0, form(2)), (24, form(1)))


def why(answer: Diagnosis, best: CauseOut | None, view: View) -> doc.Node | None:
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

    return elastic(
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
    """Give the errors, else the warnings, else that the memory is tight.

    What the headline says of the memory is left out.
    """
    elsewhere = (*ASIDE, *(OF_MEMORY if tells_memory(answer) else ()))
    left = [one for one in answer.findings if one.rule not in elsewhere]
    errors = tuple(one for one in left if one.severity == "error")
    warnings = tuple(one for one in left if one.severity == "warning")
    return errors or warnings or tuple(one for one in left if one.rule in OF_MEMORY)
