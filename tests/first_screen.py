"""What every first screen of a diagnosis keeps to, whatever the job."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from trainrx.model.facts import Origin
from trainrx.model.result import Diagnosis
from trainrx.model.text import Lang
from trainrx.render import render
from trainrx.render.cause import change_lines
from trainrx.render.document import View
from trainrx.render.layout import cells
from trainrx.render.screen.inquiry import LEAST_SHOWN
from trainrx.render.screen.page import ROOM

WIDTHS = (80, 60)
QUOTED = 30


def mistakes(answer: Diagnosis, folder: Path) -> Iterator[str]:
    """Say what is wrong with the screen of an answer of a job whose files stand in a folder."""
    screens = {width: render(answer, "text", View(answer.lang, width)) for width in WIDTHS}
    for width, text in screens.items():
        rows = sum(max(1, -(-cells(line) // width)) for line in text.splitlines())
        if rows > ROOM.lines:
            yield f"more than {ROOM.lines} lines at {width} columns"
    for lang in ("en", "zh"):
        yield from _posted(answer, lang)
    # what the answer to a question would speak for is not named as a cause
    said = (line for line in screens[80].splitlines() if " -> " not in line)
    yield from _named(answer, joined("".join(said)))
    yield from _planned(answer, screens[80])
    if not any(line.split() for line in screens[80].splitlines()[1:]):
        yield "it says nothing"
    yield from _cited(answer, folder)


def _posted(answer: Diagnosis, lang: Lang) -> Iterator[str]:
    post = render(answer, "markdown", View(lang))
    if len(post.encode()) > ROOM.size:
        yield f"more than {ROOM.size} bytes of Markdown in {lang}"
    named = answer.verdict != "unknown" and answer.causes
    if named and answer.causes[0].id not in post:
        yield "the first cause is not in the Markdown"


def _named(answer: Diagnosis, text: str) -> Iterator[str]:
    first = answer.causes[:1] if answer.verdict != "unknown" else ()
    shown = {cause.title for cause in (*first, *answer.differential)}
    for cause in answer.causes[len(first) :]:
        if (
            cause.probability < LEAST_SHOWN
            and cause.title not in shown
            and joined(cause.title) in text
        ):
            yield f"{cause.id} is named at {cause.probability}"


def _planned(answer: Diagnosis, text: str) -> Iterator[str]:
    plan = answer.plan
    if plan is None:
        return
    view = View(answer.lang)
    copied = [line.split("  #")[0].strip() for line in text.splitlines()]
    for line in change_lines(plan.changes, plan.commands, view):
        if copied.count(line.text) > 1:
            yield f"{line.text} stands twice"
    memory = plan.predicted
    if memory is not None and memory.after_gib > memory.limit_gib and "not fit" not in text:
        yield "a plan that does not fit is shown as if it did"


def _cited(answer: Diagnosis, folder: Path) -> Iterator[str]:
    """Look each quoted line up in the file it is said to stand in."""
    origins = {at for seen in answer.symptoms for at in seen.evidence}
    origins |= {at for cause in answer.causes for reason in cause.reasons for at in reason.evidence}
    for at in origins:
        path = folder / at.source
        if at.line is not None and path.is_file() and not _stands(at, path):
            yield f"{at} does not hold what is quoted: {at.text[:QUOTED]}"


def _stands(at: Origin, path: Path) -> bool:
    lines = _lines(path)
    if at.line is None or at.line > len(lines):
        return False
    line, quote = joined(lines[at.line - 1]), joined(at.text)
    # bare arguments are quoted behind the program they are read as those of
    return quote[:QUOTED] in line or (line != "" and line[:QUOTED] in quote)


def joined(text: str) -> str:
    """Give a text without the spaces and breaks that a page may set otherwise."""
    return "".join(text.split())


@cache
def _lines(path: Path) -> list[str]:
    # bytes: a progress bar's \r ends no line of the file
    return path.read_bytes().decode().split("\n")
