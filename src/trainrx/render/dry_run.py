"""A dry run as a document: how far it came, what it died of, what of the data did not arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.model.dry_run import ColumnUse, DataLoss, DryRunAnswer, DryRunKind, DryRunVerdict
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import Document, View, children
from trainrx.render.screen import page

VERDICT: Mapping[DryRunVerdict, Text] = {
    "stops": Text(en="STOPS", zh="会中断"),
    "loses": Text(en="RUNS, BUT NOT ON ALL OF THE DATA", zh="能运行，但有数据没有用上"),
    "runs": Text(en="RUNS", zh="能运行"),
    "unfinished": Text(en="NOT KNOWN", zh="无法判断"),
}
STYLE_OF: Mapping[DryRunVerdict, str] = {
    "stops": "bad",
    "loses": "doubt",
    "runs": "good",
    "unfinished": "doubt",
}
REACHED: Mapping[str, Text] = {
    "started": Text(en="before it loaded data", zh="加载数据之前"),
    "loaded": Text(en="while preparing the data", zh="预处理数据时"),
    "prepared": Text(en="while making batches", zh="组 batch 时"),
    "batches": Text(en="after all batches were made", zh="组完所有 batch 之后"),
    "steps": Text(en="in the first steps", zh="最初几个 step 中"),
}
MADE = Text(en="all batches were made", zh="所有 batch 都能组成")
STEPPED = Text(en="batches and first steps", zh="batch 和最初几个 step 都正常")
KIND: Mapping[DryRunKind, Text] = {
    "stopped-at-row": Text(en="the error comes from {where}", zh="错误来自{where}"),
    "row-lost": Text(
        en="{where}: nothing of its own reaches the model (“{shown}”)",
        zh="{where}：该行特有的内容没有进入模型（“{shown}”）",
    ),
    "text-lost": Text(
        en="{column}, {where}: does not reach the model, as it does in other rows (“{shown}”)",
        zh="{column}，{where}：没有进入模型，其他行则会进入（“{shown}”）",
    ),
    "text-cut": Text(
        en="{column}, {where}: cut, its end does not reach the model",
        zh="{column}，{where}：被截断，结尾没有进入模型",
    ),
    "not-learnt": Text(
        en="{column}, {where}: the last such text is read, but not learnt from (“{shown}”)",
        zh="{column}，{where}：最后一条此类文本会被读入，但不参与训练（“{shown}”）",
    ),
    "nothing-learnt": Text(
        en="{where}: no token is learnt from, all labels are masked (“{shown}”)",
        zh="{where}：没有任何 token 参与训练，label 全部被屏蔽（“{shown}”）",
    ),
    "column-lost": Text(
        en="{column}, {where}: no text of this column reaches the model (“{shown}”)",
        zh="{column}，{where}：该列没有任何文本进入模型（“{shown}”）",
    ),
    "odd-value": Text(
        en="{column}, {where}: {odd} where most rows have {usual}; look there first",
        zh="{column}，{where}：此处为 {odd}，多数行为 {usual}；请先查看这里",
    ),
    "rows-fewer": Text(
        en="{count} of {of} rows are not trained on; which ones was not seen",
        zh="{of} 行中有 {count} 行没有参与训练；未能看出是哪些行",
    ),
}
ROW = Text(en="row {rows} of {file}", zh="{file} 第 {rows} 行")
ROWS = Text(en="{count} rows of {file} ({rows}{more})", zh="{file} 的 {count} 行（{rows}{more}）")
ROW_OF = Text(en="row {row} (line {line})", zh="第 {row} 条（文件第 {line} 行）")
LINT = Text(en="Lint", zh="检查")
TELLS = ("diagnosed",)
"""Where nothing is sure the error itself says more than a suspicion."""
ERROR = Text(en="Error", zh="错误")
DATA = Text(en="Data", zh="数据")
USED = Text(en="Used", zh="用到")
SAID = Text(en="Printed", zh="输出")
UNUSED = Text(en="Not read", zh="未读入")
RAN = Text(en="Ran", zh="运行")
WITHOUT = Text(en="Without", zh="未包含")
NOTE = Text(en="Note", zh="说明")
IN_ALL = Text(
    en="{taken} of {rows} rows, {seconds:.0f} s on the CPU",
    zh="{rows} 行中的 {taken} 行，CPU 上 {seconds:.0f} 秒",
)
LEARNT = Text(en="{column} (read and learnt from)", zh="{column}（读入并参与训练）")
READ = Text(en="{column} (read)", zh="{column}（读入）")
NO_TRAINER = Text(
    en="it ended without starting transformers' Trainer, so nothing is known of its data",
    zh="任务没有启动 transformers 的 Trainer 就结束了，因此无法判断数据",
)
TIME_UP = Text(en="time was up; allow more with --timeout", zh="时间用完；可用 --timeout 延长")
LABELS = (ERROR, DATA, SAID, LINT, USED, UNUSED, RAN, WITHOUT, NOTE)


def document(answer: DryRunAnswer, view: View) -> Document:
    """Lay the answer out."""
    nodes = children(_parts(answer, view))
    held = tuple(view.say(label) for label in LABELS)
    return Document(
        nodes, (*held, *page.labels(nodes)), f"{answer.tool.name} {answer.tool.version}", short=True
    )


def _parts(answer: DryRunAnswer, view: View) -> Iterator[doc.Node]:
    word, style = view.say(VERDICT[answer.verdict]), STYLE_OF[answer.verdict]
    yield doc.Headline(word, style, _claim(answer, view), claim_style="dim")
    if answer.error:
        yield doc.Labelled(view.say(ERROR), (answer.error,), most=3)
    losses = tuple(doc.Bullet(_loss(item, view)) for item in answer.losses)
    if losses:
        yield doc.Labelled(view.say(DATA), children=losses)
    if answer.said:
        yield doc.Labelled(view.say(SAID), answer.said, most=2)
    linted = tuple(doc.Bullet(item.message) for item in answer.findings)
    if linted:
        yield doc.Labelled(view.say(LINT), children=linted)
    if answer.diagnosis is not None and answer.diagnosis.verdict in TELLS:
        head = page.head(answer.diagnosis, view)
        yield from (node for node in head if not isinstance(node, doc.Headline))
    yield from _listed(USED, _used(answer.uses, view), view)
    unread = (item.column for item in answer.uses if not item.read)
    yield from _listed(UNUSED, ", ".join(dict.fromkeys(unread)), view)
    ran = view.say(IN_ALL, taken=answer.taken, rows=answer.rows, seconds=answer.seconds)
    named = " ".join(part for part in (answer.framework, answer.release) if part)
    yield doc.Labelled(view.say(RAN), (f"{named}: {ran}",))
    yield from _listed(WITHOUT, ", ".join(answer.left_out), view)
    yield from _listed(NOTE, "; ".join(answer.notes), view)


def _claim(answer: DryRunAnswer, view: View) -> str:
    if answer.verdict == "stops":
        return view.say(REACHED[answer.reached])
    if answer.verdict == "unfinished":
        return view.say(TIME_UP if answer.time_up else NO_TRAINER)
    return view.say(STEPPED if answer.reached == "steps" else MADE)


def _loss(item: DataLoss, view: View) -> str:
    odd, _, usual = item.shown.partition(" / ")
    return view.say(
        KIND[item.kind],
        odd=odd,
        usual=usual,
        where=_where(item, view),
        column=item.column,
        shown=item.shown,
        count=item.count,
        of=item.of,
    )


def _where(item: DataLoss, view: View) -> str:
    lines = item.lines if len(item.lines) == len(item.rows) else ()
    if len(item.rows) == 1 and lines and lines != item.rows:
        return f"{item.file}: {view.say(ROW_OF, row=item.rows[0], line=lines[0])}"
    rows = view.say(words.LISTED).join(str(row) for row in item.rows)
    if item.count == 1:
        return view.say(ROW, rows=rows, file=item.file)
    more = ", ..." if item.count > len(item.rows) else ""
    return view.say(ROWS, count=item.count, rows=rows, more=more, file=item.file)


def _used(uses: tuple[ColumnUse, ...], view: View) -> str:
    said: dict[str, None] = {}
    for item in uses:
        if item.read:
            said[view.say(LEARNT if item.learnt else READ, column=item.column)] = None
    return ", ".join(said)


def _listed(label: Text, text: str, view: View) -> Iterator[doc.Node]:
    if text:
        yield doc.Labelled(view.say(label), (text,))
