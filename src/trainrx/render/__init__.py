"""Answers for people and programs: one document per answer, one writer per format."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import msgspec

    from trainrx.render.document import Document, View


class Answer(NamedTuple):
    """A kind of answer.

    Attributes:
        record: module of its record.
        builder: module here that lays it out.
        schema: name of its JSON schema; "" where it has none.
        masked: no format shows its secrets.
    """

    record: str
    builder: str
    schema: str = ""
    masked: bool = False


ANSWERS: dict[str, Answer] = {
    "Diagnosis": Answer("result", "diagnosis", "diagnosis"),
    "Estimate": Answer("estimate", "estimate", "estimate", masked=True),
    "FixAnswer": Answer("fixing", "fix", "fix"),
    "PlanAnswer": Answer("planning", "plan", "plan"),
    "RetryAnswer": Answer("retry", "retry", "retry", masked=True),
    "Inspection": Answer("inspection", "inspect", "inspection", masked=True),
    "Comparison": Answer("inspection", "diff", "comparison", masked=True),
    "Translation": Answer("translation", "translate", "translation", masked=True),
    "LintReport": Answer("lint", "lint"),
}
"""By the name of the record."""


def render(answer: msgspec.Struct, form: str, view: View, *, redact: bool = False) -> str:
    """Write an answer in one of the `formats`; what is passed on never holds secrets."""
    from trainrx.render.formats import load

    kind, chosen = ANSWERS[type(answer).__name__], load(form)
    if redact or kind.masked or chosen.post:
        from trainrx.render.redact import masked

        answer = masked(answer)
    if chosen.record is not None:
        return chosen.record(answer, view)
    view = view._replace(post=chosen.post)
    return chosen.document(document_of(answer, view), view)


def document_of(answer: msgspec.Struct, view: View) -> Document:
    """Lay an answer out as a document."""
    builder = import_module(f"trainrx.render.{ANSWERS[type(answer).__name__].builder}")
    built: Document = builder.document(answer, view)
    return built
