"""Code as notebooks hold it: Python among which stand commands for a shell and magics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from trainrx.inputs.recognise import PROGRAM
from trainrx.model.findings import Unread
from trainrx.model.job import NOTE, Input, InputKind
from trainrx.model.pattern import late

CellKind = Literal["python", "shell", "prose", "printed"]
Row = tuple[int, str]
"""The number of a line in the file, and its text."""

COMMAND = late(r"(?P<indent>\s*)(?:[A-Za-z_]\w*\s*=\s*)?!+(?P<command>\s*[\w./~$({\[\"'-].*)$")
MAGIC = late(r"(?P<indent>\s*)%(?!%)(?P<name>\w+)(?:\s+(?P<rest>.*))?$")
CELL_MAGIC = late(r"\s*%%(?P<name>\w+)(?:\s+(?P<rest>.*))?$")
INTERPOLATED = late(r"(?<!\$)\{([A-Za-z_]\w*)\}")
"""What IPython puts the value of a Python variable in place of."""
ASSIGNED = late(r"([A-Za-z_]\w*)\s*[= ]\s*(.*)$")
SHELLS = ("bash", "sh", "shell", "script", "system", "sx")
PASSED_ON = ("pip", "conda", "mamba", "uv", "cd")
TRANSPARENT = ("capture", "time", "timeit", "prun")
END_OF_FILE = "END_OF_CELL"


class CellLine(NamedTuple):
    """A line of a notebook: where it stands, what it is, its text."""

    number: int
    kind: CellKind
    text: str


def code_lines(rows: Sequence[Row], name: str, unread: list[Unread]) -> Iterator[CellLine]:
    """Tell the Python of a cell from what is for a shell; cells for others go to `unread`."""
    first = next((at for at, (_, text) in enumerate(rows) if text.strip()), 0)
    magic = CELL_MAGIC.match(rows[first][1]) if rows else None
    if magic is None:
        yield from _mixed(rows)
        return
    number, text = rows[first]
    body = rows[first + 1 :]
    if magic["name"] in TRANSPARENT:
        yield from _mixed(body)
    elif magic["name"] in SHELLS:
        yield from (CellLine(at, "shell", line) for at, line in body)
    elif magic["name"] in ("writefile", "file"):
        yield from _written(number, (magic["rest"] or "").split(), body)
    else:
        reason = "a cell for another language is not read"
        unread.append(Unread(source=name, line=number, reason=reason, text=text.strip()))


def _written(number: int, words: Sequence[str], body: Sequence[Row]) -> Iterator[CellLine]:
    """Give the file a cell writes as the shell would write it."""
    path = next((word for word in words if not word.startswith("-")), "")
    into = ">>" if "-a" in words else ">"
    yield CellLine(number, "shell", f"cat {into} {path} <<'{END_OF_FILE}'")
    yield from (CellLine(at, "shell", line) for at, line in body)
    yield CellLine((body[-1][0] if body else number) + 1, "shell", END_OF_FILE)


def _mixed(rows: Sequence[Row]) -> Iterator[CellLine]:
    goes_on = False
    for number, text in rows:
        command = text if goes_on else _command(text)
        if command is None:
            yield CellLine(number, "python", text)
            continue
        yield CellLine(number, "shell", INTERPOLATED.sub(r"${\1}", command))
        if not goes_on:
            # what is left of a statement that only calls the shell
            yield CellLine(number, "python", re.sub(r"\S.*", "pass", text))
        goes_on = command.rstrip().endswith("\\")


def _command(text: str) -> str | None:
    """Give what a line has the shell do, or None."""
    command = COMMAND.match(text)
    if command is not None:
        return command["command"].strip()
    magic = MAGIC.match(text)
    if magic is None:
        return None
    rest = magic["rest"] or ""
    if magic["name"] in ("env", "set_env"):
        found = ASSIGNED.match(rest)
        return f"export {found[1]}={found[2]}" if found is not None else ""
    if magic["name"] in PASSED_ON:
        return f"{magic['name']} {rest}"
    return rest if magic["name"] in SHELLS else ""


KINDS: Mapping[CellKind, InputKind] = {
    "shell": "script",
    "python": "script",
    "prose": "note",
    "printed": "log",
}


def cell_inputs(lines: Iterable[CellLine], name: str) -> list[Input]:
    """Give the parts of a notebook as inputs whose lines keep their numbers.

    Python counts where it sets the arguments of a training.
    """
    rows: dict[CellKind, dict[int, str]] = {}
    for line in lines:
        if line.text.strip():
            rows.setdefault(line.kind, {})[line.number] = line.text
    inputs = []
    for kind, own in rows.items():
        text = "\n".join(own.get(at, "") for at in range(1, max(own) + 1)) + "\n"
        if kind != "python" or PROGRAM.search(text):
            inputs.append(
                Input(
                    kind=KINDS[kind],
                    name=NOTE if kind == "prose" else name,
                    text=text,
                    spans=tuple(_spans(own)),
                )
            )
    return inputs


def _spans(rows: Iterable[int]) -> Iterator[tuple[int, int]]:
    start = last = 0
    for number in sorted(rows):
        if last and number > last + 1:
            yield start, last
            start = number
        start = start or number
        last = number
    yield start, last
