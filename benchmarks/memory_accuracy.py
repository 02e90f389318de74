"""Score the memory model on measured jobs, against the accuracy asked of it.

    python benchmarks/memory_accuracy.py ROWS.jsonl [--oom OOM.jsonl] [--by family|model|framework]
        [--rows [N]] [--pairs] [--split model [--folds N]] [--peers] [--page PAGE.md] [--json]

ROWS holds measured jobs, OOM jobs that did not fit their card (format: data/memory/README.md). Each
figure is averaged over source families (`macro`) with the plain average beside it; targets are held
against the macro average. What is scored:

    allocated, reserved or card   rows of tier strict: what torch allocated; what it held or the
                                  card showed (a number whose tool is unknown counts as reserved)
    loose                         rounded numbers
    band                          rows whose length is only capped: is the number in the interval
    fit / no fit                  upper bounds (the job ran on that card) and OOM rows of strong
                                  confidence; the central card figure decides
    verdicts                      what the command line says of every row whose card is known: of
                                  those given how many are wrong, and how often none is given
    one flag                      differences above the noise (3 %, 0.3 GiB, rounding) of two rows
                                  of one group that differ in one setting; `above its noise`: only
                                  where the noise is less than 30 % of the difference; `any group`:
                                  rows of one source and model
    coverage                      rows that got a number

Exit status 2 when a file cannot be scored.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import memory_report as report
import memory_scores as scores
import msgspec
from memory_rows import workload_of_row
from memory_scores import Answer, Row

from trainrx.knowledge.load import load
from trainrx.memory.predict import predict
from trainrx.model.constants import Constants
from trainrx.model.memory import Refusal, Workload

HERE = Path(__file__).resolve().parent
Predictor = Callable[[Workload], Answer]


class BadRowsError(Exception):
    """A file that cannot be scored; the message says why."""


def main() -> int:
    """Score, print, and give the exit status."""
    said = _arguments()
    try:
        rows = read_rows(said.rows_file)
        oom = read_rows(said.oom, fields=("id", "model", "confidence")) if said.oom else []
        answers = predict_all([*rows, *oom], said.split, said.folds)
    except BadRowsError as error:
        print(error, file=sys.stderr)
        return 2
    result = report.score(rows, oom, answers)
    if said.page:
        return _write_page(said.page, result, said)
    if said.json:
        print(json.dumps(report.as_json(result), indent=1, ensure_ascii=False))
    else:
        print("\n".join(_sections(result, said)))
    return 0


def _sections(result: report.Result, said: argparse.Namespace) -> Iterator[str]:
    yield from report.summary(result)
    for name in said.by or ():
        yield from ["", *report.by_group(result, name)]
    if said.pairs:
        yield from ["", *report.pair_lines(result)]
    if said.rows is not None:
        yield from ["", *report.row_lines(result, said.rows)]
    if said.peers:
        yield from ["", *_peers(result)]


def _write_page(page: Path, result: report.Result, said: argparse.Namespace) -> int:
    blocks = {f"held out by {said.split}" if said.split else "figures": report.summary(result)}
    if not said.split:
        blocks["families"] = report.by_group(result, "family")
    if said.peers:
        blocks["peers"] = _peers(result)
    try:
        text = page.read_text(encoding="utf-8")
        for name, block in blocks.items():
            text = report.refreshed(text, name, block)
    except OSError as error:
        print(f"{page}: cannot be read: {error}", file=sys.stderr)
        return 2
    except KeyError as error:
        print(f"{page}: no block <!-- {error.args[0]} --> to write into", file=sys.stderr)
        return 2
    page.write_text(text, encoding="utf-8")
    return 0


def _peers(result: report.Result) -> Iterator[str]:
    import memory_peers  # only this needs them

    return memory_peers.table(result.rows, result.points, memory_peers.read_answers())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("rows_file", type=Path, metavar="ROWS.jsonl")
    parser.add_argument("--oom", type=Path, help="runs that did not fit their card")
    parser.add_argument("--by", choices=("family", "model", "framework"), action="append")
    parser.add_argument(
        "--rows",
        type=int,
        nargs="?",
        const=10**6,
        metavar="N",
        help="the N worst rows (all without N) as tab-separated values, refused rows at the end",
    )
    parser.add_argument("--pairs", action="store_true", help="every one-flag pair, worst first")
    parser.add_argument("--split", choices=("model",), help="constants fitted without the model")
    parser.add_argument("--folds", type=int, default=8, help="of --split")
    parser.add_argument("--peers", action="store_true", help="cached results of other estimators")
    parser.add_argument(
        "--page",
        type=Path,
        help="write the figures into the blocks of this page (memory_accuracy.md) instead",
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def read_rows(
    path: Path, fields: Sequence[str] = ("id", "tier", "source_family", "group", "model")
) -> list[dict[str, Any]]:
    """Read one JSON object per line.

    Raises:
        BadRowsError: the file cannot be read, a line is no object, or lacks one of `fields`.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadRowsError(f"{path}: cannot be read: {error}") from error
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _row(line, f"{path}:{number}", fields)
            row["source_family"] = scores.family_of(row)
            if row["id"] in seen:
                raise BadRowsError(
                    f"{path}:{number}: the id {row['id']!r} is taken by an earlier row"
                )
            seen.add(row["id"])
            rows.append(row)
    if not rows:
        raise BadRowsError(f"{path}: no row; expected one JSON object a line")
    return rows


def _row(line: str, place: str, fields: Sequence[str]) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadRowsError(f"{place}: not JSON ({error}); expected one object a line") from error
    missing = [name for name in fields if not isinstance(row, dict) or name not in row]
    if missing:
        raise BadRowsError(
            f"{place}: a row needs {', '.join(fields)}; missing: {', '.join(missing)}"
        )
    figures = ("measured_gib_per_gpu", *scores.MEASURED.values(), "capacity_gib")
    for name in figures:
        value = row.get(name)
        if value is not None and (not isinstance(value, int | float) or value <= 0):
            raise BadRowsError(f"{place}: {name} is {value!r}; expected GiB above 0, or null")
    return dict(row)


def predict_all(rows: Sequence[Row], split: str | None, folds: int) -> dict[str, Answer]:
    """Predict each row, with the built-in constants or with ones fitted on other models' rows."""
    if split is None:
        fitted = partial(predict, constants=load().memory)
        return {row["id"]: answer_of(row, fitted) for row in rows}
    fitted_on = _fitter()
    answers = {}
    for fold in scores.folds(rows, folds):
        held = {row["id"] for row in fold}
        seen = [row for row in rows if row["id"] not in held and row.get("tier")]
        fitted = partial(predict, constants=fitted_on(seen))
        answers |= {row["id"]: answer_of(row, fitted) for row in fold}
    return answers


def _fitter() -> Callable[[Sequence[Row]], Constants]:
    """Give what fits constants to rows, the widening for lengths nobody knows among them."""
    sys.path.insert(0, str(HERE.parent / "tools"))
    try:
        from fit_memory.__main__ import band_varied  # needs numpy and scipy
        from fit_memory.fit import fit, samples_of
    except ImportError as error:
        raise BadRowsError(f"--split fits constants, which needs {error.name}: {error}") from error

    def fitted_on(rows: Sequence[Row]) -> Constants:
        found = fit(samples_of(rows))
        return msgspec.structs.replace(found, band_varied=band_varied(rows, found))

    return fitted_on


def answer_of(row: Row, predictor: Predictor) -> Answer:
    """Predict one row; what cannot be turned into a workload is a refusal too."""
    workload = workload_of_row(row)
    return workload if isinstance(workload, Refusal) else predictor(workload)


if __name__ == "__main__":
    raise SystemExit(main())
