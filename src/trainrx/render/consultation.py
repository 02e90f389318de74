"""A consultation as documents: a question, what its answer changed, how to answer without it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from trainrx.launch.replies import WHOLE
from trainrx.launch.request import Reply
from trainrx.model.result import Ask, CauseOut, Diagnosis, DifferentialItem
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render import words
from trainrx.render.cause import percent
from trainrx.render.document import CopyLine, Document, View, children
from trainrx.render.screen.verdict import STYLE_OF
from trainrx.sanitizer.redactor import Redactor

QUESTION = Text(en="Question {n}", zh="问题 {n}")
OF_AT_MOST = Text(en="of at most {most}", zh="最多 {most} 个")
RUN = Text(en="Run", zh="运行")
HOW = Text(en="How", zh="方法")
READING = Text(en="It says", zh="如何解读")
ANSWER = Text(en="Answer", zh="回答")
_LABELS = (RUN, HOW, READING, ANSWER)
REST = Text(en="Enter: not known · q: no more questions", zh="回车：不知道 · q：不再提问")
YES_NO = Text(en="y or n", zh="y（是）或 n（否）")
VALUE = Text(en="the value", zh="数值或名称")
INPUT = Text(
    en="paste it and end with an empty line, or @FILE",
    zh="粘贴内容并以空行结束，或输入 @文件名",
)
OUTPUT = Text(
    en="y or n; or paste the output and end with an empty line, or @FILE",
    zh="y（是）或 n（否）；也可粘贴输出并以空行结束，或输入 @文件名",
)
NUMBER = Text(
    en="the number, 1 to {n}; or paste the output and end with an empty line, or @FILE",
    zh="编号 1 到 {n}；也可粘贴输出并以空行结束，或输入 @文件名",
)
CERTAIN = Text(
    en="Nothing is asked: the first cause is likely.", zh="无需提问：首要原因已很可能成立。"
)
NONE_OPEN = Text(en="Nothing is asked: no question is open.", zh="无需提问：没有待回答的问题。")
SAME = Text(en="as before", zh="不变")
BEFORE = Text(en="before: {what}", zh="之前：{what}")
AGAIN = Text(
    en="The same answer without questions, with these options added:",
    zh="加上以下选项即可直接得到同样的结果，无需再答：",
)
SAVED = Text(en="save the {n} lines you pasted there", zh="把粘贴的 {n} 行存入此文件")


def question(ask: Ask, number: int, most: int, view: View) -> Document:
    """Lay a question out, with its command and what may be answered."""
    title = view.say(QUESTION, n=number) + view.paren(view.say(OF_AT_MOST, most=most))
    command = (CopyLine(ask.command),) if ask.command else ()
    how = (ask.how,) if ask.how and ask.how != ask.command else ()
    numbered = tuple(f"{at}. {text}" for at, text in enumerate(ask.reading, start=1))
    reading = numbered if has_choices(ask) else ask.reading
    return Document(
        children(
            doc.Headline(title, "head", ask.what),
            doc.Labelled(view.say(RUN), lines=command) if command else None,
            doc.Labelled(view.say(HOW), how) if how else None,
            doc.Labelled(view.say(READING), reading) if reading else None,
            doc.Labelled(view.say(ANSWER), (_expected(ask, view), view.say(REST))),
        ),
        tuple(view.say(label) for label in _LABELS),
    )


def has_choices(ask: Ask) -> bool:
    """Tell whether an answer can be the number of a line of its reading."""
    return bool(ask.reading) and len(ask.values) == len(ask.reading)


def _expected(ask: Ask, view: View) -> str:
    """Say what may be typed."""
    if ask.answer == "output" and has_choices(ask):
        return view.say(NUMBER, n=len(ask.values))
    if ask.answer == "output":
        return view.say(INPUT if ask.id in WHOLE else OUTPUT)
    values = view.paren(view.say(words.LISTED).join(ask.values)) if ask.answer == "value" else ""
    return view.say(YES_NO if ask.answer == "yes_no" else VALUE) + values


def nothing_to_ask(answer: Diagnosis, view: View) -> Document:
    """Say why no question is put."""
    return Document((doc.Paragraph(view.say(CERTAIN if answer.asks else NONE_OPEN)),))


def changed(before: Diagnosis, after: Diagnosis, view: View) -> Document:
    """Say what is concluded now, and what was before."""
    now, then = _claim(after), _claim(before)
    word, was = (view.say(words.VERDICT[item.verdict]) for item in (after, before))
    same = (word, now) == (was, then)
    aside = view.say(SAME) if same else view.say(BEFORE, what=f"{was} {then}".strip())
    head = doc.Headline(word, STYLE_OF[after.verdict], now)
    return Document((head, doc.Paragraph(aside, style="dim", indent=2)))


def _claim(answer: Diagnosis) -> str:
    """Name what stands in front, and how probable it is."""
    named = answer.differential if answer.verdict == "unknown" else answer.causes
    front: CauseOut | DifferentialItem | None = named[0] if named else None
    if front is None or answer.verdict == "healthy":
        return ""
    return f"{front.title} {percent(front.probability)}"


def options(replies: Sequence[Reply], view: View) -> Document:
    """Give the options that answer the questions again."""
    lines = tuple(_option(reply, view) for reply in replies)
    return Document((doc.Paragraph(view.say(AGAIN), gap=True), doc.Code(lines)))


def _option(reply: Reply, view: View) -> CopyLine:
    pasted = reply.path is None and reply.lines > 1
    remark = view.say(SAVED, n=reply.lines) if pasted else ""
    spelled = Redactor(view.redaction).text(reply.spelled)
    return CopyLine(f"--answer {shlex.quote(spelled)}", remark)
