"""What goes over the wire to an editor: findings and actions as the protocol words them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from trainrx.lsp.actions import EditorAction
from trainrx.lsp.edited_text import EditedText
from trainrx.lsp.hover import span
from trainrx.lsp.workspace import LintedDocument
from trainrx.model.findings import Finding
from trainrx.sanitizer import media
from trainrx.sanitizer.redactor import Redactor

FIX_ALL = "source.fixAll.trainrx"
SOURCE = "trainrx"
_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def diagnostic(
    item: Finding, linted: LintedDocument, edited: EditedText, uri: str
) -> types.Diagnostic:
    """Write a finding; one in a file the text names is told where it names it."""
    here = linted.file is not None and item.file == linted.file.name
    start, stop = span(item, edited) if here else _mention(item.file, edited)
    return types.Diagnostic(
        range=stretch(edited, start, stop),
        severity=_SEVERITY[item.severity],
        code=item.rule,
        source=SOURCE,
        message=shown(item.message if here else f"{item.file}:{item.line or 1}: {item.message}"),
        related_information=None if here else _there(item, linted, uri),
    )


def _mention(name: str, edited: EditedText) -> tuple[int, int]:
    base = Path(name).name
    start = edited.text.find(base) if base else -1
    return (start, start + len(base)) if start >= 0 else (0, 0)


def _there(
    item: Finding, linted: LintedDocument, uri: str
) -> list[types.DiagnosticRelatedInformation]:
    folder = linted.file.folder if linted.file is not None else None
    places = [Path(item.file), *([Path(folder) / item.file] if folder else [])]
    path = next((p for p in places if p.is_file()), None)
    target = uri if path is None else from_fs_path(str(path.absolute())) or uri
    line, column = max((item.line or 1) - 1, 0), max((item.column or 1) - 1, 0)
    at = types.Position(line=line, character=column)
    place = types.Location(uri=target, range=types.Range(start=at, end=at))
    return [types.DiagnosticRelatedInformation(location=place, message=shown(item.message))]


def offered(action: EditorAction, uri: str, edited: EditedText) -> types.CodeAction:
    """Write an action with its edits."""
    edits = []
    for edit in action.edits:
        start = edited.offset(edit.line, edit.column)
        stop = edited.offset(edit.end_line, edit.end_column)
        edits.append(types.TextEdit(range=stretch(edited, start, stop), new_text=edit.text))
    item = action.finding
    return types.CodeAction(
        title=shown(action.title),
        kind=FIX_ALL if item is None else types.CodeActionKind.QuickFix,
        edit=types.WorkspaceEdit(changes={uri: edits}),
        is_preferred=action.preferred or None,
        diagnostics=None
        if item is None
        else [
            types.Diagnostic(
                range=stretch(edited, *span(item, edited)),
                severity=_SEVERITY[item.severity],
                code=item.rule,
                source=SOURCE,
                message=shown(item.message),
            )
        ],
    )


def shown(text: str) -> str:
    """Give a message for a list of the editor: masked, in one line."""
    return media.editor(Redactor("secrets").text(text))


def stretch(edited: EditedText, start: int, stop: int) -> types.Range:
    """Write what lies between two offsets."""
    first, last = edited.place(start), edited.place(stop)
    return types.Range(
        start=types.Position(line=first.line, character=first.unit),
        end=types.Position(line=last.line, character=last.unit),
    )


def wants(kind: str, only: object) -> bool:
    """Tell whether an editor that asks for some kinds of actions takes this one."""
    if not isinstance(only, (list, tuple)) or not only:
        return True
    asked = [str(getattr(one, "value", one)) for one in only]
    own = str(getattr(kind, "value", kind))
    return any(not one or own == one or own.startswith(f"{one}.") for one in asked)


def as_json(value: object) -> object:
    """Give JSON as plain mappings: the library wraps objects into tuples with names."""
    if hasattr(value, "_asdict"):
        return {name: as_json(held) for name, held in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): as_json(held) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(held) for held in value]
    return value
