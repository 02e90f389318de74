"""A notebook as a Python file: cells behind `# %%` (Jupytext), commands behind `!` (Colab)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainrx.inputs.cells import CellLine, Row, cell_inputs, code_lines
from trainrx.inputs.content import Content, Found
from trainrx.inputs.recognise import LOG, PYTHON
from trainrx.model.findings import Unread
from trainrx.model.pattern import late

CERTAIN = False
MARK = late(r"# ?%%(?!\w)(?P<title>.*)$|# In ?\[[\d ]*\]:\s*$")
COMMANDS = late(
    r"(?m)^(?:# )?(?:!\s?[\w./]|%%?(?:bash|sh|capture|env|cd|pip|writefile)\b)|^# ?%%(?!\w)"
)
HIDDEN = late(r"# (?=[!%]{1,2}\w)")
"""What Colab puts before a command so that the file stays Python."""
LARGEST = 1 << 20


def contained(content: Content) -> Found | None:
    """Take the commands out of a notebook's Python; None where a text is no such file."""
    head = content.head
    if not COMMANDS.search(head) or not PYTHON.search(head) or LOG.search(head):
        return None
    if len(content.text) > LARGEST or any(fence in head for fence in ("```", "~~~")):
        return None
    unread: list[Unread] = []
    lines = content.text.replace("\r\n", "\n").split("\n")
    found = [line for cell in _cells(lines) for line in _cell(cell, content.name, unread)]
    if not _is_python(found):
        return None
    inputs = cell_inputs(found, content.name)
    return (inputs, unread) if any(item.kind == "script" for item in inputs) else None


def _is_python(lines: Iterable[CellLine]) -> bool:
    """Tell whether what is for no shell is Python: a post may have commands behind `!` as well."""
    import ast

    text = "\n".join(line.text for line in lines if line.kind == "python")
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _cells(lines: Sequence[str]) -> Iterator[list[Row]]:
    cell: list[Row] = []
    hidden = False
    for number, line in enumerate(lines, start=1):
        text = line[2:] if HIDDEN.match(line) or (hidden and line.startswith("# ")) else line
        hidden = text != line and (hidden or text.startswith("%%"))
        if MARK.match(line) or text.startswith("%%"):
            yield cell
            cell = []
        cell.append((number, text))
    yield cell


def _cell(cell: Sequence[Row], name: str, unread: list[Unread]) -> Iterator[CellLine]:
    mark = MARK.match(cell[0][1]) if cell else None
    body = cell[1:] if mark is not None else cell
    if mark is not None and "[markdown]" in (mark["title"] or ""):
        yield from (CellLine(at, "prose", text.strip().lstrip("# ")) for at, text in body)
    else:
        yield from code_lines(body, name, unread)
