"""What was given, in words: the job, and what of the inputs could not be used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.inspection import ConfigUsed
from trainrx.model.job import InputKind, RepairKind
from trainrx.model.result import InputRead, JobSummary
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.document import View
from trainrx.sanitizer.controls import clean

MOST_SPANS = 6
"""Stretches of lines of one input that are listed."""
KINDS: Mapping[InputKind, Text] = {
    "script": Text(en="launch", zh="启动命令"),
    "argv": Text(en="words of the program", zh="程序参数"),
    "config": Text(en="configuration", zh="配置"),
    "env": Text(en="variables", zh="环境变量"),
    "versions": Text(en="versions", zh="版本列表"),
    "log": Text(en="log", zh="日志"),
    "args": Text(en="resolved arguments", zh="生效参数"),
    "metrics": Text(en="metrics", zh="训练指标"),
    "note": Text(en="what was said", zh="文字描述"),
    "output": Text(en="answer to a question", zh="问题的回答"),
    "evidence": Text(en="evidence", zh="现场证据"),
    "other": Text(en="nothing that is read", zh="未识别"),
}
REPAIRS: Mapping[RepairKind, Text] = {
    "signs": Text(
        en="typographic signs were read as the plain ones a shell knows",
        zh="排版符号按 shell 所用的普通符号读取",
    ),
    "spaces": Text(
        en="spaces that a shell takes for letters were read as plain ones",
        zh="特殊空格按普通空格读取",
    ),
    "entities": Text(
        en="signs written for a web page (&amp;, &lt;) were read as themselves",
        zh="网页转义字符（&amp;、&lt;）按原字符读取",
    ),
    "continuation": Text(
        en="the sign that the command goes on was lost: it was read as if it stood here",
        zh="续行符丢失：按其存在读取",
    ),
    "margin": Text(
        en="a line that was broken at a margin was read as one",
        zh="被折断的行按一行读取",
    ),
    "diff": Text(
        en="of a diff the side that is applied was read",
        zh="diff 只读取修改后的内容",
    ),
}
CONFIG = Text(en="Config", zh="配置文件")
NOT_AT_HAND = Text(en="not at hand", zh="不在手边")
GUESS = Text(en="by its name: a guess", zh="按名称找到，仅为猜测")
AND_MORE = Text(en=" and {n} more", zh="，另有 {n} 个")
MAX_CONFIGS = 4


def configs_text(configs: Sequence[ConfigUsed], view: View) -> str:
    """Name the configuration files of a launch, and where each was found if not under its name."""
    shown = view.say(words.LISTED).join(
        clean(item.found or item.name) + _as_found(item, view)
        for item in configs[: None if view.everything else MAX_CONFIGS]
    )
    rest = 0 if view.everything else max(len(configs) - MAX_CONFIGS, 0)
    return shown + (view.say(AND_MORE, n=rest) if rest else "")


def _as_found(item: ConfigUsed, view: View) -> str:
    if not item.found:
        return view.paren(view.say(NOT_AT_HAND))
    return view.paren(view.say(GUESS)) if item.guess else ""


def job_text(job: JobSummary, view: View, *, short: bool = False) -> str:
    """Say in one line what is known of the job.

    `short`: no owner of the model, no single node, and the model last, where a line is cut.
    """
    framework = " ".join(part for part in (job.framework, job.framework_version) if part)
    cards = (f"{job.gpus} x {job.gpu}" if job.gpu else f"{job.gpus} GPU") if job.gpus else job.gpu
    nodes = ""
    if job.nodes is not None and not (short and job.nodes == 1):
        nodes = view.say(words.ONE_NODE if job.nodes == 1 else words.NODES, n=job.nodes)
    model = (job.model or "").rstrip("/").rpartition("/")[2] if short else job.model
    where = (cards, nodes)
    parts = (framework, job.task, *where, model) if short else (framework, job.task, model, *where)
    return clean(" · ".join(part for part in parts if part))


def unread_at(source: str, line: int | None) -> str:
    """Name the place of something that could not be used."""
    return source if line is None else f"{source}:{line}"


def unread_section(unread: Sequence[Unread], view: View, *, quoted: bool = False) -> doc.Section:
    """List what could not be used, with the lines it stands on where they are `quoted`."""
    items = [
        doc.Bullet(
            view.message(item.reason),
            at=(at := unread_at(item.source, item.line)),
            joint=view.say(words.COLON),
            evidence=(Origin(source=at, text=item.text),) if item.text and quoted else (),
        )
        for item in unread
    ]
    return doc.Section(view.say(words.UNREAD), tuple(items))


def inputs_section(inputs: Sequence[InputRead], view: View) -> doc.Section:
    """List what was read as what, with what had to be repaired first."""
    items = [
        doc.Bullet(
            f"{view.say(KINDS[item.kind])}  {clean(item.text)}".rstrip(),
            at=_place(item),
            joint="  ",
            children=tuple(map(doc.Paragraph, _repairs(item, view))),
        )
        for item in inputs
    ]
    return doc.Section(view.say(words.INPUTS), tuple(items))


def _place(item: InputRead) -> str:
    """Name the lines at which an input stands: `post.md:3-9,14`."""
    spans = _joined(item.spans)
    named = ",".join(f"{one}" if one == two else f"{one}-{two}" for one, two in spans[:MOST_SPANS])
    more = ",..." if len(spans) > MOST_SPANS else ""
    return f"{item.source}:{named}{more}" if spans else item.source


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Give stretches of lines in order, those that follow each other as one."""
    out: list[tuple[int, int]] = []
    for one, two in sorted(spans):
        if out and one <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], two))
        else:
            out.append((one, two))
    return out


def _repairs(item: InputRead, view: View) -> Iterator[str]:
    """Say what was repaired, each kind once with its lines."""
    for what, found in groupby(
        sorted(item.repairs, key=lambda one: one.what), lambda one: one.what
    ):
        lines = _place(
            InputRead(
                kind=item.kind,
                source=item.source,
                spans=tuple((one.line, one.line) for one in found),
            )
        )
        yield view.labelled_text(lines, view.say(REPAIRS[what]))
