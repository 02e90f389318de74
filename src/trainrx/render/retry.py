"""Whether to restart, on a terminal, as Markdown and for programs.

`python -m trainrx.render.retry` writes the schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from trainrx.model.retry import RetryAnswer, RetryVerdict
from trainrx.model.text import Lang, Text
from trainrx.render.cause import percent
from trainrx.render.document import View
from trainrx.render.fixes import fix_lines
from trainrx.render.head import job_text
from trainrx.render.layout import Line, StyledText, cells, clean, pad
from trainrx.render.markdown import code, fence, guard
from trainrx.render.markdown import prose as md_prose
from trainrx.render.page import prose, quotes, to_copy
from trainrx.render.schema import tidy
from trainrx.render.words import CAUSE, COLON, FIX, JOB, LIKELY, PAREN, RANKS, SEEN, WRITTEN_BY

PATH = Path(__file__).with_name("retry.schema.json")
VERDICT: dict[RetryVerdict, Text] = {
    "transient": Text(en="A RESTART MAY HELP", zh="可以重启"),
    "deterministic": Text(en="DO NOT RESTART AS IT IS", zh="不改不要重启"),
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
    "transient": Text(en="transient", zh="偶发"),
    "deterministic": Text(en="deterministic", zh="必现"),
    "bad-node": Text(en="bad node", zh="坏节点"),
    "unknown": Text(en="unknown", zh="未知"),
}
WHY = Text(en="Why", zh="理由")
BEFORE = Text(en="First", zh="先做")
STATUS = Text(en="exit status {n}", zh="退出码 {n}")
LABELS = (WHY, CAUSE, BEFORE, FIX, SEEN, JOB)


def retry_page(answer: RetryAnswer, view: View) -> list[Line]:
    """Lay the answer out: verdict, reason, cause, what to do first."""
    lang = view.lang
    verdict = StyledText(VERDICT[answer.verdict].in_(lang), STYLE_OF[answer.verdict])
    status = STATUS.in_(lang).format(n=answer.exit_code)
    known = answer.verdict != "unknown"
    told = f"  {KIND[answer.verdict].in_(lang)} · {status}" if known else f"  {status}"
    lines: list[Line] = [(verdict, StyledText(told, "dim"))]
    lines += _labelled(view, WHY, answer.reason)
    lines += _labelled(view, CAUSE, _cause(answer, lang))
    lines += _labelled(view, BEFORE, answer.before)
    if answer.fix is not None:
        lines += _fix(answer, view)
    lines += _labelled(view, SEEN, _ranks(answer, lang))
    lines += quotes(view, answer.evidence, 2, set())
    lines += _labelled(view, JOB, job_text(answer.job, lang))
    return lines


def to_markdown(answer: RetryAnswer, lang: Lang) -> str:
    """Give the answer as Markdown; texts of the job are neutralised."""
    colon = COLON.in_(lang)
    lines = [
        f"**{VERDICT[answer.verdict].in_(lang)}**{PAREN.in_(lang).format(KIND[answer.verdict].in_(lang))}",
        "",
        md_prose(answer.reason),
    ]
    for label, text in ((CAUSE, _cause(answer, lang)), (BEFORE, answer.before)):
        if text:
            lines += ["", f"{label.in_(lang)}{colon}{md_prose(text)}"]
    copied = [line.text for line in fix_lines(answer.fix, lang)] if answer.fix is not None else []
    if copied:
        lines += ["", f"{FIX.in_(lang)}{colon}", *fence([guard(line) for line in copied], "bash")]
    for origin in answer.evidence:
        lines += ["", code(guard(str(origin)))]
        lines += fence([guard(origin.text.strip())], "text") if origin.text.strip() else []
    tool = f"{answer.tool.name} {answer.tool.version}"
    return "\n".join([*lines, "", f"_{WRITTEN_BY.in_(lang).format(tool=tool)}_"]) + "\n"


def as_json(answer: RetryAnswer) -> str:
    """Give the answer as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n"


def schema_text() -> str:
    """Give the schema as it is committed."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(RetryAnswer),
    }
    return msgspec.json.format(msgspec.json.encode(tidy(schema)), indent=2).decode() + "\n"


def _cause(answer: RetryAnswer, lang: Lang) -> str:
    cause = answer.cause
    if cause is None:
        return ""
    sure = f"{LIKELY[cause.verdict].in_(lang)} {percent(cause.probability)}"
    return cause.title + PAREN.in_(lang).format(sure)


def _ranks(answer: RetryAnswer, lang: Lang) -> str:
    shown = ", ".join(str(rank) for rank in answer.ranks[:8])
    more = ", ..." if len(answer.ranks) > 8 else ""
    return f"{RANKS.in_(lang)} {shown}{more}" if shown else ""


def _fix(answer: RetryAnswer, view: View) -> Iterator[Line]:
    lines = fix_lines(answer.fix, view.lang) if answer.fix is not None else ()
    if not lines:
        yield from _labelled(view, FIX, answer.fix.title if answer.fix is not None else "")
        return
    lead = _lead(FIX, view)
    for index, line in enumerate(to_copy(view, lines, cells(lead))):
        yield (StyledText(lead, "head"), *line[1:]) if index == 0 else line


def _lead(label: Text, view: View) -> str:
    return pad(label.in_(view.lang), max(cells(item.in_(view.lang)) for item in LABELS)) + "  "


def _labelled(view: View, label: Text, text: str) -> Iterator[Line]:
    if text:
        yield from prose(view, clean(text), lead=StyledText(_lead(label, view), "head"))


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
