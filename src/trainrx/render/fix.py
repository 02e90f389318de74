"""A proved change on a terminal: why it will do, as comment lines, then the patch itself.

Every line of the head begins with `# `, which `patch` and `git apply` pass over, so the whole
output is a patch file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from trainrx.model.fixing import Dropped, FixAnswer, Proposal
from trainrx.model.text import Lang, Text
from trainrx.render import fix_words as words
from trainrx.render.cause import percent
from trainrx.render.document import View
from trainrx.render.fix_says import (
    as_fix,
    batch_text,
    checked_text,
    failed_text,
    memory_text,
    refusal_text,
    speed_text,
    still_lines,
    why_lines,
)
from trainrx.render.fixes import FixLine, fix_lines
from trainrx.render.head import job_text
from trainrx.render.layout import Line, StyledText, cells, clean, pad
from trainrx.render.page import prose, to_copy
from trainrx.render.words import CAUSE, COLON, JOB, LIKELY, PAREN, SAFETY

MARK = "# "
MOST_TRIED = 6
MOST_HAND = 3
LABELS = (
    CAUSE,
    words.PLAN,
    words.CHANGE,
    words.MEMORY,
    words.BATCH,
    words.RESULT,
    words.CHECKED,
    words.STILL,
    words.OTHERS,
    words.BY_HAND,
    words.NO_PLAN,
    words.WRITTEN,
)


def fix_page(answer: FixAnswer, view: View) -> list[Line]:
    """Lay the answer out: comment lines, then the patch."""
    inner = view._replace(width=view.width - len(MARK))
    head = [
        (StyledText(MARK, "dim"), *line) if line else (StyledText(MARK.rstrip(), "dim"),)
        for line in _head(answer, inner)
    ]
    chosen = _chosen(answer)
    return [*head, *(() if chosen is None or answer.written else diff_lines(chosen.diff))]


def diff_lines(diff: str) -> Iterator[Line]:
    """Give a patch as it is, in the colours of `git diff`; nothing is cleaned or broken."""
    for line in diff.split("\n")[: -1 if diff.endswith("\n") else None]:
        style = ""
        if line.startswith(("+++", "---", "diff ", "new file")):
            style = "strong"
        elif line.startswith("@@"):
            style = "hue1"
        elif line.startswith("+"):
            style = "plus"
        elif line.startswith("-"):
            style = "minus"
        yield (StyledText(line, style),)


def _head(answer: FixAnswer, view: View) -> Iterator[Line]:
    lang = view.lang
    chosen = _chosen(answer)
    claim = words.CLAIM[answer.verdict]
    if chosen is not None and not chosen.diff and chosen.commands:
        claim = words.INSTALL
    verdict = StyledText(
        words.VERDICT[answer.verdict].in_(lang) + "  ", words.STYLE_OF[answer.verdict]
    )
    yield from prose(view, claim.in_(lang), lead=verdict)
    yield from _labelled(view, CAUSE, _cause(answer, lang))
    yield from _labelled(view, JOB, job_text(answer.job, lang))
    still = answer.refused if chosen is None else chosen.refused
    yield from _list(view, words.STILL, still_lines(still, lang))
    if chosen is not None:
        yield from _proposal(chosen, answer, view)
    if answer.no_plan is not None:
        yield from _labelled(view, words.NO_PLAN, refusal_text(answer.no_plan, lang))
    yield from _written(answer, view)
    yield from _others(answer, view)
    yield from _tried(answer.dropped, view)
    yield from _by_hand(answer, view)


def _proposal(item: Proposal, answer: FixAnswer, view: View) -> Iterator[Line]:
    lang = view.lang
    kind = "" if item.kind == "plan" else PAREN.in_(lang).format(words.OWN_REMEDY.in_(lang))
    title = f"{item.title}{kind} · {SAFETY[item.safety].in_(lang)}"
    count = words.OF.in_(lang).format(n=item.number, count=len(answer.proposals))
    yield from _labelled(view, words.PLAN, f"{title}{PAREN.in_(lang).format(count)}", item.number)
    edits = tuple(line for line in fix_lines_of(item, lang) if line.text not in item.commands)
    yield from _copied(view, words.CHANGE, edits)
    if_missing = words.IF_MISSING.in_(lang)
    yield from _copied(view, words.NEEDS, (FixLine(n.command, if_missing) for n in item.needs))
    beside = item.kind == "plan"
    runs = item.commands if beside or not item.diff else ()
    yield from _copied(view, words.BESIDE if beside else words.RUN, map(FixLine, runs))
    if beside and runs:
        yield from _labelled(view, words.NOTE, words.BESIDE_SAYS.in_(lang))
    yield from _labelled(view, words.MEMORY, memory_text(item, lang))
    yield from _labelled(view, words.BATCH, batch_text(item, lang))
    yield from _labelled(view, words.SPEED, speed_text(item, lang))
    if item.kind == "plan":
        yield from _labelled(view, words.RESULT, words.QUALITY[min(item.quality, 3)].in_(lang))
    yield from _labelled(view, words.COST, item.cost)
    yield from _list(view, words.WHY, why_lines(item, lang))
    yield from _labelled(view, words.CHECKED, checked_text(item.checks, lang))
    for note in (*item.notes, *item.patched.notes):
        yield from _labelled(view, words.NOTE, note)


def fix_lines_of(item: Proposal, lang: Lang) -> tuple[FixLine, ...]:
    """Give the lines of a proposal, with what stands there now."""
    return fix_lines(as_fix(item), lang)


def _copied(view: View, label: Text, lines: Iterable[FixLine]) -> Iterator[Line]:
    lead = _lead(label, view)
    for index, line in enumerate(to_copy(view, tuple(lines), cells(lead))):
        yield (StyledText(lead, "head"), *line[1:]) if index == 0 else line


def _written(answer: FixAnswer, view: View) -> Iterator[Line]:
    for file, backup in zip(answer.written, answer.backups, strict=False):
        said = words.WROTE if backup else words.WROTE_NEW
        yield from _labelled(
            view, words.WRITTEN, said.in_(view.lang).format(file=file, backup=backup)
        )


def _others(answer: FixAnswer, view: View) -> Iterator[Line]:
    """Name the other proposals, each with what it does otherwise."""
    lang = view.lang
    texts = [
        f"{words.OTHER.in_(lang).format(n=item.number)}  {brief(item, lang)}"
        for item in answer.proposals
        if item.number != answer.chosen
    ]
    yield from _list(view, words.OTHERS, texts)


def brief(item: Proposal, lang: Lang) -> str:
    """Say a proposal in one line: its changes, the memory it comes to, its price."""
    fix = msgspec.structs.replace(as_fix(item), commands=())
    parts = [" ".join(line.text for line in fix_lines(fix, lang))]
    if item.predicted is not None:
        parts.append(f"{item.predicted.after_gib:.1f} GiB")
    if item.slowdown is not None and item.slowdown[1] > 1.0:
        parts.append(f"{item.slowdown[0]:g}-{item.slowdown[1]:g}x")
    parts.append(SAFETY[item.safety].in_(lang))
    return f"{item.title}{COLON.in_(lang)}" + " · ".join(parts)


def _tried(dropped: Iterable[Dropped], view: View) -> Iterator[Line]:
    dropped = tuple(dropped)
    shown = dropped if view.everything else dropped[:MOST_TRIED]
    yield from _list(view, words.TRIED, [failed_text(item, view.lang) for item in shown])


def _by_hand(answer: FixAnswer, view: View) -> Iterator[Line]:
    """Say what no edit of these files does; in full where there is nothing else."""
    full = answer.chosen == 0 or view.everything
    manual = answer.manual if view.everything else answer.manual[:MOST_HAND]
    for index, item in enumerate(manual):
        label = words.BY_HAND if index == 0 or full else None
        yield from _hand(item, view, label, full=full)


def _hand(item: Proposal, view: View, label: Text | None, *, full: bool) -> Iterator[Line]:
    lead = _lead(words.BY_HAND, view)
    shown = lead if label is not None else " " * cells(lead)
    # one reason stands for all: they are of the same file
    left = next((one.reason for one in item.patched.left), "")
    steps = " ".join((item.steps or left).split())
    text = item.title
    if steps and (full or left):
        text = words.MANUAL_FIRST.in_(view.lang).format(title=item.title, steps=steps)
    yield from prose(view, clean(text), lead=StyledText(shown, "head"))
    if full and item.predicted is not None:
        yield from prose(view, memory_text(item, view.lang), indent=cells(lead))
    for line in fix_lines_of(item, view.lang) if full else ():
        yield (StyledText(" " * cells(lead)), StyledText(line.text, "fix"))


def _list(view: View, label: Text, texts: Iterable[str]) -> Iterator[Line]:
    """Show several texts under one label."""
    for index, text in enumerate(texts):
        lead = _lead(label, view)
        shown = lead if index == 0 else " " * cells(lead)
        yield from prose(view, clean(text), lead=StyledText(shown, "head"))


def _lead(label: Text, view: View, number: int = 1) -> str:
    lang = view.lang
    most = max(cells(item.in_(lang).format(n=1)) for item in LABELS)
    return pad(label.in_(lang).format(n=number), most) + "  "


def _labelled(view: View, label: Text, text: str, number: int = 1) -> Iterator[Line]:
    if text:
        yield from prose(view, clean(text), lead=StyledText(_lead(label, view, number), "head"))


def _cause(answer: FixAnswer, lang: Lang) -> str:
    cause = answer.cause
    if cause is None:
        return ""
    sure = f"{LIKELY[cause.verdict].in_(lang)} {percent(cause.probability)}"
    return cause.title + PAREN.in_(lang).format(sure)


def _chosen(answer: FixAnswer) -> Proposal | None:
    return next((item for item in answer.proposals if item.number == answer.chosen), None)
