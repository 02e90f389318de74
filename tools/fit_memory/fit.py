"""Least squares on the logarithm of predicted over measured, around what counting gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import memory_pairs
import memory_rows
import msgspec
import numpy as np
from scipy.optimize import least_squares

from trainrx.memory.model import Model, model_of
from trainrx.memory.predict import peak, predict
from trainrx.model.constants import JUDGED, Constants
from trainrx.model.memory import Refusal, Workload

FIXED = (
    "band_allocated",
    "band_reserved",
    "band_card",
    "unreturned",
    "nf4",
    "nf4_single",
    "int4",
    "int8",
)
"""Not fitted here: intervals come after the fit; packed weights are counted, not measured."""
WIDE = 0.35
"""Standard deviation of the logarithm a constant may move from what counting gives."""
OWN_WIDTH = {
    "logit_eager": 0.03,
    "logit_held": 0.03,
    "kept_": 0.05,
    "frozen_kept_": 0.05,
    "lora_input": 0.05,
    "lora_dropped": 0.05,
    "deepspeed_step": 0.05,
    "slack_": 0.8,
    "tower_": 0.8,
    "base_gib": 0.8,
}
"""The same by name: the eager loss was counted on the real model class (`--exact`: 14 bytes with
transformers 4.48, 12 before 4.47 and from 5 on) and read off a card (three fp32 copies); what
layers keep and what a step of DeepSpeed's makes was read off a card between the points of a step
(`phases` of measured rows); of the allocator's reserve counting says nothing."""
NOISE = 0.05
"""Two equal runs differ by so much (memory-physics: 6 % median); the unit of a residual."""
TIERS = {"strict": 1.0, "loose": 0.25}
DIFFERENCE = 0.3
"""Share of its size a difference between two runs may be off by; the unit of its residual, and
below it a residual counts the less the smaller it is: nearer than asked is not worth a figure."""
WEIGHT_OF_DIFFERENCES = 2.0
"""What the differences of a source family count together, beside the 1 of its strict figures."""


class Sample(NamedTuple):
    """One measured figure and the workload it belongs to."""

    work: Workload
    model: Model
    figure: str
    measured: float
    weight: float
    family: str
    name: str
    row: Mapping[str, Any]


def figures_of(row: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Say which figures a row measured: allocated, reserved, card."""
    named = {
        "allocated": row.get("measured_allocated_gib"),
        "reserved": row.get("measured_reserved_gib"),
        "card": row.get("measured_smi_gib"),
    }
    found = [(name, float(value)) for name, value in named.items() if value]
    return found or [("reserved", float(row["measured_gib_per_gpu"]))]


def samples_of(rows: Sequence[Mapping[str, Any]]) -> list[Sample]:
    """Pair measured figures with workloads; a family counts the same however many rows it has."""
    found = []
    for row in rows:
        if row.get("tier") not in TIERS or row.get("suspect"):
            continue
        work = memory_rows.workload_of_row(row)
        model = None if isinstance(work, Refusal) else model_of(work.shape)
        if isinstance(work, Refusal) or model is None:
            continue
        found += [(row, work, model, name, value) for name, value in figures_of(row)]
    count = Counter((row["source_family"], name, row["tier"]) for row, _, _, name, _ in found)
    return [
        Sample(
            work=work,
            model=model,
            figure=name,
            measured=value,
            weight=TIERS[row["tier"]] / count[row["source_family"], name, row["tier"]] ** 0.5,
            family=row["source_family"],
            name=str(row["model"]),
            row=row,
        )
        for row, work, model, name, value in found
    ]


class Step(NamedTuple):
    """Two samples apart by one setting: their places, the measured difference (GiB), its weight."""

    first: int
    second: int
    measured: float
    weight: float


def steps_of(samples: Sequence[Sample]) -> list[Step]:
    """Find the differences by one setting that stand above the noise."""
    places = {(sample.row["id"], sample.figure): at for at, sample in enumerate(samples)}
    rows = {sample.row["id"]: sample.row for sample in samples}
    answers = {sample.row["id"]: predict(sample.work) for sample in samples}
    pairs = [
        pair
        for pair in memory_pairs.pairs_of(rows.values(), answers)
        if pair.counts and all((name, pair.figure) in places for name in pair.rows)
    ]
    count = Counter(pair.family for pair in pairs)
    return [
        Step(
            first=places[pair.rows[0], pair.figure],
            second=places[pair.rows[1], pair.figure],
            measured=pair.measured,
            weight=WEIGHT_OF_DIFFERENCES / count[pair.family] ** 0.5,
        )
        for pair in pairs
    ]


def names() -> list[str]:
    """List the constants that are fitted."""
    return [name for name in Constants.__struct_fields__ if name not in FIXED]


def figures(samples: Sequence[Sample], constants: Constants) -> np.ndarray:
    """Give the predicted figure of each sample, GiB."""
    found = (
        getattr(peak(sample.work, sample.model, constants), sample.figure) for sample in samples
    )
    return np.fromiter(found, dtype=float, count=len(samples))


def errors(samples: Sequence[Sample], constants: Constants) -> np.ndarray:
    """Logarithm of predicted over measured, one per sample."""
    measured = np.array([sample.measured for sample in samples])
    return np.log(np.maximum(figures(samples, constants), 1e-3) / measured)


def fit(samples: Sequence[Sample], start: Constants = JUDGED) -> Constants:
    """Fit all constants at once; each stays near what counting gives unless rows say otherwise."""
    fields = names()
    origin = np.log([getattr(JUDGED, name) for name in fields])
    weights = np.array([sample.weight for sample in samples])
    measured = np.array([sample.measured for sample in samples])
    free = np.array(
        [next((v for k, v in OWN_WIDTH.items() if name.startswith(k)), WIDE) for name in fields]
    )
    steps = steps_of(samples)
    first, second = [step.first for step in steps], [step.second for step in steps]
    apart = np.array([step.measured for step in steps])
    counted = np.array([step.weight for step in steps])

    def residuals(point: np.ndarray) -> np.ndarray:
        found = figures(samples, _with(fields, np.exp(point)))
        away = np.clip(np.log(np.maximum(found, 1e-3) / measured), -1.0, 1.0) / NOISE
        off = np.clip((found[second] - found[first] - apart) / np.abs(apart), -3.0, 3.0)
        off /= DIFFERENCE
        missed = _soft(off) * np.minimum(1.0, np.abs(off))
        return np.concatenate([weights * _soft(away), counted * missed, (point - origin) / free])

    begin = np.log([getattr(start, name) for name in fields])
    found = least_squares(residuals, begin, diff_step=1e-3, max_nfev=40)
    return _with(fields, np.exp(found.x))


def _soft(away: np.ndarray) -> np.ndarray:
    """Let a residual count by its size, not its square, where it is large."""
    return np.asarray(np.sign(away) * np.sqrt(2 * (np.sqrt(1 + away**2) - 1)))


def _with(fields: Sequence[str], values: np.ndarray) -> Constants:
    return msgspec.structs.replace(
        JUDGED, **{name: float(value) for name, value in zip(fields, values, strict=True)}
    )
