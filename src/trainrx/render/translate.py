"""A translated launch as a document: what is to decide first, the command last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from trainrx.model.catalog import Value
from trainrx.model.text import Lang, Text
from trainrx.model.translation import Carried, DefaultChange, Translated, Translation
from trainrx.render import document as doc
from trainrx.render.document import Document, View, children
from trainrx.render.inputs import unread_section
from trainrx.render.layout import cells
from trainrx.sanitizer.controls import clean

CHANGED = Text(en="Written otherwise", zh="写法变了")
LOST = Text(en="Left for you to decide", zh="需要人来决定")
DROPPED = Text(en="Needs no word any more", zh="不必再写")
KEPT = Text(en="Unchanged: {n}", zh="不变：{n} 个")
DEFAULTS = Text(
    en="Defaults this launch relies on that are others there (the line keeps the old one)",
    zh="此启动依赖、而目标版本已改变的默认值（右侧写法可保持原样）",
)
NO_KEEP = Text(en="cannot be written", zh="无法写出")
NO_DEFAULTS = Text(
    en="No default that is known and that this launch relies on changed.",
    zh="此启动所依赖的已知默认值没有变化。",
)
MORE_DEFAULTS = Text(en="{n} more with --all", zh="另有 {n} 项，加 --all 显示")
REFUSED = Text(en="The target would not take", zh="目标版本不会接受")
COMMAND = Text(en="The command", zh="新的命令")
COMPLETE = Text(
    en="Every argument has a counterpart in {target}.", zh="每个参数在 {target} 中都有对应写法。"
)
OPEN = Text(
    en="{n} to decide before it runs on {target}.", zh="有 {n} 处要先决定，才能在 {target} 上运行。"
)
WRITTEN_FOR = Text(en="written for {version}", zh="按 {version} 写的")
DERIVED = Text(
    en="{version}, the versions that take these names (--from says it exactly)",
    zh="{version}，即认得这些参数名的版本（可用 --from 指明）",
)
NOTHING_KNOWN = Text(
    en="taken to be {version}: the names tell no version (--from says it)",
    zh="当作 {version}：从参数名看不出版本（可用 --from 指明）",
)
BY_HAND = Text(en="Change by hand", zh="需手工修改")
WROTE = Text(en="wrote {file}, the old one is {backup}", zh="已写入 {file}，原文件为 {backup}")
NEW_FILE = Text(en="wrote {file}", zh="已写入 {file}")
NO_EDIT = Text(en="nothing to change in the files", zh="文件无需改动")

MOST_DEFAULTS = 12
_LESS = ("saving", "environment", "other")
_CHANGED = frozenset({"renamed", "value", "moved", "replaced"})
_UNANSWERED = frozenset({"missing", "stranger"})
_WIDEST, _DEFAULT_COLUMN = 44, 46


def document(answer: Translation, view: View) -> Document:
    """Lay out every launch."""
    by_hand = tuple(doc.Bullet(text, "•") for text in answer.by_hand)
    return Document(
        children(
            [_launch(item, view, gap=at > 0) for at, item in enumerate(answer.launches)],
            doc.Section(view.say(BY_HAND), by_hand),
            unread_section(answer.unread, view),
        ),
        tool=f"{answer.tool.name} {answer.tool.version}",
        short=True,
    )


def _launch(item: Translated, view: View, *, gap: bool) -> tuple[doc.Node, ...]:
    by_outcome = item.arguments
    refused = (
        doc.Bullet(f"{clean(no.given).strip()}: {no.reason}" if no.given else no.reason, "x")
        for no in item.refused
    )
    return children(
        _head(item, view, gap=gap),
        _group(LOST, [one for one in by_outcome if one.outcome in _UNANSWERED], view, "bad"),
        doc.Section(view.say(REFUSED), tuple(refused)),
        _group(CHANGED, [one for one in by_outcome if one.outcome in _CHANGED], view, "fix"),
        _group(DROPPED, [one for one in by_outcome if one.outcome == "dropped"], view, "dim"),
        _kept([one for one in by_outcome if one.outcome == "kept"], view),
        _defaults(item.defaults, view),
        doc.Section(view.say(COMMAND), (doc.Excerpt(tuple(item.text.split("\n")), "fix"),)),
    )


def _head(item: Translated, view: View, *, gap: bool) -> Iterator[doc.Node]:
    target = f"{item.framework} {item.target}"
    unanswered = sum(one.outcome in _UNANSWERED for one in item.arguments)
    unanswered += len(item.refused)
    said, style = view.say(COMPLETE, target=target), "good"
    if unanswered:
        said, style = view.say(OPEN, n=unanswered, target=target), "bad"
    yield doc.Paragraph(said, style=style, gap=gap)
    how = {"given": WRITTEN_FOR, "derived": DERIVED}.get(item.version_how, NOTHING_KNOWN)
    place = f"{clean(str(item.place))}  {item.framework} {item.command}"
    if item.command_now != item.command:
        place += f" -> {item.command_now}"
    yield doc.Paragraph(f"{place}, {view.say(how, version=item.version)}", style="dim")


def _group(title: Text, items: Sequence[Carried], view: View, style: str) -> doc.Section:
    column = max((cells(clean(one.given)) for one in items if one.now), default=0)
    rows = (
        doc.Renamed(
            clean(one.given), tuple(map(clean, one.now)), one.why, "fix" if one.now else style
        )
        for one in items
    )
    group = doc.Renames(tuple(rows), min(column, _WIDEST), given=True)
    return doc.Section(view.say(title), (group,) if items else ())


def _kept(items: Sequence[Carried], view: View) -> Iterator[doc.Node]:
    if items:
        yield doc.Paragraph(view.say(KEPT, n=len(items)), style="dim", gap=True)
    if items and view.everything:
        yield doc.Excerpt(tuple(f"  {clean(one.given)}" for one in items))


def _defaults(items: Sequence[DefaultChange], view: View) -> doc.Node:
    if not items:
        return doc.Paragraph(view.say(NO_DEFAULTS), style="dim", gap=True)
    ordered = sorted(items, key=lambda one: (one.topic in _LESS, not one.keep))
    shown = view.first(ordered, MOST_DEFAULTS)
    rows = tuple(_default(one, view) for one in shown)
    rest = len(ordered) - len(shown)
    more = doc.Paragraph(view.say(MORE_DEFAULTS, n=rest), style="dim") if rest else None
    return doc.Section(view.say(DEFAULTS), children(doc.Renames(rows, _DEFAULT_COLUMN), more))


def _default(one: DefaultChange, view: View) -> doc.Renamed:
    name = one.name if one.now == one.name else f"{one.name} -> {one.now}"
    said = f"{name}: {_value(one.before)} -> {_value(one.after)}"
    keep = clean(one.keep or f"({view.say(NO_KEEP)})")
    return doc.Renamed(said, (keep,), one.note, "fix" if one.keep else "dim")


def _value(value: Value) -> str:
    if isinstance(value, str):
        return clean(value) or '""'
    return clean(json.dumps(value, ensure_ascii=False).replace("null", "None"))


def written_text(files: Iterable[tuple[str, str | None]], lang: Lang) -> str:
    """Say which files were written, and where the old ones are (None: the file is new)."""
    lines = [
        NEW_FILE.in_(lang).format(file=clean(file))
        if backup is None
        else WROTE.in_(lang).format(file=clean(file), backup=clean(backup))
        for file, backup in files
    ]
    return "\n".join(lines or [NO_EDIT.in_(lang)]) + "\n"
