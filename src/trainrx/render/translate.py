"""A translated launch on a terminal: what is to decide first, the command last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from trainrx.model.catalog import Value
from trainrx.model.text import Lang, Text
from trainrx.model.translation import Carried, DefaultChange, Translated, Translation
from trainrx.render import translate_words as words
from trainrx.render.document import View
from trainrx.render.inspect import BLANK, unread_lines
from trainrx.render.layout import Line, StyledText, cells, clean, pad
from trainrx.render.page import heading, limited, prose

MOST_DEFAULTS = 12
_LESS = ("saving", "environment", "other")
_WIDEST = 44


def translation_page(answer: Translation, view: View) -> list[Line]:
    """Lay out every launch."""
    lines: list[Line] = []
    for item in answer.launches:
        lines += [*([BLANK] if lines else []), *_launch(item, view)]
    if answer.by_hand:
        lines += (BLANK, heading(words.BY_HAND.in_(view.lang), 0))
        for text in answer.by_hand:
            lines += prose(view, text, indent=2, lead=StyledText("- "))
    return [*lines, *unread_lines(answer.unread, view)]


def _launch(item: Translated, view: View) -> Iterator[Line]:
    yield from _head(item, view)
    lost = [one for one in item.arguments if one.outcome in ("missing", "stranger")]
    changed = [one for one in item.arguments if one.outcome in _CHANGED]
    dropped = [one for one in item.arguments if one.outcome == "dropped"]
    yield from _group(words.LOST, lost, view, "bad")
    if item.refused:
        yield BLANK
        yield heading(words.REFUSED.in_(view.lang), 0)
        for no in item.refused:
            shown = f"{clean(no.given).strip()}: {no.reason}" if no.given else no.reason
            yield from prose(view, shown, indent=2, lead=StyledText("x ", "bad"))
    yield from _group(words.CHANGED, changed, view, "fix")
    yield from _group(words.DROPPED, dropped, view, "dim")
    kept = [one for one in item.arguments if one.outcome == "kept"]
    if kept:
        yield BLANK
        yield (StyledText(words.KEPT.in_(view.lang).format(n=len(kept)), "dim"),)
        if view.everything:
            for one in kept:
                yield (StyledText(f"  {clean(one.given)}", "dim"),)
    yield from _defaults(item.defaults, view)
    yield BLANK
    yield heading(words.COMMAND.in_(view.lang), 0)
    for line in item.text.split("\n"):
        yield (StyledText(f"  {clean(line)}", "fix"),)


_CHANGED = frozenset({"renamed", "value", "moved", "replaced"})


def _head(item: Translated, view: View) -> Iterator[Line]:
    target = f"{item.framework} {item.target}"
    open_ones = len(item.refused) + sum(
        one.outcome in ("missing", "stranger") for one in item.arguments
    )
    said, style = words.COMPLETE.in_(view.lang).format(target=target), "good"
    if open_ones:
        said, style = words.OPEN.in_(view.lang).format(n=open_ones, target=target), "bad"
    yield from prose(view, said, style=style)
    pattern = {"given": words.WRITTEN_FOR, "derived": words.DERIVED}.get(
        item.version_how, words.NOTHING_KNOWN
    )
    version = pattern.in_(view.lang).format(version=item.version)
    place = f"{clean(str(item.place))}  {item.framework} {item.command}"
    if item.command_now != item.command:
        place += f" -> {item.command_now}"
    yield from prose(view, f"{place}, {version}", style="dim")


def _group(title: Text, items: Sequence[Carried], view: View, style: str) -> Iterator[Line]:
    if not items:
        return
    yield BLANK
    yield heading(title.in_(view.lang), 0)
    column = max((cells(clean(one.given)) for one in items if one.now), default=0)
    column = min(column, _WIDEST)
    for one in items:
        given, now = clean(one.given), [clean(text) for text in one.now]
        if not now:
            yield (StyledText(f"  {given}", style),)
        elif cells(given) <= column and 6 + column + max(map(cells, now)) <= view.width:
            yield (
                StyledText("  " + pad(given, column)),
                StyledText("  "),
                StyledText(now[0], "fix"),
            )
            for text in now[1:]:
                yield (StyledText(" " * (column + 4)), StyledText(text, "fix"))
        else:
            yield (StyledText(f"  {given}"),)
            for text in now:
                yield (StyledText("    -> "), StyledText(text, "fix"))
        if one.why:
            yield from prose(view, one.why, indent=4, style="dim")


def _defaults(items: Sequence[DefaultChange], view: View) -> Iterator[Line]:
    yield BLANK
    if not items:
        yield from prose(view, words.NO_DEFAULTS.in_(view.lang), style="dim")
        return
    yield from prose(view, words.DEFAULTS.in_(view.lang), style="head")
    ordered = sorted(items, key=lambda one: (one.topic in _LESS, bool(not one.keep)))
    count = limited(view, len(ordered), MOST_DEFAULTS)
    for one in ordered[:count]:
        yield from _default(one, view)
    if count < len(ordered):
        more = words.MORE_DEFAULTS.in_(view.lang).format(n=len(ordered) - count)
        yield from prose(view, more, indent=2, style="dim")


def _default(one: DefaultChange, view: View) -> Iterator[Line]:
    name = one.name if one.now == one.name else f"{one.name} -> {one.now}"
    said = f"{name}: {_value(one.before)} -> {_value(one.after)}"
    keep = one.keep or f"({words.NO_KEEP.in_(view.lang)})"
    style = "fix" if one.keep else "dim"
    if cells(said) + cells(keep) + 6 <= view.width:
        yield (StyledText("  " + pad(said, 46)), StyledText("  "), StyledText(clean(keep), style))
    else:
        yield from prose(view, said, indent=2)
        yield (StyledText(f"    {clean(keep)}", style),)
    if one.note:
        yield from prose(view, one.note, indent=4, style="dim")


def _value(value: Value) -> str:
    if isinstance(value, str):
        return clean(value) or '""'
    return clean(json.dumps(value, ensure_ascii=False).replace("null", "None"))


def written_text(files: Iterable[tuple[str, str | None]], lang: Lang) -> str:
    """Say which files were written, and where the old ones are (None: the file is new)."""
    lines = [
        words.NEW_FILE.in_(lang).format(file=clean(file))
        if backup is None
        else words.WROTE.in_(lang).format(file=clean(file), backup=clean(backup))
        for file, backup in files
    ]
    return "\n".join(lines or [words.NO_EDIT.in_(lang)]) + "\n"
