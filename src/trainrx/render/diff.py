"""Two launches side by side on a terminal: what matters first, then what only looks different."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from trainrx.model.inspection import Comparison, Item, Pair, Sided
from trainrx.model.text import Lang, Text
from trainrx.render import inspect_words as words
from trainrx.render.document import View
from trainrx.render.inspect import BLANK, titled, unread_lines
from trainrx.render.inspect_head import framework, what
from trainrx.render.inspect_rows import name_text, origin_text, value_text
from trainrx.render.layout import Line, StyledText, cells, clean, pad, wrap
from trainrx.render.page import prose
from trainrx.render.words import COLON, COMMA

WIDEST_NAME = 28
NARROW = 72


def diff_page(comparison: Comparison, view: View) -> list[Line]:
    """Lay the comparison out."""
    lang = view.lang
    weighty = [pair for pair in comparison.changes if pair.matters]
    minor = [pair for pair in comparison.changes if not pair.matters]
    lines = list(_head(comparison, view))
    facts = comparison.facts if view.everything else _told(comparison.facts)
    shown = minor if view.everything else [pair for pair in minor if _given(pair)]
    lines += _table(words.CHANGES, weighty, comparison, view)
    lines += _table(words.FACTS, facts, comparison, view)
    lines += _lone(comparison, view)
    lines += _table(words.OPEN, comparison.open, comparison, view)
    lines += _table(words.MINOR, shown, comparison, view)
    lines += _renamed(comparison.renamed, view)
    if view.everything:
        lines += _defaults(comparison.defaults, view)
    lines += _rest(comparison, len(minor) - len(shown), view)
    for sided in (comparison.good, comparison.bad):
        if sided.further:
            text = words.FURTHER.in_(lang).format(n=sided.further, where=sided.place.source)
            lines += (BLANK, *prose(view, text, style="dim"))
    return [*lines, *unread_lines(comparison.unread, view)]


def _head(comparison: Comparison, view: View) -> Iterator[Line]:
    lang = view.lang
    if comparison.verdict == "same":
        yield (StyledText(words.SAME.in_(lang), "good"),)
    else:
        pairs = (*comparison.changes, *comparison.lone)
        count = sum(pair.matters for pair in pairs) or sum(p.matters for p in comparison.facts)
        yield (StyledText(words.DIFFERS.in_(lang).format(n=count), "bad"),)
    column = max(cells(text.in_(lang)) for text in (words.GOOD, words.BAD)) + 2
    for text, sided in ((words.GOOD, comparison.good), (words.BAD, comparison.bad)):
        lead = pad(text.in_(lang), column)
        said = f"{clean(str(sided.place))}  {what(sided)}{COMMA.in_(lang)}{framework(sided, lang)}"
        for index, part in enumerate(wrap(said, view.width - column)):
            yield (StyledText(lead if index == 0 else " " * column, "head"), StyledText(part))


def _table(title: Text, pairs: Sequence[Pair], seen: Comparison, view: View) -> Iterator[Line]:
    """Show pairs by topic: name, value before, value now, and below where each comes from."""
    if not pairs:
        return
    lang = view.lang
    yield from titled(title, view)
    most = min(WIDEST_NAME, view.width // 3)
    column = max((n for n in map(cells, (_name(p, lang) for p in pairs)) if n <= most), default=8)
    start = 2 + max(column, 12) + 2
    half = max((view.width - start - 2) // 2, 8)
    good, bad = words.GOOD.in_(lang), words.BAD.in_(lang)
    yield (StyledText(" " * start), StyledText(pad(good, half + 2), "dim"), StyledText(bad, "dim"))
    for topic, group in groupby(pairs, key=lambda pair: pair.topic):
        yield (StyledText(" "), StyledText(words.TOPIC[topic].in_(lang), "head"))
        for pair in group:
            yield from _pair(pair, seen, view, start, half)


def _pair(pair: Pair, seen: Comparison, view: View, start: int, half: int) -> Iterator[Line]:
    lang, blank = view.lang, " " * start
    name = _name(pair, lang)
    lead = StyledText(pad(f"  {name}", start), "strong")
    if cells(name) > start - 4:
        yield from (
            (StyledText("  "), StyledText(part, "strong")) for part in wrap(name, view.width - 2)
        )
        lead = StyledText(blank)
    sides = (pair.good, seen.good), (pair.bad, seen.bad)
    values = [wrap(_value(item, pair, lang), half, hard=True) for item, _ in sides]
    places = [
        [
            part
            for text in (_other_name(item, pair), _place(item, side, view))
            for part in (wrap(text, half, hard=True) if text else ())
        ]
        for item, side in sides
    ]
    for index in range(max(map(len, values))):
        left, right = (parts[index] if index < len(parts) else "" for parts in values)
        styles = ("minus", "plus") if pair.matters else ("", "")
        spans = (StyledText(pad(left, half + 2), styles[0]), StyledText(right, styles[1]))
        yield (lead if index == 0 else StyledText(blank), *spans)
    for index in range(max(map(len, places), default=0)):
        left, right = (parts[index] if index < len(parts) else "" for parts in places)
        yield (StyledText(blank), StyledText(pad(left, half + 2), "dim"), StyledText(right, "dim"))


def _name(pair: Pair, lang: Lang) -> str:
    sides = (item for item in (pair.bad, pair.good) if item is not None)
    item = next((item for item in sides if item.name == pair.name), None)
    return clean(pair.name) if item is None else name_text(item, lang)


def _other_name(item: Item | None, pair: Pair) -> str:
    """Give the name a side has for it where that is another one."""
    if item is None or item.via == "derived" or item.name == pair.name:
        return ""
    return f"({clean(item.name)})"


def _value(item: Item | None, pair: Pair, lang: Lang) -> str:
    if item is not None:
        return value_text(item, lang)
    other = pair.good or pair.bad
    variable = other is not None and other.via in ("env", "launcher", "container")
    return (words.NOT_SET if variable else words.NO_SUCH).in_(lang)


def _place(item: Item | None, side: Sided, view: View) -> str:
    if item is None:
        return ""
    short = view.width < NARROW
    return origin_text(item, side, view.lang, short=short, everything=True)


def _lone(comparison: Comparison, view: View) -> Iterator[Line]:
    """List what one side gives and the other has no argument for."""
    lang = view.lang
    pairs = comparison.lone
    if not pairs:
        return
    yield from titled(words.LONE, view)
    for pair in pairs:
        item, side = (pair.good, comparison.good) if pair.good else (pair.bad, comparison.bad)
        if item is None:
            continue
        who = words.ONLY_GOOD if pair.good is not None else words.ONLY_BAD
        place = origin_text(item, side, lang, short=False, everything=False)
        text = f"{clean(item.name)} {value_text(item, lang)} ({place})"
        lead = StyledText(who.in_(lang) + COLON.in_(lang), "dim")
        yield from prose(view, text, indent=2, lead=lead)


def _renamed(pairs: Sequence[Pair], view: View) -> Iterator[Line]:
    """List arguments that go by another name and come to the same, several on a line."""
    if not pairs:
        return
    yield from titled(words.RENAMED, view)
    texts = [
        f"{clean(pair.good.name)} -> {clean(pair.bad.name)}"
        for pair in pairs
        if pair.good is not None and pair.bad is not None
    ]
    line = ""
    for text in texts:
        joined = f"{line},  {text}" if line else text
        if line and cells(joined) > view.width - 3:
            yield (StyledText("  "), StyledText(f"{line},"))
            joined = text
        line = joined
    yield (StyledText("  "), StyledText(line))


def _defaults(pairs: Sequence[Pair], view: View) -> Iterator[Line]:
    """List the defaults only one side has."""
    for text, side in ((words.ONLY_GOOD, "good"), (words.ONLY_BAD, "bad")):
        found = [item for pair in pairs if (item := getattr(pair, side)) is not None]
        if found:
            yield from titled(text, view)
        for item in found:
            yield from prose(view, f"{item.name} = {value_text(item, view.lang)}", indent=2)


def _rest(comparison: Comparison, minor: int, view: View) -> Iterator[Line]:
    lang = view.lang
    texts: list[str] = []
    if minor:
        texts.append(words.MINOR_REST.in_(lang).format(n=minor))
    good = sum(pair.good is not None for pair in comparison.defaults)
    bad = len(comparison.defaults) - good
    if (good or bad) and not view.everything:
        texts.append(words.ONE_SIDED.in_(lang).format(good=good, bad=bad))
    texts.append(words.EQUAL.in_(lang).format(n=comparison.same))
    yield BLANK
    for text in texts:
        yield from prose(view, text, style="dim")


def _told(pairs: Sequence[Pair]) -> list[Pair]:
    """Keep the derived values a reader knows by name."""
    return [pair for pair in pairs if pair.name in words.FACT]


def _given(pair: Pair) -> bool:
    return any(side is not None and side.given for side in (pair.good, pair.bad))
