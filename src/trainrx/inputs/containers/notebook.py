"""A Jupyter notebook (nbformat 3 and 4): its code, its commands, what it printed and its prose."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainrx.inputs.cells import CellLine, Row, cell_inputs, code_lines
from trainrx.inputs.content import Content, Found
from trainrx.model.findings import Unread
from trainrx.model.pattern import late

CERTAIN = True
FORM = late(r"\s*\{\s*\"(?:cells|metadata|nbformat|nbformat_minor|worksheets)\"\s*:")
CELL = late(r"\"cell_type\"\s*:")
STRING = late(r"\"(?:[^\"\\]|\\.)*\"")
PICTURES = ("image/", "application/vnd.jupyter.widget", "application/javascript")
STAND_IN = "<IPython.core.display."
"""What stands as text for something that only a browser shows."""


class _Text(str):
    """A string of the notebook and the line of the file it stands on."""

    __slots__ = ("line",)
    line: int


def contained(content: Content) -> Found | None:
    """Take a notebook apart; None where a content is none."""
    if not FORM.match(content.head) or not CELL.search(content.text):
        return None
    try:
        notebook = json.loads(content.text)
    except (ValueError, RecursionError) as error:
        reason = f"is a notebook that is damaged or cut off: {error}"
        return [], [Unread(source=content.name, reason=reason)]
    unread: list[Unread] = []
    located = _located(notebook, iter(_strings(content.text)))
    reader = _Reader(content.name, unread)
    lines = [line for cell in _cells(located) for line in reader.cell(cell)]
    return cell_inputs(lines, content.name), unread


def _strings(text: str) -> Iterator[int]:
    """Give the line of each string of a JSON text, in the order they stand in."""
    line, at = 1, 0
    for found in STRING.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        yield line


def _located(value: Any, lines: Iterator[int]) -> Any:  # noqa: ANN401 (JSON)
    """Note with each string the line it stands on; the order of a document is that of its text."""
    if isinstance(value, str):
        text = _Text(value)
        text.line = next(lines, 1)
        return text
    if isinstance(value, list):
        return [_located(item, lines) for item in value]
    if isinstance(value, dict):
        return {key: _located(item, lines) for key, item in value.items() if next(lines, 1)}
    return value


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    sheets = notebook.get("worksheets")
    for holder in (notebook, *(sheets if isinstance(sheets, list) else ())):
        cells = holder.get("cells") if isinstance(holder, dict) else None
        if isinstance(cells, list):
            yield from (cell for cell in cells if isinstance(cell, dict))


class _Reader:
    """Reads cells one after the other; no two lines stand in one place.

    Where many strings share a line of the file, they are numbered on from there.
    """

    def __init__(self, name: str, unread: list[Unread]) -> None:
        self._name = name
        self._unread = unread
        self._written = 0
        self._printed = 0

    def cell(self, cell: Mapping[str, Any]) -> Iterator[CellLine]:
        """Give the lines of a cell."""
        rows = list(self._rows(cell.get("source", cell.get("input"))))
        if cell.get("cell_type") != "code":
            yield from (CellLine(at, "prose", text) for at, text in rows)
            return
        yield from code_lines(rows, self._name, self._unread)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                yield from self._output(output)

    def _rows(self, source: object) -> Iterator[Row]:
        for text in _texts(source):
            for line in text.rstrip("\n").split("\n"):
                self._written = max(text.line, self._written + 1)
                yield self._written, line

    def _output(self, output: Mapping[str, Any]) -> Iterator[CellLine]:
        if output.get("output_type") in ("error", "pyerr"):
            yield from self._shown(output.get("traceback") or output.get("evalue"))
            return
        data = output.get("data", output)
        if not isinstance(data, dict):
            return
        shown = next((key for key in data if str(key).startswith(PICTURES)), None)
        if shown is None:
            yield from self._shown(data.get("text/plain", output.get("text")))
            return
        reason = "what a notebook shows as a picture or a widget cannot be read"
        line = next((text.line for text in _texts(data[shown])), None)
        self._unread.append(Unread(source=self._name, line=line, reason=reason, text=shown))

    def _shown(self, texts: object) -> Iterator[CellLine]:
        r"""Give what was printed; lines within one string of the file are one, as after `\r`."""
        for text in _texts(texts):
            if not text.startswith(STAND_IN):
                self._printed = max(text.line, self._printed + 1)
                yield CellLine(self._printed, "printed", text.rstrip("\n").replace("\n", "\r"))


def _texts(value: object) -> list[_Text]:
    strings = value if isinstance(value, list) else [value]
    return [text for text in strings if isinstance(text, _Text)]
