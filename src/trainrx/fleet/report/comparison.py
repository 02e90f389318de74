"""Good and bad runs compared, as a document."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.fleet.across.regression import Difference, Regression
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render.document import Document, View, children
from trainrx.sanitizer.controls import clean

MOST_ROWS = 15
MOST_VALUES = 4
FOUND = Text(
    en="{count} settings and versions tell {bad} bad runs from {good} good ones",
    zh="有 {count} 项设置或版本能区分 {bad} 个失败任务和 {good} 个正常任务",
)
NOTHING = Text(
    en="no setting and no version tells {bad} bad runs from {good} good ones",
    zh="没有哪项设置或版本能区分 {bad} 个失败任务和 {good} 个正常任务",
)
TURN = Text(
    en="The first bad run is {bad}; the last good one before it {good}.",
    zh="首个失败任务是 {bad}；在它之前最后一个正常任务是 {good}。",
)
SEPARATES = Text(en="In every bad run and no good one", zh="所有失败任务都有、正常任务都没有")
LEANS = Text(en="More often in bad runs than chance explains", zh="在失败任务中出现得比偶然更多")
EDGE = Text(
    en="good up to `{good}`, bad from `{bad}`", zh="到 `{good}` 为止正常，从 `{bad}` 起失败"
)
VALUES = Text(en="good: {good}; bad: {bad}", zh="正常：{good}；失败：{bad}")
CHANCE = Text(en="p = {p}", zh="p = {p}")
CHANGED = Text(en="changed in the first bad run", zh="在首个失败任务中改动")
UNSET = Text(en="not set", zh="未设置")


def document(found: Regression, view: View) -> Document:
    """Lay the comparison out: what separates the runs, then what only leans."""
    count = len(found.differences)
    said = view.say(FOUND if count else NOTHING, count=count, good=found.good, bad=found.bad)
    turn = view.say(TURN, good=clean(found.last_good), bad=clean(found.first_bad))
    split = [one for one in found.differences if one.separates]
    leaning = [one for one in found.differences if not one.separates]
    return Document(
        children(
            doc.Headline(said, "bad" if count else "doubt"),
            doc.Paragraph(turn) if found.first_bad else None,
            doc.Section(view.say(SEPARATES), tuple(_rows(split, view))),
            doc.Section(view.say(LEANS), tuple(_rows(leaning, view))),
        ),
    )


def _rows(differences: list[Difference], view: View) -> Iterator[doc.Node]:
    shown = view.first(differences, MOST_ROWS)
    for one in shown:
        said = view.labelled_text(f"`{_plain(one.name)}`", _said(one, view))
        yield doc.Bullet(said, children=_place(one))
    if len(shown) < len(differences):
        yield doc.More(len(differences) - len(shown))


def _place(one: Difference) -> tuple[doc.Node, ...]:
    """Give the line of the launch in the first bad run."""
    return (doc.Paragraph(_plain(one.place)),) if one.place else ()


def _said(one: Difference, view: View) -> str:
    if one.first_bad:
        said = view.say(EDGE, good=_plain(one.last_good), bad=_plain(one.first_bad))
    else:
        said = view.say(VALUES, good=_values(one.good, view), bad=_values(one.bad, view))
    notes = [view.say(CHANGED)] if one.changed else []
    return said + view.paren("; ".join((*notes, view.say(CHANCE, p=f"{one.p:.2g}"))))


def _values(values: tuple[tuple[str, int], ...], view: View) -> str:
    shown = (
        (f"`{_plain(value)}`" if value else view.say(UNSET)) + f" x{count}"
        for value, count in values[:MOST_VALUES]
    )
    return ", ".join(shown) + (" ..." if len(values) > MOST_VALUES else "")


def _plain(text: str) -> str:
    return clean(text).replace("`", "'")
