"""Answers for people and programs: one document per answer, one writer per format."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import msgspec

    from trainrx.render.document import Document, View
    from trainrx.render.formats import Format


class Answer(NamedTuple):
    """A kind of answer.

    Attributes:
        builder: module here that lays it out.
        schema: name of its JSON schema; "" where it has none.
        patch: as text it is a patch, and programs read it.
    """

    builder: str
    schema: str = ""
    patch: bool = False


ANSWERS: dict[str, Answer] = {
    "Diagnosis": Answer("diagnosis", "diagnosis"),
    "Estimate": Answer("estimate", "estimate"),
    "FixAnswer": Answer("fix", "fix", patch=True),
    "PlanAnswer": Answer("plan", "plan"),
    "RetryAnswer": Answer("retry", "retry"),
    "Inspection": Answer("inspect", "inspection"),
    "Comparison": Answer("diff", "comparison"),
    "Translation": Answer("translate", "translation"),
    "WatchState": Answer("watch", "watch"),
    "LintReport": Answer("lint"),
    "CollectReport": Answer("collect", "collection"),
    "DryRunAnswer": Answer("dry_run", "dry_run"),
}
"""By the name of the record."""


def render(answer: msgspec.Struct, form: str, view: View) -> str:
    """Write an answer in one of the `formats`, masked as the view says, safe to show."""
    from trainrx.render.formats import load
    from trainrx.render.redact import masked

    chosen = load(form)
    answer = masked(answer, view.redaction, applies=_is_patch(answer, chosen, view))
    if chosen.record is not None:
        return chosen.medium(chosen.record(answer, view))
    view = view._replace(post=chosen.post)
    return chosen.medium(chosen.document(document_of(answer, view), view))


def is_for_programs(answer: msgspec.Struct, form: str, view: View) -> bool:
    """Tell whether a program reads an answer in some form: as UTF-8, whatever the locale."""
    from trainrx.render.formats import load

    return load(form).utf8 or _is_patch(answer, load(form), view)


def _is_patch(answer: msgspec.Struct, form: Format, view: View) -> bool:
    return ANSWERS[type(answer).__name__].patch and form.lines and not view.terminal


def document_of(answer: msgspec.Struct, view: View) -> Document:
    """Lay an answer out as a document."""
    builder = import_module(f"trainrx.render.{ANSWERS[type(answer).__name__].builder}")
    built: Document = builder.document(answer, view)
    return built
