"""Read the samples of a data file one by one: JSON lines, JSON, CSV, Parquet, Arrow.

Memory is bounded.
"""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, TextIO

from trainrx.model.errors import UsageError
from trainrx.model.pattern import late

PIECE = 1 << 20
"""Characters read at once."""
LONGEST = 64 << 20
"""A sample of more characters than this is none."""
ROWS = 256
_VALUE = late(r"[^\s]")
_KEY = late(r'\s*\{[^\[{]*?"((?:[^"\\]|\\.)*)"\s*:\s*\[')
SPOKEN = frozenset(
    {"messages", "conversations", "conversation", "prompt", "chosen", "rejected", "completion"}
    | {"tools", "images", "history"}
)
"""Lists that are part of one sample, not lists of samples."""
_WIDE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class NoReaderError(UsageError):
    """The library that reads a form is not installed."""


class Bad(NamedTuple):
    """Something that is no sample: where it stands (a line, or a count of samples) and why."""

    place: str
    reason: str


class ArrowBatch(Protocol):
    """Rows in columns, as pyarrow holds them."""

    num_rows: int

    def slice(self, offset: int, length: int) -> ArrowBatch:
        """Give some rows."""

    def to_pylist(self) -> list[dict[str, object]]:
        """Give the rows one by one."""


Sample = Mapping[str, object] | Bad
Placed = tuple[int | None, Sample]
"""A sample with the line it begins at, where the form has lines."""


def read_samples(path: Path) -> Iterator[Sample]:
    """Give the samples of a file, what cannot be read as `Bad` at its place.

    Raises:
        UsageError: the file is missing, no file, not readable, or of a form that is not read.
    """
    return (sample for _, sample in read_placed(path))


def read_placed(path: Path) -> Iterator[Placed]:
    """Give the samples of a file with their lines, what cannot be read as `Bad` at its place.

    The form is told by content: Parquet, a JSON array, JSON lines, else a table with a header.

    Raises:
        UsageError: the file is missing, no file, not readable, or of a form that is not read.
    """
    head = _head(path)
    if head.startswith(b"PAR1"):
        return _parquet(path)
    if head.startswith(b"ARROW1") or path.suffix.lower() == ".arrow":
        return _arrow(path)
    if head.startswith((b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\x28\xb5\x2f\xfd")):
        raise UsageError(f"{path}: is compressed: unpack it first")
    _refuse_other_text(path, head)
    text = head.decode("utf-8-sig", "replace").lstrip()
    if not text:
        raise UsageError(f"{path}: is empty: expected training data, one sample a line")
    return _of_text(path, text)


def read_plain(path: Path) -> Iterator[Placed]:
    """Give each line of a file as a text to train on, whatever stands in it.

    Raises:
        UsageError: the file is missing, no file, not readable, or empty.
    """
    head = _head(path)
    _refuse_other_text(path, head)
    if not head.strip():
        raise UsageError(f"{path}: is empty: expected texts, one a line")
    return _opened(path, _texts)


def _texts(file: TextIO) -> Iterator[Placed]:
    number = 0
    while line := file.readline(LONGEST):
        number += 1
        yield number, {"text": line.rstrip("\r\n")}


def _refuse_other_text(path: Path, head: bytes) -> None:
    """Say how a text is written that is not UTF-8, as far as its head was read."""
    wide = next((name for mark, name in _WIDE.items() if head.startswith(mark)), "")
    if wide:
        raise UsageError(f"{path}: is {wide}, expected UTF-8")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError as error:
        line, byte = head.count(b"\n", 0, error.start) + 1, f"0x{head[error.start]:02x}"
        raise UsageError(f"{path}: is not UTF-8: byte {byte} in line {line}") from error


def list_within(path: Path) -> str:
    """Name the key under which the one object of a JSON file holds its samples; "" without one."""
    try:
        head = _head(path).decode("utf-8-sig", "replace")
    except UsageError:
        return ""
    if path.suffix.lower() != ".json" or not head.lstrip().startswith("{"):
        return ""
    found = _KEY.match(head)
    if found is None or found[1] in SPOKEN or not _is_one_object(path, head.lstrip()):
        return ""
    return found[1]


def _of_text(path: Path, head: str) -> Iterator[Placed]:
    own = _KEY.match(head)
    if own is not None and own[1] in SPOKEN and _is_one_object(path, head):
        return _opened(path, _whole)
    if head.startswith("[") or (head.startswith("{") and _is_one_object(path, head)):
        return _opened(path, _json)
    if head.startswith("{"):
        return _opened(path, _lines)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    header = head.split("\n", 1)[0]
    if path.suffix.lower() not in (".csv", ".tsv") and delimiter not in header:
        raise UsageError(
            f"{path}: is no data that is known here: expected JSON lines, JSON, CSV or Parquet"
        )
    return _opened(path, lambda file: _table(file, delimiter))


def _is_one_object(path: Path, head: str) -> bool:
    """Tell a pretty-printed object from JSON lines: its first line is no object by itself."""
    first = head.split("\n", 1)[0].strip()
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return path.suffix.lower() == ".json"
    return False


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(PIECE)
    except IsADirectoryError:
        raise UsageError(f"{path}: is a folder: give one file of it") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


def _opened(path: Path, read: Callable[[TextIO], Iterator[Placed]]) -> Iterator[Placed]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        yield from read(file)


def _lines(file: TextIO) -> Iterator[Placed]:
    number = 0
    while line := file.readline(LONGEST):
        number += 1
        place = f"line {number}"
        if not line.endswith("\n") and len(line) >= LONGEST:
            _skip_line(file)
            yield number, Bad(place, f"is longer than {LONGEST >> 20} million characters")
        elif line.strip():
            yield number, _sample(line, place)


def _skip_line(file: TextIO) -> None:
    while (rest := file.readline(PIECE)) and not rest.endswith("\n"):
        pass


def _sample(line: str, place: str) -> Sample:
    try:
        value = json.loads(line.rstrip("\r\n"))
    except (ValueError, RecursionError) as error:
        return Bad(place, f"is no JSON: {error}"[:200])
    return value if isinstance(value, dict) else Bad(place, "is no object with fields")


def _whole(file: TextIO) -> Iterator[Placed]:
    """Read a file that is one sample."""
    yield None, _sample(file.read(LONGEST), "the file")


def _json(file: TextIO) -> Iterator[Placed]:
    """Read the values of an array, or of the first array within an object, one after another."""
    text = _Window(file)
    if not text.enter():
        yield None, Bad("the file", "holds no list of samples")
        return
    number = 0
    while text.goes_on():
        number += 1
        found = text.value()
        if isinstance(found, Bad):
            yield None, Bad(f"sample {number}", f"{found.reason}; nothing behind it was read")
            return
        value = found[0]
        yield None, value if isinstance(value, dict) else Bad(f"sample {number}", "is no object")
    if text.ends_in_comma:
        place = f"sample {number + 1}"
        yield None, Bad(place, f"is missing: a comma stands behind row {number}, the last one")


class _Window:
    """A piece of a JSON text that moves on as its values are taken."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = file.read(PIECE)
        self._at = 0
        self.ends_in_comma = False
        """Whether the list ended behind a comma, which JSON does not allow."""
        self._decoder = json.JSONDecoder()

    def enter(self) -> bool:
        """Go behind the bracket that opens the list."""
        self._at = self._text.find("[") + 1
        return self._at > 0

    def goes_on(self) -> bool:
        """Tell whether another value follows."""
        while True:
            found = _VALUE.search(self._text, self._at)
            if found is not None and found[0] == "," and not self.ends_in_comma:
                self._at, self.ends_in_comma = found.end(), True
                continue
            if found is not None:
                self._at = found.start()
                closed = found[0] == "]"
                self.ends_in_comma = self.ends_in_comma and closed
                return not closed
            self._at = len(self._text)
            if not self._more(PIECE):
                return False

    def value(self) -> tuple[object] | Bad:
        """Take one value, reading on until it is whole."""
        size = PIECE
        while True:
            found = self._decoded()
            if not isinstance(found, Bad):
                return found
            # twice as much each time, so that a long sample costs no more than its length
            too_long = len(self._text) - self._at > LONGEST
            if too_long or found.place or not self._more(size):
                return found
            size *= 2

    def _decoded(self) -> tuple[object] | Bad:
        try:
            value, end = self._decoder.raw_decode(self._text, self._at)
        except RecursionError:
            return Bad("here", "is nested too deeply")
        except ValueError as error:
            return Bad("", f"is no JSON: {error}"[:200])
        self._at = end
        return (value,)

    def _more(self, size: int) -> bool:
        piece = self._file.read(size)
        self._text = self._text[self._at :] + piece
        self._at = 0
        return bool(piece)


def _table(file: TextIO, delimiter: str) -> Iterator[Placed]:
    before = csv.field_size_limit(LONGEST)
    try:
        yield from _rows(csv.DictReader(file, delimiter=delimiter))
    finally:
        csv.field_size_limit(before)


def _rows(rows: csv.DictReader[str]) -> Iterator[Placed]:
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield rows.line_num, Bad(f"line {rows.line_num}", str(error)[:200])
            continue
        kept = {key: value for key, value in row.items() if isinstance(key, str)}
        yield rows.line_num, kept


def _parquet(path: Path) -> Iterator[Placed]:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise _no_pyarrow(path, "Parquet") from None
    return _batches(pq.ParquetFile(path).iter_batches(batch_size=ROWS))


def _arrow(path: Path) -> Iterator[Placed]:
    """Read Arrow's stream, as `datasets` keeps it, or its file."""
    try:
        import pyarrow as pa
    except ImportError:
        raise _no_pyarrow(path, "Arrow") from None
    held = pa.memory_map(str(path))
    try:
        return _batches(pa.ipc.open_stream(held))
    except pa.ArrowInvalid:
        file = pa.ipc.open_file(held)
        return _batches(file.get_batch(number) for number in range(file.num_record_batches))


def _no_pyarrow(path: Path, form: str) -> NoReaderError:
    return NoReaderError(
        f"{path}: reading {form} needs pyarrow: pip install 'trainrx[data]', or give JSON lines"
    )


def _batches(batches: Iterable[ArrowBatch]) -> Iterator[Placed]:
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            yield from ((None, row) for row in batch.slice(start, ROWS).to_pylist())
