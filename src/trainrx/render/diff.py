"""Two launches side by side as a document: what matters first, then what only looks different."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from trainrx.model.inspection import Comparison, Item, Pair, Sided
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import inspect_words as words
from trainrx.render.document import Document, View, children
from trainrx.render.inputs import unread_section
from trainrx.render.inspect import framework, what
from trainrx.render.inspect_rows import name_text, origin_text, value_text
from trainrx.render.layout import Styled
from trainrx.render.words import COMMA
from trainrx.sanitizer.controls import clean


def document(comparison: Comparison, view: View) -> Document:
    """Lay the comparison out."""
    weighty = [pair for pair in comparison.changes if pair.matters]
    minor = [pair for pair in comparison.changes if not pair.matters]
    shown = minor if view.everything else [pair for pair in minor if _given(pair)]
    # a reader knows only some of the derived values by name
    facts = [pair for pair in comparison.facts if view.everything or pair.name in words.FACT]
    return Document(
        children(
            _head(comparison, view),
            _contrasts(words.CHANGES, weighty, comparison, view),
            _contrasts(words.FACTS, facts, comparison, view),
            doc.Section(view.say(words.LONE), tuple(_lone(comparison, view))),
            _contrasts(words.OPEN, comparison.open, comparison, view),
            _contrasts(words.MINOR, shown, comparison, view),
            _renamed(comparison.renamed, view),
            _defaults(comparison.defaults, view) if view.everything else None,
            _rest(comparison, len(minor) - len(shown), view),
            _further(comparison, view),
            unread_section(comparison.unread, view),
        ),
        (view.say(words.GOOD), view.say(words.BAD)),
        f"{comparison.tool.name} {comparison.tool.version}",
        short=True,
    )


def _head(comparison: Comparison, view: View) -> Iterator[doc.Node]:
    if comparison.verdict == "same":
        yield doc.Headline(view.say(words.SAME), "good")
    else:
        pairs = (*comparison.changes, *comparison.lone)
        count = sum(pair.matters for pair in pairs) or sum(p.matters for p in comparison.facts)
        yield doc.Headline(view.say(words.DIFFERS, n=count), "bad")
    for label, sided in ((words.GOOD, comparison.good), (words.BAD, comparison.bad)):
        said = f"{sided.place}  {what(sided)}{view.say(COMMA)}{framework(sided, view)}"
        yield doc.Labelled(view.say(label), (said,))


def _contrasts(title: Text, pairs: Sequence[Pair], seen: Comparison, view: View) -> doc.Node | None:
    """Show pairs by topic: name, value before, value now, and below where each comes from."""
    if not pairs:
        return None
    groups = tuple(
        (view.say(words.TOPIC[topic]), tuple(_contrast(pair, seen, view) for pair in group))
        for topic, group in groupby(pairs, key=lambda pair: pair.topic)
    )
    return doc.Contrasts(view.say(title), (view.say(words.GOOD), view.say(words.BAD)), groups)


def _contrast(pair: Pair, seen: Comparison, view: View) -> doc.Contrast:
    sides = (_side(pair.good, pair, seen.good, view), _side(pair.bad, pair, seen.bad, view))
    return doc.Contrast(_name(pair, view), *sides, pair.matters)


def _side(item: Item | None, pair: Pair, sided: Sided, view: View) -> doc.Side:
    if item is None:
        other = pair.good or pair.bad
        variable = other is not None and other.via in ("env", "launcher", "container")
        return doc.Side(view.say(words.NOT_SET if variable else words.NO_SUCH))
    origin = origin_text(item, sided, view._replace(everything=True))
    same = item.via == "derived" or item.name == pair.name
    return doc.Side(value_text(item, view.lang), "" if same else clean(item.name), origin)


def _name(pair: Pair, view: View) -> str:
    sides = (item for item in (pair.bad, pair.good) if item is not None)
    item = next((item for item in sides if item.name == pair.name), None)
    return clean(pair.name) if item is None else name_text(item, view.lang)


def _lone(comparison: Comparison, view: View) -> Iterator[doc.Node]:
    """List what one side gives and the other has no argument for."""
    for pair in comparison.lone:
        item, side = (pair.good, comparison.good) if pair.good else (pair.bad, comparison.bad)
        if item is None:
            continue
        who = view.labelled(words.ONLY_GOOD if pair.good is not None else words.ONLY_BAD, "")
        place = origin_text(item, side, View(view.lang))
        text = f"{clean(item.name)} {value_text(item, view.lang)} ({place})"
        yield doc.Paragraph(text, Styled(who, "dim"))


def _renamed(pairs: Sequence[Pair], view: View) -> doc.Section:
    """List arguments that go by another name and come to the same."""
    texts = tuple(
        f"{clean(pair.good.name)} -> {clean(pair.bad.name)}"
        for pair in pairs
        if pair.good is not None and pair.bad is not None
    )
    return doc.Section(view.say(words.RENAMED), (doc.Flow(texts),) if texts else ())


def _defaults(pairs: Sequence[Pair], view: View) -> Iterator[doc.Section]:
    """List the defaults only one side has."""
    sides = (
        (words.ONLY_GOOD, [pair.good for pair in pairs]),
        (words.ONLY_BAD, [pair.bad for pair in pairs]),
    )
    for title, items in sides:
        texts = (f"{i.name} = {value_text(i, view.lang)}" for i in items if i is not None)
        yield doc.Section(view.say(title), tuple(map(doc.Bullet, texts)))


def _rest(comparison: Comparison, minor: int, view: View) -> Iterator[doc.Node]:
    texts = [view.say(words.MINOR_REST, n=minor)] if minor else []
    good = sum(pair.good is not None for pair in comparison.defaults)
    bad = len(comparison.defaults) - good
    if (good or bad) and not view.everything:
        texts.append(view.say(words.ONE_SIDED, good=good, bad=bad))
    texts.append(view.say(words.EQUAL, n=comparison.same))
    for index, text in enumerate(texts):
        yield doc.Paragraph(text, style="dim", gap=index == 0)


def _further(comparison: Comparison, view: View) -> Iterator[doc.Node]:
    for sided in (comparison.good, comparison.bad):
        if sided.further:
            text = view.say(words.FURTHER, n=sided.further, where=sided.place.source)
            yield doc.Paragraph(text, style="dim", gap=True)


def _given(pair: Pair) -> bool:
    return any(side is not None and side.given for side in (pair.good, pair.bad))
