"""JSON: the record of an answer as it is; run as a module, it writes the schemas."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path

import msgspec

from trainrx.model.lint import LintReport
from trainrx.render import ANSWERS
from trainrx.render.document import View
from trainrx.render.formats import Format
from trainrx.render.redact import sound
from trainrx.sanitizer import media

FOLDER = Path(__file__).parents[1]


def write(answer: msgspec.Struct, _view: View | None = None) -> str:
    """Give an answer as indented JSON; bytes that are no UTF-8 become question marks."""
    if isinstance(answer, LintReport):
        from trainrx.render.lint import published

        answer = published(answer)
    try:
        data = msgspec.json.encode(answer)
    except UnicodeEncodeError:
        data = msgspec.json.encode(sound(answer))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def schemas() -> dict[str, str]:
    """Give the schemas as they are committed, by the names of their files."""
    # to write an answer takes none of the other records
    from trainrx.collect.state import WatchState
    from trainrx.model.bundle import CollectReport
    from trainrx.model.dry_run import DryRunAnswer
    from trainrx.model.estimate import Estimate
    from trainrx.model.fixing import FixAnswer, RetryAnswer
    from trainrx.model.inspection import Comparison, Inspection
    from trainrx.model.planning import PlanAnswer
    from trainrx.model.result import Diagnosis
    from trainrx.model.translation import Translation

    answers = (Diagnosis, Estimate, FixAnswer, PlanAnswer, RetryAnswer)
    others = (Inspection, Comparison, Translation, CollectReport, WatchState, DryRunAnswer)
    records: tuple[type[msgspec.Struct], ...] = (*answers, *others)
    return {f"{ANSWERS[kind.__name__].schema}.schema.json": _schema(kind) for kind in records}


def _schema(record: type[msgspec.Struct]) -> str:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(record),
    }
    return msgspec.json.format(msgspec.json.encode(_tidy(schema)), indent=2).decode() + "\n"


def _tidy(node: object) -> object:
    """Take the indentation out of descriptions: Python releases differ in what they leave."""
    if isinstance(node, dict):
        return {
            key: cleandoc(value) if isinstance(value, str) else _tidy(value)
            for key, value in node.items()
        }
    return [_tidy(item) for item in node] if isinstance(node, list) else node


FORMAT = Format(record=write, medium=media.json, utf8=True)

if __name__ == "__main__":
    for file, text in schemas().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
