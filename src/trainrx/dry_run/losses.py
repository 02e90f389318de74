"""What of the data does not arrive: rows, texts and columns that others like them do not lack."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trainrx.data.values import kind_of
from trainrx.dry_run.texts import Encoded, Leaf, are_packed, bare, leaves
from trainrx.model.dry_run import ColumnUse, DataLoss, DryRunKind

USUAL = 0.8
"""Share of rows from which something is the usual thing, so that a row without it is odd."""
FEW = 3
MOST_NESTED, MOST_ITEMS = 4, 50
SHOWN = 5
"""Rows that are named."""
MOST_PACKED = 200
"""Rows by which it is told whether several make one sample."""
MOST_GONE = 0.5
"""Share of rows beyond which somebody wanted a part of the data alone."""


class FileRow(msgspec.Struct, frozen=True):
    """A row of a file: its number and line, from 1, and what it holds."""

    number: int
    line: int | None
    values: Mapping[str, object]


class FileRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a file that were taken, and the columns its format has (none: not known).

    `chosen`: the launch asks for a part of its rows.
    """

    name: str
    rows: tuple[FileRow, ...]
    columns: frozenset[str] = frozenset()
    chosen: bool = False


class _Kept(msgspec.Struct, frozen=True):
    """A row with its texts: all, those that no other row has, those that arrive."""

    row: FileRow
    leaves: tuple[Leaf, ...]
    own: frozenset[str]
    read: tuple[Leaf, ...]

    @property
    def is_lost(self) -> bool:
        """Nothing that tells it from other rows arrives."""
        return bool(self.own) and self.own.isdisjoint(leaf.begins for leaf in self.read)


class FileComparison(NamedTuple):
    """How the columns of a file are used, what is lost, and whether rows are joined to samples."""

    uses: tuple[ColumnUse, ...]
    losses: tuple[DataLoss, ...]
    packed: bool


def compared(file: FileRows, samples: Sequence[Mapping[str, Any]]) -> FileComparison:
    """Say of a file which columns are read and learnt from, and what is lost.

    Args:
        file: its rows, all of which the framework was given.
        samples: all that the framework made of its data: `read` and `learnt` as text.
    """
    encoded = Encoded(samples)
    kept = _all_kept(file, encoded)
    uses = tuple(_uses(file, kept, encoded))
    packed = are_packed([item.leaves for item in kept[:MOST_PACKED]], encoded)
    if not samples or packed:
        return FileComparison(uses, (), packed)
    mute = [number for number, item in enumerate(samples) if item.get("learnt") == ""]
    of_mute = [item for item in kept if _sample(item, encoded) in mute]
    losses = (
        *_loss("nothing-learnt", file, of_mute, len(kept)),
        *_losses(file, kept, uses, encoded),
    )
    return FileComparison(uses, losses, packed)


def _sample(item: _Kept, encoded: Encoded) -> int | None:
    return encoded.sample(item.read[-1]) if item.read else None


def _all_kept(file: FileRows, encoded: Encoded) -> list[_Kept]:
    rows = [(row, tuple(leaves(row.values))) for row in file.rows]
    held = Counter(text for _, found in rows for text in {leaf.begins for leaf in found})
    return [
        _Kept(
            row,
            found,
            frozenset(leaf.begins for leaf in found if held[leaf.begins] == 1),
            tuple(leaf for leaf in found if encoded.begins(leaf)),
        )
        for row, found in rows
    ]


def _uses(file: FileRows, kept: Sequence[_Kept], encoded: Encoded) -> Iterator[ColumnUse]:
    rows: dict[str, set[int]] = defaultdict(set)
    read: dict[str, set[int]] = defaultdict(set)
    learnt: dict[str, set[int]] = defaultdict(set)
    for number, item in enumerate(kept):
        for leaf in item.leaves:
            rows[leaf.column].add(number)
        for leaf in item.read:
            read[leaf.column].add(number)
            if encoded.learnt(leaf):
                learnt[leaf.column].add(number)
    for column, held in rows.items():
        known = len(learnt[column]) if encoded.knows_learnt else None
        yield ColumnUse(
            file=file.name, column=column, rows=len(held), read=len(read[column]), learnt=known
        )


def _losses(
    file: FileRows, kept: Sequence[_Kept], uses: Sequence[ColumnUse], encoded: Encoded
) -> Iterator[DataLoss]:
    lost = [item for item in kept if item.is_lost]
    if file.chosen or len(lost) > MOST_GONE * len(kept):
        lost = []
    yield from _loss("row-lost", file, lost, len(kept))
    there = [item for item in kept if not item.is_lost and item.leaves]
    by_column = {use.column: use for use in uses}
    yield from _columns(file, there)
    for column, use in by_column.items():
        if use.read < max(FEW, USUAL * _with(there, column)):
            continue
        gone = [item for item in there if _lacks(item, column)]
        yield from _loss("text-lost", file, gone, use.rows, column)
        cut = [
            item
            for item in there
            if any(leaf.column == column and not encoded.whole(leaf) for leaf in item.read)
        ]
        yield from _loss("text-cut", file, cut, use.rows, column)
        if use.learnt is not None and use.learnt >= max(FEW, USUAL * use.read):
            mute = [item for item in there if _is_mute(item, column, encoded) and item not in cut]
            yield from _loss("not-learnt", file, mute, use.rows, column)


def _with(kept: Sequence[_Kept], column: str) -> int:
    return sum(any(leaf.column == column for leaf in item.leaves) for item in kept)


def _lacks(item: _Kept, column: str) -> bool:
    """Tell whether a text of a column does not arrive; of a list of texts one is enough."""
    own = [leaf in item.read for leaf in item.leaves if leaf.column == column]
    return bool(own) and not (any(own) if column.endswith("[]") else all(own))


def _is_mute(item: _Kept, column: str, encoded: Encoded) -> bool:
    """Tell whether the last of its texts in a column is not learnt from; earlier ones need not be.

    A set for preferences learns the last answer of a talk alone.
    """
    own = [leaf for leaf in item.read if leaf.column == column]
    return bool(own) and not encoded.learnt(own[-1])


def _columns(file: FileRows, there: Sequence[_Kept]) -> Iterator[DataLoss]:
    """Columns the format has, of which no text arrives in a row although it has some."""
    for column in sorted(file.columns):
        gone = []
        for item in there:
            own = [leaf for leaf in item.leaves if _root(leaf.column) == column]
            if own and not any(leaf in item.read for leaf in own):
                gone.append(item)
        usual = sum(any(_root(leaf.column) == column for leaf in item.read) for item in there)
        if gone and usual < max(FEW, USUAL * (len(gone) + usual)):
            yield from _loss("column-lost", file, gone, len(there), column)


def _root(column: str) -> str:
    return column.split("[", 1)[0].split(".", 1)[0]


def _loss(
    kind: DryRunKind, file: FileRows, items: Sequence[_Kept], of: int, column: str = ""
) -> Iterator[DataLoss]:
    if not items:
        return
    first = items[0]
    shown = next((leaf.shown for leaf in first.leaves if leaf.column == column), "")
    if not shown and first.leaves:
        shown = first.leaves[0].shown
    yield DataLoss(
        kind=kind,
        file=file.name,
        column=column,
        rows=tuple(item.row.number for item in items[:SHOWN]),
        lines=tuple(item.row.line for item in items[:SHOWN] if item.row.line is not None),
        count=len(items),
        of=of,
        shown=shown,
    )


def row_of(told: Mapping[str, Any], files: Sequence[FileRows]) -> tuple[FileRows, FileRow] | None:
    """Find the row of a file that a function of the framework failed at.

    The row may have been converted: it is the one that shares most of its texts.
    """
    held = {leaf.begins for leaf in leaves(told)}
    return _best(files, lambda leaf: leaf.begins in held)


def row_in(read: str, files: Sequence[FileRows]) -> tuple[FileRows, FileRow] | None:
    """Find the row of a file that a text was made of: the one with most of its texts in it."""
    text = bare(read)
    return _best(files, lambda leaf: leaf.begins in text)


def _best(
    files: Sequence[FileRows], is_in: Callable[[Leaf], bool]
) -> tuple[FileRows, FileRow] | None:
    best: tuple[int, FileRows, FileRow] | None = None
    for file in files:
        for row in file.rows:
            shared = sum(map(is_in, leaves(row.values)))
            if shared and (best is None or shared > best[0]):
                best = (shared, file, row)
    return None if best is None else best[1:]


def odd_values(file: FileRows) -> Iterator[DataLoss]:
    """Name the rows in which a value is of another kind than in most, null and absent among them.

    For a job that stopped without saying at which row.
    """
    kinds: dict[str, dict[str, list[FileRow]]] = defaultdict(lambda: defaultdict(list))
    for row in file.rows:
        for column, kind in dict(_kinds("", row.values, 0)).items():
            kinds[column][kind].append(row)
    for column, held in kinds.items():
        known = sum(map(len, held.values()))
        usual = max(held, key=lambda kind: len(held[kind]))
        if "." not in column and "[" not in column and known < len(file.rows):
            there = {row.number for rows in held.values() for row in rows}
            held["absent"] = [row for row in file.rows if row.number not in there]
        rest = [row for kind, rows in held.items() if kind != usual for row in rows]
        if rest and len(held[usual]) >= max(FEW, USUAL * (len(held[usual]) + len(rest))):
            rest.sort(key=lambda row: row.number)
            odd = next(kind for kind, rows in held.items() if rest[0] in rows and kind != usual)
            yield DataLoss(
                kind="odd-value",
                file=file.name,
                column=column,
                rows=tuple(row.number for row in rest[:SHOWN]),
                lines=tuple(row.line for row in rest[:SHOWN] if row.line is not None),
                count=len(rest),
                of=len(file.rows),
                shown=f"{odd} / {usual}",
            )


def _kinds(path: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    if path:
        yield path, _kind(value)
    if depth > MOST_NESTED:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _kinds(f"{path}.{key}" if path else str(key), item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value[:MOST_ITEMS]:
            yield from _kinds(f"{path}[]", item, depth + 1)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, (str, list, tuple, Mapping)) and not value:
        return "empty"
    return kind_of(value) or "null"
