"""Jobs as rows for other programs: JSON lines, and Parquet through pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import msgspec

from trainrx.fleet.across.runs import failed
from trainrx.fleet.history.store import ToldOutcome
from trainrx.fleet.record import AnswerSummary
from trainrx.model.errors import UsageError

BATCH = 10_000
"""Rows that are held in memory at once."""


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """A job as a row: flat, and always the same columns; times are seconds since the epoch.

    `worked` and `did_not`: changes people say helped, and did not.
    """

    key: str
    name: str
    source: str
    user: str
    partition: str
    nodes: list[str]
    image: str
    state: str
    outcome: str
    verdict: str
    failed: bool
    cause: str
    probability: float | None
    family: str
    framework: str
    versions: list[str]
    stage: str
    place: str
    fingerprint: str
    launch_digest: str
    params: list[str]
    worked: list[str]
    did_not: list[str]
    gpu: str
    gpus: int | None
    gpu_hours: float | None
    started: float | None
    ended: float | None


def rows(answers: Iterable[AnswerSummary], told: Iterable[ToldOutcome]) -> Iterator[JobRow]:
    """Give a row for each job."""
    helped: dict[tuple[str, bool], list[str]] = {}
    for one in told:
        helped.setdefault((one.job, one.worked), []).append(one.param)
    for answer in answers:
        yield _row(answer, helped)


def _row(answer: AnswerSummary, helped: dict[tuple[str, bool], list[str]]) -> JobRow:
    cause, probability = answer.causes[0] if answer.causes else ("", None)
    same = {name: getattr(answer, name) for name in SAME}
    return JobRow(
        **same,
        nodes=list(answer.nodes),
        failed=failed(answer),
        cause=cause,
        probability=probability,
        versions=[f"{package}=={version}" for package, version in answer.versions.items()],
        stage=answer.site.stage,
        place=answer.site.frame or answer.site.collective,
        params=[param for param, _ in answer.changes],
        worked=helped.get((answer.key, True), []),
        did_not=helped.get((answer.key, False), []),
    )


SAME = (
    *("key", "name", "source", "user", "partition", "image", "state", "outcome", "verdict"),
    *("family", "framework", "fingerprint", "launch_digest", "gpu", "gpus", "gpu_hours"),
    *("started", "ended"),
)
"""Columns that are fields of an answer."""


def check_parquet() -> None:
    """Refuse to write Parquet where the library is missing.

    Raises:
        UsageError: pyarrow is not installed.
    """
    if find_spec("pyarrow") is None:
        raise UsageError(
            "--format parquet needs pyarrow, which is not installed: pip install 'trainrx[report]'"
        )


def write_parquet(found: Iterable[JobRow], path: Path) -> None:
    """Write rows to a file, a batch at a time.

    Raises:
        UsageError: the file cannot be written.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = _schema()
    batch: list[dict[str, object]] = []
    try:
        with ParquetWriter(path, schema, compression="zstd") as writer:
            for row in found:
                batch.append(msgspec.structs.asdict(row))
                if len(batch) >= BATCH:
                    writer.write_table(pa.Table.from_pylist(batch, schema))
                    batch.clear()
            writer.write_table(pa.Table.from_pylist(batch, schema))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


def _schema() -> object:
    """Give the columns: types come from the record, so that a fleet of none has them too."""
    import pyarrow as pa

    types = {
        "str": pa.string(),
        "bool": pa.bool_(),
        "list[str]": pa.list_(pa.string()),
        "int | None": pa.int64(),
        "float | None": pa.float64(),
    }
    return pa.schema([(name, types[kind]) for name, kind in JobRow.__annotations__.items()])
