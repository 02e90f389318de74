"""What a report says, English beside Chinese."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone

from trainrx.fleet.across.groups import By, Group
from trainrx.fleet.across.runs import Axis
from trainrx.fleet.across.suspects import Suspect
from trainrx.fleet.report.summary import FleetReport
from trainrx.model.text import Lang, Text

TITLE = Text(en="Fleet report", zh="集群任务报告")
TOTAL = Text(
    en="{jobs} jobs, {failed} failed, {hours:,.0f} GPU hours lost",
    zh="{jobs} 个任务，{failed} 个失败，损失 {hours:,.0f} GPU 小时",
)
SINCE = Text(en="since {since}, as of {now} UTC", zh="{since} 以来，截至 {now}（UTC）")
AS_OF = Text(en="as of {now} UTC", zh="截至 {now}（UTC）")
TOLD = Text(
    en="people say of {worked} changes that they worked, of {failed} that they did not",
    zh="据反馈，{worked} 处修改有效，{failed} 处无效",
)
SUSPECTS = Text(en="Suspects", zh="可疑对象")
NO_SUSPECT = Text(
    en="no node, card, version or image fails more than chance explains",
    zh="没有节点、显卡、版本或镜像的失败多到不能用偶然解释",
)
AXIS: Mapping[Axis, Text] = {
    "node": Text(en="node", zh="节点"),
    "version": Text(en="version", zh="版本"),
    "image": Text(en="image", zh="镜像"),
    "card": Text(en="card", zh="显卡"),
}
SUSPECT = Text(
    en="{axis} `{name}`: {failed} of {jobs} jobs failed{kind}, elsewhere {other_failed} of "
    "{other_jobs}; by chance {expected:.1f} (p = {p})",
    zh="{axis} `{name}`：{jobs} 个任务中 {failed} 个失败{kind}，其他处 {other_jobs} 个中 "
    "{other_failed} 个；偶然应为 {expected:.1f} 个（p = {p}）",
)
CARD = Text(
    en="{axis} `{name}`: {failed} failures name it, {other_failed} another card of the node; "
    "by chance {expected:.1f} (p = {p})",
    zh="{axis} `{name}`：{failed} 次失败指向它，{other_failed} 次指向该节点的其他显卡；"
    "偶然应为 {expected:.1f} 次（p = {p}）",
)
OF_KIND = Text(en=" by `{kind}`", zh="（`{kind}`）")
TOGETHER = Text(
    en="In the same jobs, so that nothing tells them apart: {names}",
    zh="出现在完全相同的任务中，无法区分：{names}",
)
METHOD = Text(
    en="Exact test of Fisher within the jobs of each user, corrected for all that was tested: "
    "where nothing is to blame, one report in twenty names a suspect.",
    zh="在每个用户的任务内做 Fisher 精确检验，并按全部检验做多重校正："
    "若无异常，约二十份报告中才有一份误报。",
)
BY: Mapping[By, Text] = {
    "cause": Text(en="By cause", zh="按原因"),
    "user": Text(en="By user", zh="按用户"),
    "framework": Text(en="By framework", zh="按框架"),
    "node": Text(en="By node", zh="按节点"),
    "version": Text(en="By version", zh="按版本"),
}
PARAMS = Text(en="By parameter to change", zh="按需修改的参数")
HEADS = (
    Text(en="name", zh="名称"),
    Text(en="jobs", zh="任务"),
    Text(en="failed", zh="失败"),
    Text(en="distinct", zh="不重复"),
    Text(en="GPU h lost", zh="损失 GPU 时"),
    Text(en="most often", zh="最常见"),
)
MORE = Text(
    en="{count} more: `--format html` or `json` has all",
    zh="另有 {count} 项：`--format html` 或 `json` 列出全部",
)
SOLVED = Text(en="solved {count} x by {param}", zh="{count} 次靠 {param} 解决")
HOURS = Text(en="GPU hours lost", zh="损失的 GPU 小时")


def total(report: FleetReport, lang: Lang) -> str:
    """Say how many jobs there were, and what failures cost."""
    return TOTAL.in_(lang).format(jobs=report.jobs, failed=report.failed, hours=report.gpu_hours)


def period(report: FleetReport, lang: Lang) -> str:
    """Say of which time the report is."""
    now = day(report.now)
    if report.since is None:
        return AS_OF.in_(lang).format(now=now)
    return SINCE.in_(lang).format(since=day(report.since), now=now)


def day(at: float) -> str:
    """Write a time to the minute, in UTC."""
    return datetime.fromtimestamp(at, tz=timezone.utc).strftime("%Y-%m-%d %H:%M")


def told(report: FleetReport, lang: Lang) -> str:
    """Say what people told of changes; "" where they told nothing."""
    counts = {name: report.told.get(name, 0) for name in ("worked", "failed")}
    return TOLD.in_(lang).format(**counts) if any(counts.values()) else ""


def suspicion(one: Suspect, lang: Lang) -> str:
    """Say whom something speaks against, with the counts and how likely chance is."""
    kind = OF_KIND.in_(lang).format(kind=one.kind) if one.kind else ""
    return (
        (CARD if one.axis == "card" else SUSPECT)
        .in_(lang)
        .format(
            axis=AXIS[one.axis].in_(lang),
            name=one.name,
            kind=kind,
            jobs=one.jobs,
            failed=one.failed,
            other_jobs=one.other_jobs,
            other_failed=one.other_failed,
            expected=one.expected,
            p=f"{one.corrected:.2g}",
        )
    )


def cells_of(group: Group, *, named: bool, lang: Lang) -> tuple[str, ...]:
    """Give a row of a table, as `HEADS` says; `named`: its name is a cause already."""
    hours = f"{group.gpu_hours:,.1f}" + ("+" if group.uncounted else "")
    counts = (str(group.jobs), str(group.failed), str(group.distinct), hours)
    return (group.name, *counts, "; ".join(_most_often(group, lang, named=named)))


def _most_often(group: Group, lang: Lang, *, named: bool) -> Iterator[str]:
    if not named:
        yield from (f"{cause} ({count})" for cause, count in group.causes[:2])
    for param, count in group.solved[:1]:
        yield SOLVED.in_(lang).format(count=count, param=param)
