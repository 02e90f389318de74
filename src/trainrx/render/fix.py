"""A proved change as a document: why it will do, as comment lines, then the patch itself.

Every line of text above the patch begins with `# `, which `patch` and `git apply` pass over, so
that the whole output is a patch file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from trainrx.model.fixing import FixAnswer, Proposal
from trainrx.model.job import COMMAND_LINE
from trainrx.model.result import FixOut
from trainrx.model.text import Text
from trainrx.prove.price import QUALITY
from trainrx.render import document as doc
from trainrx.render import fix_words as words
from trainrx.render.cause import destruction, fix_lines, sure, unsaid
from trainrx.render.document import CopyLine, Document, View, children
from trainrx.render.inputs import job_text
from trainrx.render.words import CAUSE, COLON, JOB, SAFETY

MARK = "# "
MOST_TRIED = 6
MOST_HAND = 3
MOST_POSTED = 8
LABELS = (
    CAUSE,
    words.PLAN,
    words.CHANGE,
    words.MEMORY,
    words.BATCH,
    words.RESULT,
    words.CHECKED,
    words.OPEN,
    words.STILL,
    words.OTHERS,
    words.BY_HAND,
    words.NO_PLAN,
    words.WRITTEN,
)

SHORT = "frees-most"
"""The plan that says itself by how much it falls short."""


def document(answer: FixAnswer, view: View) -> Document:
    """Lay the answer out."""
    chosen = next((item for item in answer.proposals if item.number == answer.chosen), None)
    refused = answer.refused if chosen is None else chosen.refused
    return Document(
        children(
            _head(answer, chosen, view),
            _texts(words.STILL, words.still_lines(refused, view), view, strong=True),
            None if chosen is None else _proposal(chosen, answer, view),
            None if chosen is not None and chosen.id == SHORT else _no_plan(answer, view),
            _written(answer, view),
            _others(answer, view),
            _tried(answer, view),
            _by_hand(answer, view),
            None if chosen is None or answer.written or view.post else _edits(chosen),
        ),
        tuple(view.say(label, n=1) for label in LABELS),
        f"{answer.tool.name} {answer.tool.version}",
        short=True,
        mark=MARK,
    )


def _head(answer: FixAnswer, chosen: Proposal | None, view: View) -> Iterator[doc.Node]:
    claim = words.CLAIM[answer.verdict]
    if chosen is not None and not chosen.diff and chosen.commands:
        claim = words.INSTALL
    elif answer.verdict == "nothing-proved" and not answer.dropped:
        claim = words.NO_CHANGE
    word = view.say(words.VERDICT[answer.verdict])
    told = view.say(claim)
    cause = answer.cause if chosen is not None and chosen.kind == "fix" else None
    if answer.verdict == "unknown" and answer.no_plan is None:
        told = view.say(words.UNTOLD)
    elif answer.verdict == "checked" and cause and cause.probability < words.DOUBTED:
        told = view.say(words.A_TRY, share=f"{100 * cause.probability:.0f}")
    yield doc.Headline(word, words.STYLE_OF[answer.verdict], told)
    if answer.cause is not None:
        named = answer.cause.title + view.paren(sure(answer.cause, view))
        yield doc.Labelled(view.say(CAUSE), (named,))
    job = job_text(answer.job, view)
    if job:
        yield doc.Labelled(view.say(JOB), (job,))


def _texts(
    label: Text, texts: Iterable[str], view: View, *, strong: bool = False
) -> doc.Node | None:
    """Show several texts under one label."""
    found = tuple(text for text in texts if text)
    return doc.Labelled(view.say(label), found, strong=strong) if found else None


def _proposal(item: Proposal, answer: FixAnswer, view: View) -> Iterator[doc.Node | None]:
    safety = view.say(SAFETY[item.safety])
    kind = "" if item.kind == "plan" or view.post else view.paren(view.say(words.OWN_REMEDY))
    count = view.say(words.OF, n=item.number, count=len(answer.proposals))
    title = f"{item.title}{kind} · {safety}{'' if view.post else view.paren(count)}"
    yield doc.Labelled(view.say(words.PLAN, n=item.number), (title,), strong=True)
    if_missing = view.say(words.IF_MISSING)
    needs = tuple(CopyLine(need.command, if_missing) for need in item.needs)
    beside = item.kind == "plan"
    runs = tuple(map(CopyLine, item.commands if beside or not item.diff else ()))
    if view.post:
        yield from _posted(item, needs, runs, view)
        return
    edits = tuple(line for line in fix_lines_of(item, view) if line.text not in item.commands)
    run = words.BESIDE if beside else words.RUN
    for label, lines in ((words.CHANGE, edits), (words.NEEDS, needs), (run, runs)):
        if lines:
            yield doc.Labelled(view.say(label), lines=lines)
    for label, texts in _said(item, view, started=bool(beside and runs)):
        yield _texts(label, texts, view)
    yield from destruction(item.destroys, view)


def _posted(
    item: Proposal, needs: tuple[CopyLine, ...], runs: tuple[CopyLine, ...], view: View
) -> Iterator[doc.Node]:
    """Say of a proposal what a chat needs, with its patch right below."""
    for label, texts in _said(item, view, started=bool(item.kind == "plan" and runs)):
        yield from (doc.Bullet(view.labelled(label, text)) for text in texts if text)
    lines = (*needs, *runs)
    if lines:
        yield doc.Code(lines)
    if item.diff:
        yield from _edits(item)


def _edits(item: Proposal) -> Iterator[doc.Node]:
    """Give a command that was given in words as it is now, and the patch of what lies in files."""
    files = item.patched.files
    commands = [file.after for file in files if file.name == COMMAND_LINE]
    yield from map(doc.Patch, commands)
    if len(commands) < len(files):
        # not worked out again: what the diff holds may be masked otherwise than the files
        parts = re.split(r"(?m)^(?=diff --git )", item.diff)
        own = f"diff --git a/{COMMAND_LINE} "
        yield doc.Patch("".join(part for part in parts if not part.startswith(own)))


def _said(item: Proposal, view: View, *, started: bool) -> Iterator[tuple[Text, tuple[str, ...]]]:
    """Give what is said of a proposal: memory, batch, speed, quality, price, why, checks, notes."""
    if started:
        yield words.NOTE, (view.say(words.BESIDE_SAYS),)
    yield words.MEMORY, (words.memory_text(item, view), *item.assumes)
    yield words.BATCH, (words.batch_text(item, view),)
    yield words.SPEED, (words.speed_text(item, view),)
    if item.kind == "plan":
        yield words.RESULT, (view.say(QUALITY[item.quality]),)
    yield words.COST, (item.cost,)
    yield words.WHY, tuple(words.why_lines(item, view))
    yield words.CHECKED, (words.checked_text(item.checks, view),)
    yield words.OPEN, item.lacks
    for note in (*item.notes, *item.patched.notes):
        yield words.NOTE, (note,)


def fix_lines_of(item: Proposal, view: View) -> tuple[CopyLine, ...]:
    """Give the lines of a proposal, with what stands there now."""
    return fix_lines(_as_fix(item), view)


def _as_fix(item: Proposal) -> FixOut:
    return FixOut(
        id=item.id,
        title=item.title,
        safety=item.safety,
        cost=item.cost,
        changes=item.changes,
        commands=item.commands,
        destroys=item.destroys,
    )


def _no_plan(answer: FixAnswer, view: View) -> doc.Node | None:
    if answer.no_plan is None:
        return None
    return _texts(words.NO_PLAN, [words.refusal_text(answer.no_plan, view)], view)


def _written(answer: FixAnswer, view: View) -> Iterator[doc.Node]:
    for file, backup in zip(answer.written, answer.backups, strict=False):
        said = words.WROTE if backup else words.WROTE_NEW
        yield doc.Labelled(view.say(words.WRITTEN), (view.say(said, file=file, backup=backup),))


def _others(answer: FixAnswer, view: View) -> doc.Node | None:
    """Name the other proposals, each with what it does otherwise."""
    others = [item for item in answer.proposals if item.number != answer.chosen]
    named = [(view.say(words.OTHER, n=item.number), brief(item, view)) for item in others]
    if view.post:
        items = tuple(doc.Bullet(f"`{option}` {said}") for option, said in named)
        return doc.Section(view.say(words.OTHERS), items)
    return _texts(words.OTHERS, [f"{option}  {said}" for option, said in named], view)


def brief(item: Proposal, view: View) -> str:
    """Say a proposal in one line: its changes, the memory it comes to, its price."""
    fix = msgspec.structs.replace(_as_fix(item), commands=())
    parts = [" ".join(line.text for line in fix_lines(fix, view))]
    if item.predicted is not None:
        parts.append(f"{item.predicted.after_gib:.1f} GiB")
    if item.slowdown is not None and item.slowdown[1] > 1.0:
        parts.append(f"{item.slowdown[0]:g}-{item.slowdown[1]:g}x")
    parts.append(view.say(SAFETY[item.safety]))
    return f"{item.title}{view.say(COLON)}" + " · ".join(parts)


def _tried(answer: FixAnswer, view: View) -> doc.Node | None:
    most = MOST_POSTED if view.post else MOST_TRIED
    shown = answer.dropped if view.everything else answer.dropped[:most]
    texts = [words.failed_text(item, view) for item in shown]
    if view.post:
        return doc.Section(view.say(words.TRIED), tuple(map(doc.Bullet, texts)))
    return _texts(words.TRIED, texts, view)


def _by_hand(answer: FixAnswer, view: View) -> Iterator[doc.Node]:
    """Say what no edit of these files does; in full where there is nothing else."""
    if view.post:
        items = (_posted_hand(item, view) for item in answer.manual[:MOST_POSTED])
        yield doc.Section(view.say(words.BY_HAND), tuple(items))
        return
    full = answer.chosen == 0 or view.everything
    manual = answer.manual if view.everything else answer.manual[:MOST_HAND]
    for index, item in enumerate(manual):
        label = view.say(words.BY_HAND) if index == 0 or full else ""
        yield _hand(item, label, view, full=full)
        yield from destruction(item.destroys if full else None, view)


def _posted_hand(item: Proposal, view: View) -> doc.Bullet:
    return doc.Bullet(
        " ".join((item.title, *(f"`{line.text}`" for line in fix_lines_of(item, view))))
    )


def _hand(item: Proposal, label: str, view: View, *, full: bool) -> doc.Labelled:
    # one reason stands for all: they are of the same file
    left = next((one.reason for one in item.patched.left), "")
    steps = " ".join((item.steps or left).split())
    text = item.title
    if steps and (full or left):
        text = view.say(words.MANUAL_FIRST, title=item.title, steps=steps)
    if not full:
        return doc.Labelled(label, (text,))
    memory = words.memory_text(item, view)
    said = " ".join((text, *item.commands))
    kept = msgspec.structs.replace(item, changes=unsaid(item.changes, said))
    lines = tuple(CopyLine(line.text) for line in fix_lines_of(kept, view))
    return doc.Labelled(label, (text, memory) if memory else (text,), lines)
