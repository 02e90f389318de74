"""Where the ranks stand, in words and as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainrx.model.ranks import ranges
from trainrx.model.result import Diagnosis, RankPlace, RankReport
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import CopyLine, View
from trainrx.sanitizer.controls import clean

MOST_PLACES = 3
MOST_TREE = 400


def ranks_line(answer: Diagnosis, view: View) -> doc.Node | None:
    """Say in a line which ranks the others wait for, and where both stand."""
    report = answer.ranks
    if report is None or report.stuck is False:
        return None
    said = view.say(words.LISTED).join(_sentences(report, view))
    return doc.Labelled(view.say(words.RANKS_LABEL), (said,), most=3) if said else None


def ranks_section(answer: Diagnosis, view: View) -> doc.Section:
    """Show the stacks of all ranks as one tree."""
    lines = () if answer.ranks is None else answer.ranks.tree[:MOST_TREE]
    wide = max((len(line.ranks) for line in lines), default=0)
    shown = tuple(
        CopyLine(clean(f"{line.ranks:<{wide}}  {'  ' * line.depth}{line.frame}")) for line in lines
    )
    return doc.Section(view.say(words.STACKS), (doc.Code(shown),) if shown else ())


def _sentences(report: RankReport, view: View) -> Iterator[str]:
    found = report.collective
    if found is not None and not report.places:
        who = report.culprits or report.waiting
        said = f"{_who(who, view)} {found.says}" if who else found.says
        yield said + (view.paren(found.frame) if found.frame else "")
        if report.culprits and report.waiting:
            yield view.say(
                words.WAITS, who=_waits(report.waiting, _who(report.waiting, view), view)
            )
    waiting = [one for one in report.places if one.role == "waiting"]
    held = [one for one in report.places if one.role == "culprit"]
    if report.missing and waiting:
        yield view.say(words.NOT_THERE, who=_who(report.missing, view))
    if not held and not report.culprits and not report.missing and report.stuck:
        held, waiting = list(report.places), []
    for group in _alike(held)[:MOST_PLACES]:
        named = _named(group, view)
        named = view.say(words.EACH_OF, who=named) if group[1:] else named
        yield view.say(words.STANDS, who=named, what=group[0].state, at=group[0].frame)
    for group in _alike(waiting)[:MOST_PLACES] if held or report.missing else ():
        named = _waits(group, _named(group, view), view)
        op = view.paren(group[0].op)
        yield view.say(words.WAIT_FOR_IT, who=named, op=op, at=group[0].frame)


def _alike(places: Iterable[RankPlace]) -> list[list[RankPlace]]:
    """Put ranks together that stand at one place."""
    groups: dict[tuple[str, str, str], list[RankPlace]] = {}
    for one in places:
        groups.setdefault((one.id, one.op, one.frame), []).append(one)
    return list(groups.values())


def _named(group: Iterable[RankPlace], view: View) -> str:
    places = tuple(group)
    known = [one.rank for one in places if one.rank is not None]
    if known:
        return _who(known, view)
    return f"pid {', '.join(str(one.pid) for one in places)}"


def _who(ranks: Sequence[int], view: View) -> str:
    return f"{view.say(words.SEVERAL_RANKS if ranks[1:] else words.RANKS)} {ranges(ranks)}"


def _waits(ranks: Sequence[object], who: str, view: View) -> str:
    return view.say(words.SEVERAL_WAIT if ranks[1:] else words.ONE_WAITS, who=who)
