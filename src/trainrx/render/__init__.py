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
        builder: module here that lays it out.
        schema: name of its JSON schema; "" where it has none.
        masked: no format shows its secrets.
    """

    builder: str
    schema: str = ""
    masked: bool = False


ANSWERS: dict[str, Answer] = {
    "Diagnosis": Answer("diagnosis", "diagnosis"),
    "Estimate": Answer("estimate", "estimate", masked=True),
    "FixAnswer": Answer("fix", "fix"),
    "PlanAnswer": Answer("plan", "plan"),
    "RetryAnswer": Answer("retry", "retry", masked=True),
    "Inspection": Answer("inspect", "inspection", masked=True),
    "Comparison": Answer("diff", "comparison", masked=True),
    "Translation": Answer("translate", "translation", masked=True),
    "LintReport": Answer("lint"),
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
