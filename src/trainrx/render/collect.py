"""What was taken of a live job, as a document: the bundle, its items, what is missing and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from trainrx.model.bundle import (
    REASONS,
    RIGHTS,
    BundleGap,
    BundleItem,
    BundleManifest,
    CollectReport,
    ItemKind,
)
from trainrx.model.ranks import ranges
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import Document, View, children
from trainrx.sanitizer.controls import clean

TAKEN = Text(en="COLLECTED", zh="已采集")
NOTHING = Text(en="NOTHING COULD BE TAKEN", zh="什么都没采集到")
ITEMS = Text(en="{n} items in {seconds:.1f} s", zh="{n} 项，用时 {seconds:.1f} 秒")
SIZE = Text(en="{name} ({size})", zh="{name}（{size}）")
FOUND = Text(en="Taken", zh="采集")
LACKS = Text(en="Missing", zh="缺少")
GRANT = Text(en="to have it: {right}", zh="要采集它：{right}")
OF_WORLD = Text(en="{ranks} of {world}", zh="{ranks}，共 {world} 个")
HOSTS = Text(en="{n} machines", zh="{n} 台机器")
OTHERS = Text(en="other processes: {n}", zh="另有 {n} 个进程")
ALL = Text(en="processes: {n}", zh="{n} 个进程")
ROUNDS = Text(en="{n} rounds", zh="{n} 轮")
MOST_GAPS = 6
KINDS: Mapping[ItemKind, Text] = {
    "stacks": Text(en="stacks", zh="调用栈"),
    "usage": Text(en="processor time", zh="CPU 时间"),
    "recorder": Text(en="flight recorder", zh="flight recorder"),
    "ras": Text(en="NCCL RAS", zh="NCCL RAS"),
    "gpu": Text(en="GPUs", zh="GPU"),
    "kernel": Text(en="kernel log", zh="内核日志"),
    "memory": Text(en="memory", zh="内存"),
    "disk": Text(en="disks", zh="磁盘"),
    "limits": Text(en="limits", zh="资源限制"),
    "versions": Text(en="versions", zh="版本"),
    "environment": Text(en="variables", zh="环境变量"),
    "command": Text(en="command line", zh="命令行"),
    "script": Text(en="script", zh="脚本"),
    "config": Text(en="configuration", zh="配置"),
    "log": Text(en="log", zh="日志"),
}


def document(report: CollectReport, view: View) -> Document:
    """Lay a report out."""
    manifest = report.manifest
    claim = view.say(ITEMS, n=len(manifest.items), seconds=report.seconds)
    word = view.say(TAKEN if manifest.items else NOTHING)
    parts = (
        doc.Headline(word, "good" if manifest.items else "bad", claim, claim_style="dim"),
        doc.Labelled(view.say(words.JOB), (_job(manifest, view),)),
        doc.Labelled(view.say(FOUND), (_items(manifest.items, view),)),
        *_gaps(manifest.gaps, view),
        _file(report, view),
    )
    labels = tuple(view.say(label) for label in (words.JOB, FOUND, LACKS, words.BUNDLE))
    return Document(children(*parts), labels, short=True)


def _file(report: CollectReport, view: View) -> doc.Node | None:
    if not report.path:
        return None
    said = view.say(SIZE, name=clean(report.path), size=_size(report.size))
    return doc.Labelled(view.say(words.BUNDLE), (said,))


def _size(count: int) -> str:
    return f"{count / 1024:.0f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"


def _job(manifest: BundleManifest, view: View) -> str:
    """Say which ranks there are, and on how many machines."""
    ranks = [one for one in manifest.processes if one.role == "rank"]
    known = [one.rank for one in ranks if one.rank is not None]
    world = next((one.world_size for one in ranks if one.world_size), None)
    said = _ranks(known, view)
    if world and known:
        said = view.say(OF_WORLD, ranks=said, world=world)
    hosts = {one.host for one in manifest.processes}
    others = len(manifest.processes) - len(known)
    where = view.say(HOSTS, n=len(hosts)) if len(hosts) > 1 else clean(next(iter(hosts), ""))
    more = view.say(OTHERS if known else ALL, n=others) if others else ""
    return view.say(words.LISTED).join(part for part in (said, where, more) if part)


def _ranks(known: Sequence[int], view: View) -> str:
    if not known:
        return ""
    return f"{view.say(words.SEVERAL_RANKS if known[1:] else words.RANKS)} {ranges(known)}"


def _items(items: Sequence[BundleItem], view: View) -> str:
    """Count what was taken by kind."""
    counts = Counter(item.kind for item in items)
    rounds = max((item.round or 1 for item in items), default=1)
    said = (
        f"{view.say(KINDS[kind])}{_times(kind, number, rounds, view)}"
        for kind, number in counts.items()
    )
    return view.say(words.LISTED).join(said) or "-"


def _times(kind: ItemKind, number: int, rounds: int, view: View) -> str:
    if kind != "stacks":
        return f" ×{number}" if number > 1 else ""
    return f" ×{number}" + (view.paren(view.say(ROUNDS, n=rounds)) if rounds > 1 else "")


def _gaps(gaps: Sequence[BundleGap], view: View) -> Iterator[doc.Node]:
    """Say what is missing: alike for several ranks once, with the right that it takes."""
    groups: dict[tuple[str, ...], list[BundleGap]] = {}
    for gap in gaps:
        key = (gap.kind, gap.reason, gap.right or "", gap.name, gap.detail)
        groups.setdefault(key, []).append(gap)
    shown = view.first([*groups.values()], MOST_GAPS)
    texts = tuple(text for group in shown for text in _gap(group, view))
    if texts:
        yield doc.Labelled(view.say(LACKS), texts)


def _gap(group: Sequence[BundleGap], view: View) -> Iterator[str]:
    first = group[0]
    known = sorted({gap.rank for gap in group if gap.rank is not None})
    named = clean(first.name) if first.name else view.say(KINDS[first.kind])
    hosts = {gap.host for gap in group if gap.host}
    who = _ranks(known, view) or (next(iter(hosts)) if len(hosts) == 1 else "")
    why = view.say(REASONS[first.reason]) + view.paren(clean(first.detail))
    yield view.labelled_text(named + view.paren(clean(who)), why)
    if first.right is not None:
        yield view.say(GRANT, right=view.say(RIGHTS[first.right]))
