"""Whether to restart, as a document: verdict, reason, cause, what to do first."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.model.fixing import RetryAnswer, RetryVerdict
from trainrx.model.text import Text
from trainrx.render import document as doc
from trainrx.render.cause import fix_lines, ranks_text, sure
from trainrx.render.document import Document, View, children
from trainrx.render.inputs import job_text
from trainrx.render.words import CAUSE, FIX, JOB, SEEN

VERDICT: dict[RetryVerdict, Text] = {
    "transient": Text(en="A RESTART MAY HELP", zh="重启可能有用"),
    "deterministic": Text(en="DO NOT RESTART AS IT IS", zh="不修改就不要重启"),
    "bad-node": Text(en="RESTART WITHOUT THIS NODE", zh="排除该节点后重启"),
    "unknown": Text(en="UNKNOWN", zh="无法判断"),
}
STYLE_OF: dict[RetryVerdict, str] = {
    "transient": "good",
    "deterministic": "bad",
    "bad-node": "bad",
    "unknown": "doubt",
}
KIND: dict[RetryVerdict, Text] = {
    "transient": Text(en="transient", zh="暂时性故障"),
    "deterministic": Text(en="deterministic", zh="必现故障"),
    "bad-node": Text(en="bad node", zh="节点故障"),
    "unknown": Text(en="unknown", zh="未知"),
}
WHY = Text(en="Why", zh="理由")
BEFORE = Text(en="First", zh="先做")
STATUS = Text(en="exit status {n}", zh="退出码 {n}")
LABELS = (WHY, CAUSE, BEFORE, FIX, SEEN, JOB)


def document(answer: RetryAnswer, view: View) -> Document:
    """Lay the answer out."""
    return Document(
        children(_parts(answer, view)),
        tuple(view.say(label) for label in LABELS),
        f"{answer.tool.name} {answer.tool.version}",
        short=True,
    )


def _parts(answer: RetryAnswer, view: View) -> Iterator[doc.Node]:
    word, style = view.say(VERDICT[answer.verdict]), STYLE_OF[answer.verdict]
    kind, status = view.say(KIND[answer.verdict]), view.say(STATUS, n=answer.exit_code)
    if view.post:
        yield doc.Headline(word, style, aside=kind)
        yield doc.Paragraph(answer.reason)
    else:
        claim = status if answer.verdict == "unknown" else f"{kind} · {status}"
        yield doc.Headline(word, style, claim, claim_style="dim")
        yield from _labelled(WHY, answer.reason, view)
    cause = answer.cause
    named = "" if cause is None else cause.title + view.paren(sure(cause, view))
    yield from _labelled(CAUSE, named, view)
    yield from _labelled(BEFORE, answer.before, view)
    if answer.fix is not None:
        lines = fix_lines(answer.fix, view)
        texts = () if lines else (answer.fix.title,)
        yield doc.Labelled(view.say(FIX), texts, lines)
    if not view.post:
        yield from _labelled(SEEN, ranks_text(answer.ranks, view), view)
    yield doc.Quote(answer.evidence)
    if not view.post:
        yield from _labelled(JOB, job_text(answer.job, view), view)


def _labelled(label: Text, text: str, view: View) -> Iterator[doc.Node]:
    if text:
        yield doc.Labelled(view.say(label), (text,))
