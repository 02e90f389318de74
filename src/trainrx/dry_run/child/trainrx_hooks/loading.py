"""`datasets`: few rows of each set, one process, and the row at which a function fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from .record import ROWS, once, tell


def change(datasets: Any) -> None:
    """Change what loads data and what goes through it."""
    loaded = datasets.load_dataset

    @wraps(loaded)
    def load_dataset(*args: Any, **options: Any) -> Any:
        options.pop("num_proc", None)
        found = loaded(*args, **options)
        named = options.get("data_files") or (args[0] if args else options.get("path"))
        return _shortened(found, datasets, named)

    datasets.load_dataset = load_dataset
    if hasattr(datasets, "load"):
        datasets.load.load_dataset = load_dataset
    for name in ("map", "filter"):
        _watch(datasets.Dataset, name)


def _shortened(found: Any, datasets: Any, named: Any) -> Any:
    if isinstance(found, datasets.DatasetDict):
        return datasets.DatasetDict({name: _head(part, named) for name, part in found.items()})
    return _head(found, named) if isinstance(found, datasets.Dataset) else found


def _head(part: Any, named: Any) -> Any:
    rows = len(part)
    taken = min(rows, ROWS)
    file = ", ".join(named) if isinstance(named, (list, tuple)) else str(named)
    tell("loaded", file=file, rows=rows, taken=taken, columns=list(part.column_names))
    for number in range(taken):
        tell("row", file=file, number=number + 1, row=part[number])
    return part if taken == rows else part.select(range(taken))


def _watch(kind: Any, name: str) -> None:
    original = getattr(kind, name)
    takes = inspect.signature(original).parameters

    @wraps(original)
    def watched(self: Any, function: Any = None, *args: Any, **options: Any) -> Any:
        if "num_proc" in takes:
            options["num_proc"] = None
        if callable(function):
            function = _finding(function, batched=bool(options.get("batched")))
        return original(self, function, *args, **options)

    setattr(kind, name, watched)


def _finding(function: Callable[..., Any], *, batched: bool) -> Callable[..., Any]:
    """Call a function; where it fails, tell the row it fails at."""
    done = [0]

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        try:
            made = function(*args, **options)
        except Exception as error:
            _tell_row(function, args, options, error, before=done[0], batched=batched)
            raise
        done[0] += len(next(iter(args[0].values()), ())) if batched and args else 1
        return made

    return called


def _tell_row(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
    error: Exception,
    *,
    before: int,
    batched: bool,
) -> None:
    said = f"{type(error).__name__}: {error}"[:500]
    try:
        for at, row in enumerate(_rows(args[0]) if batched else [dict(args[0])]):
            if not batched or _fails(function, row, args[1:], options):
                tell("failed-row", number=before + at + 1, row=row, error=said)
                return
    except Exception as other:  # the framework's own error is the one that counts
        once("note", f"the row of an error was not found: {type(other).__name__}")


def _rows(batch: Any) -> Iterator[dict[str, Any]]:
    columns = {name: batch[name] for name in batch}
    count = min((len(values) for values in columns.values()), default=0)
    for at in range(count):
        yield {name: values[at] for name, values in columns.items()}


def _fails(
    function: Callable[..., Any],
    row: dict[str, Any],
    more: tuple[Any, ...],
    options: dict[str, Any],
) -> bool:
    cut = tuple(item[:1] if isinstance(item, list) else item for item in more)
    try:
        function({name: [value] for name, value in row.items()}, *cut, **options)
    except Exception:
        return True
    return False
