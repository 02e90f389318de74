"""Read a bounded sample of a source: what is wrong with its rows, and how long they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import TypeVar

import msgspec

from trainrx.data.images import ImageSize, find_image, image_names, image_size
from trainrx.data.job import DataJob
from trainrx.data.rows import Missing, Row, layout_for, lowered, missing_columns, row_faults
from trainrx.data.sources import DataSource, data_format, data_sources
from trainrx.data.values import (
    KindTally,
    RefusedValue,
    class_fault,
    differing_parts,
    is_drifted_pair,
    is_same_pair,
    is_unscored,
    refused_values,
    repeats_prompt,
    worse_chosen,
)
from trainrx.inputs.sample_text import parts_of
from trainrx.inputs.samples import Bad, NoReaderError, Placed, list_within, read_placed, read_plain
from trainrx.inputs.token_lengths import (
    TOKENIZER,
    LengthTally,
    sample_tokens,
    token_counter,
    token_stats,
)
from trainrx.model.errors import UsageError
from trainrx.model.formats import (
    DataLayout,
    FilesTaken,
    ImagesTaken,
    LongLeftOut,
    SameKinds,
    ValueNeed,
)
from trainrx.model.hardware import TokenStats
from trainrx.versions.ranges import in_range

FIRST = 200
"""Rows that are looked at for the columns of a file."""
IMAGES = ("images", "image")
SURE = 0.6
"""Share of an estimated length that a sample has at least: estimates of whole samples are off by up
to a third."""
Clock = Callable[[], float]


class SampleBudget(msgspec.Struct, frozen=True, kw_only=True):
    """How much of each source is read at most."""

    rows: int = 50_000
    bytes: int = 128 << 20
    images: int = 2_000
    seconds: float = 20.0


BRIEF = SampleBudget(rows=2_000, bytes=8 << 20, images=50, seconds=1.5)
"""What is read where a job failed on its data and nobody asked for a reading of it."""


class RowPlace(msgspec.Struct, frozen=True):
    """A row, counted from 1, and the line it begins at where its file has lines."""

    row: int
    line: int | None = None


class FaultyRows(msgspec.Struct):
    """How many rows have a fault, the first of them, and what shows it there."""

    first: RowPlace
    shown: str = ""
    count: int = 0


class Survey(msgspec.Struct):
    """What a source holds, as far as it was read.

    `rows` are those that are rows, `first` what it begins with, `whole` tells that all of the file
    was read.
    `unread`: what reads such a file is not installed.
    `faults` are by kind: those of `rows.Fault`, `broken` (no row), `long` (beyond the limit),
    `unanswerable` (its prompt alone is), `image-gone`, `image-broken`, `image-tags`, `value` (what
    `refused` says), `mixed` (another kind than in the rows before), `same` (both answers of a
    pair), `worse` (the one that is preferred by its score), `repeated` (answers begin with the
    question), `drifted` (its prompts differ), `class- text` and `class-beyond` (no class), `json`
    (a row within a line of plain text), `parts` (joined columns of two kinds), `pictured` (has
    images) and `unscored`. `digests` are hashes of whole rows. `within` is the key under which one
    object holds all samples, `delimiter` what seems to part the only column of a table, `taken` the
    suffixes that this release reads where it is none of them.
    """

    source: DataSource
    rows: int = 0
    whole: bool = True
    unreadable: str = ""
    unread: str = ""
    columns: tuple[str, ...] = ()
    first: tuple[Row, ...] = ()
    missing: tuple[Missing, ...] = ()
    faults: dict[str, FaultyRows] = {}
    digests: dict[int, int] = {}
    longest: RowPlace | None = None
    largest: RowPlace | None = None
    largest_image: ImageSize | None = None
    pixels: float = 0.0
    images: int = 0
    stats: TokenStats | None = None
    refused: RefusedValue | None = None
    within: str = ""
    delimiter: str = ""
    taken: tuple[str, ...] = ()

    def note(self, kind: str, place: RowPlace, shown: str = "") -> None:
        """Count a faulty row."""
        held = self.faults.setdefault(kind, FaultyRows(place, shown))
        held.count += 1


def surveyed(job: DataJob) -> tuple[Survey, ...]:
    """Read all local data a launch names."""
    return tuple(survey(source, job) for source in data_sources(job))


def survey(
    source: DataSource, job: DataJob, budget: SampleBudget | None = None, clock: Clock = monotonic
) -> Survey:
    """Read one source.

    Args:
        source: the file, with the layouts its rows may have.
        job: the launch.
        budget: what is read at most.
        clock: seconds that pass.
    """
    out = Survey(source)
    if source.path is None or source.undefined:
        return out
    form = data_format(job)
    if form is not None:
        out.taken = _not_taken(source.path, form.files, job.version)
        out.within = list_within(source.path)
    if out.taken:
        return out
    reading = _Reading(out, source.path, job, budget or (BRIEF if job.brief else SampleBudget()))
    try:
        plain = form is not None and source.path.suffix in form.plain
        reading.take((read_plain if plain else read_placed)(source.path), clock)
    except NoReaderError as error:
        out.unread = str(error).removeprefix(f"{source.path}: ")
    except UsageError as error:
        out.unreadable = str(error).removeprefix(f"{source.path}: ")
    except (OSError, ValueError, NotImplementedError) as error:
        out.unreadable = f"{type(error).__name__}: {error}"[:200]
    reading.close()
    return out


def _not_taken(path: Path, files: Sequence[FilesTaken], version: str) -> tuple[str, ...]:
    """Give the suffixes a release reads, where that of a file is none of them."""
    known = (item.suffixes for item in files if in_range(version, item.versions) is True)
    taken = next(known, ())
    return () if path.suffix in taken else taken


_OfTasks = TypeVar("_OfTasks", SameKinds, ImagesTaken, LongLeftOut)


def held_by(items: Sequence[_OfTasks], job: DataJob) -> Iterator[_OfTasks]:
    """Give what holds for the task and the release of a launch, where both are known."""
    for item in items:
        known = bool(job.version) and in_range(job.version, item.versions) is True
        if known and job.tells_task and job.task in item.tasks:
            yield item


class _Reading:
    """What is kept while a source is read."""

    def __init__(self, out: Survey, path: Path, job: DataJob, budget: SampleBudget) -> None:
        self._out, self._job, self._budget = out, job, budget
        self._form = data_format(job)
        self._layout: DataLayout | None = None
        self._names = column_names(job)
        self._count, self._exact = token_counter(path, tokenizer_of(job))
        self._limit = job.facts.number("train.max_length")
        self._tally = LengthTally()
        self._longest = 0.0
        self._kinds = KindTally() if path.suffix.lower() in (".json", ".jsonl") else None
        self._cut = cut_on_the_right(job)
        self._lowered: dict[str, str] = {}
        self._needs: tuple[ValueNeed, ...] = ()
        self._plain = self._form is not None and path.suffix in self._form.plain
        self._classes = class_count(job)
        same = "" if self._form is None else self._form.same_prompts
        self._prompted_alike = bool(same) and in_range(job.version, same) is True
        joined = () if self._form is None else self._form.same_kinds
        self._joined = tuple(held_by(joined, job))
        media = job.path(job.text(job.own.image_folder)) if job.own.image_folder else None
        roots = (media, job.folder or Path(), path.parent, Path())
        self._folders = tuple(dict.fromkeys(root for root in roots if root is not None))

    def take(self, rows: Iterable[Placed], clock: Clock) -> None:
        """Read rows until the budget is spent."""
        ends, weight = clock() + self._budget.seconds, 0
        rows = iter(rows)
        first = list(islice(rows, FIRST))
        self._begin([sample for _, sample in first if not isinstance(sample, Bad)])
        rows = chain(first, rows)
        for number, (line, sample) in enumerate(rows, 1):
            place = RowPlace(number, line)
            if isinstance(sample, Bad):
                self._out.note("broken", place, sample.reason)
                continue
            encoded = msgspec.json.encode(sample, enc_hook=str)
            weight += len(encoded)
            self._out.digests.setdefault(hash(encoded), number)
            self._row({self._named(key): value for key, value in sample.items()}, place)
            spent = number >= self._budget.rows or weight >= self._budget.bytes
            if spent or clock() > ends:
                # the last row of the file may be this one: then nothing was left out
                self._out.whole = next(iter(rows), None) is None
                return

    def _named(self, column: str) -> str:
        """Give the name the framework has for a column."""
        mapped = self._names.get(column, column)
        return self._lowered.get(mapped, mapped)

    def close(self) -> None:
        """Work out the statistics."""
        out = self._out
        if self._tally.count:
            broken = out.faults.get("broken")
            skipped = 0 if broken is None else broken.count
            out.stats = token_stats(self._tally, out.source.name, skipped, exact=self._exact)
        if out.images:
            out.pixels /= out.images

    def _row(self, row: Row, place: RowPlace) -> None:
        out, task = self._out, self._job.task
        out.rows += 1
        if self._layout is not None and all(item.kept for item in out.missing):
            for fault in row_faults(row, self._layout, task):
                out.note(fault.kind, place, fault.shown)
        if self._form is not None and not out.within:
            self._values(row, place)
        carried = self._images(row, place)
        self._measure(row, place, carried)

    def _values(self, row: Row, place: RowPlace) -> None:
        """Look at what stands in the columns, whichever they are."""
        out, form = self._out, self._form
        task = self._job.task
        refused = next(refused_values(row, self._needs, task), None)
        if refused is not None:
            out.refused = out.refused or refused
            out.note("value", place, refused.kind)
        changed = None if self._kinds is None else self._kinds.change(row)
        if changed is not None:
            out.note("mixed", place, f"{changed.column}: {changed.before} / {changed.now}")
        if is_same_pair(row):
            out.note("same", place)
        repeated = repeats_prompt(row)
        if repeated:
            out.note("repeated", place, repeated)
        worse = worse_chosen(row)
        if worse:
            out.note("worse", place, worse)
        if self._prompted_alike and is_drifted_pair(row):
            out.note("drifted", place)
        if form is not None and form.classes is not None and task in form.classes.tasks:
            label = row.get(form.classes.column)
            fault = "" if self._classes == 1 else class_fault(label, self._classes)
            if fault:
                out.note(fault, place, "text" if fault == "class-text" else str(label))
        if self._plain and self._is_row(row.get("text")):
            out.note("json", place)
        parts = differing_parts(row, self._joined)
        if parts:
            out.note("parts", place, parts)
        if form is not None and form.rewards is not None and is_unscored(row, form.rewards):
            out.note("unscored", place, str(row[form.rewards.column]))

    def _is_row(self, text: object) -> bool:
        """Tell whether a text is a row the framework would train on, written as JSON."""
        if self._form is None or not isinstance(text, str) or not text.lstrip().startswith("{"):
            return False
        try:
            held = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return False
        layout = layout_for(tuple(held), self._out.source.layouts)
        if layout is None:
            return False
        task = self._job.task
        return next(missing_columns(tuple(held), layout, self._form, task), None) is None

    def _begin(self, samples: Sequence[Row]) -> None:
        """Choose the layout by the columns of the first rows: readers of frameworks join them."""
        out = self._out
        out.first = tuple(samples)
        named = (self._names.get(key, key) for sample in samples for key in sample)
        columns = out.columns = tuple(dict.fromkeys(named))
        if self._form is None:
            return
        known = bool(out.source.layouts) and not out.within
        self._layout = layout_for(columns, out.source.layouts) if known else None
        own = () if self._layout is None else self._layout.values
        self._needs = tuple(
            need
            for need in (*self._form.values, *own)
            if not need.versions or in_range(self._job.version, need.versions) is True
        )
        if self._layout is not None:
            self._lowered = lowered(columns, self._layout)
            columns = out.columns = tuple(self._lowered.get(name, name) for name in columns)
            wanted = missing_columns(columns, self._layout, self._form, self._job.task)
            out.missing = tuple(wanted)
            if out.missing and len(columns) == 1 and out.source.name.lower().endswith(".csv"):
                out.delimiter = next((sign for sign in ";\t|" if sign in columns[0]), "")

    def _measure(self, row: Row, place: RowPlace, images: int) -> None:
        parts = parts_of(row)
        if parts is None:
            return
        tokens = sample_tokens(parts, self._count)
        self._tally.add(tokens, parts, place.row)
        if tokens > self._longest:
            self._longest, self._out.longest = tokens, place
        # an estimate says only of what is far beyond a limit that it is
        if self._limit and tokens * (1.0 if self._exact else SURE) > self._limit:
            self._out.note("long", place, f"{tokens:.0f}")
            asked = tokens - self._count(parts.answer) if parts.answer else 0.0
            if self._cut and asked * (1.0 if self._exact else SURE) > self._limit:
                self._out.note("unanswerable", place, f"{asked:.0f}")
        tag = "" if self._form is None else self._form.image_tag
        placed = parts.tags if tag else 0
        if images and placed and placed != images:
            self._out.note("image-tags", place, f"{placed} / {images}")

    def _images(self, row: Row, place: RowPlace) -> int:
        """Look at the images of a row; give their number."""
        columns = IMAGES if self._layout is None else self._layout.images
        names = image_names(row, columns)
        if names:
            self._out.note("pictured", place)
        for name in names:
            if name is not None and self._out.images < self._budget.images:
                self._image(name, place)
        return len(names)

    def _image(self, name: str, place: RowPlace) -> None:
        out = self._out
        path = find_image(name, self._folders)
        size = None if path is None else image_size(path)
        if path is None:
            out.note("image-gone", place, name)
        elif size is not None and not size.pixels:
            out.note("image-broken", place, name)
        elif size is not None:
            out.images += 1
            out.pixels += size.pixels
            if out.largest_image is None or size.pixels > out.largest_image.pixels:
                out.largest, out.largest_image = place, size


def cut_on_the_right(job: DataJob) -> bool:
    """Tell whether the launch has the end of long samples cut off."""
    how = job.facts.text("train.truncation") or job.text("truncation_strategy")
    return how in ("right", "truncation_right")


def class_count(job: DataJob) -> int | None:
    """Give how many classes a launch has; 1 where its labels are no classes, None if not known."""
    form = data_format(job)
    if form is None or form.classes is None:
        return None
    if job.text(form.classes.problem) not in ("", "single_label_classification"):
        return 1
    count = job.text(form.classes.count)
    return int(count) if count.isdecimal() else None


def column_names(job: DataJob) -> dict[str, str]:
    """Give the names a launch maps columns to, where its release applies them to files."""
    form = data_format(job)
    if form is not None and form.mapping and in_range(job.version, form.mapping) is False:
        return {}
    item = job.arguments.get(job.own.column_names) if job.own.column_names else None
    value = item.value if item is not None and item.known else None
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return {}
    return (
        {str(k): v for k, v in value.items() if isinstance(v, str)}
        if isinstance(value, dict)
        else {}
    )


def tokenizer_of(job: DataJob) -> Path | None:
    """Give the tokenizer of a model that is a folder here, where its library is installed."""
    if find_spec("tokenizers") is None:
        return None
    named = (job.text(name) for name in job.own.model_arguments)
    folder = next((path for name in named if name and (path := job.path(name))), None)
    file = None if folder is None else folder / TOKENIZER
    return file if file is not None and file.is_file() else None
