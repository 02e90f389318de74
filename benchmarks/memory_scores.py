"""What predictions of memory are worth against measured rows: pure functions on rows and answers.

A row is a measured job (`data/memory/README.md` has the format), an answer what `predict` made of
it. A row gives one point per figure that was measured; the averages are taken over source families
first, since some sources hold hundreds of rows of the same few models.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, NamedTuple

from trainrx.memory.predict import verdict
from trainrx.model.memory import Figure, Prediction, Refusal

Row = Mapping[str, Any]
Answer = Prediction | Refusal
Answers = Mapping[str, Answer]

MEASURED = {
    "allocated": "measured_allocated_gib",
    "reserved": "measured_reserved_gib",
    "card": "measured_smi_gib",
}
CARDS_GIB = (8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 141, 180)
"""What cards are sold with. A job whose card is not named ran on the smallest that holds it."""
_VARIANT = re.compile(
    r"gptq|awq|int[48]|bnb|4bit|8bit|nf4|fp8|hf|chat|instruct|it|base|v\d(?:\.\d)?|\d{4}"
)
_CARD_SIZE = re.compile(r"(?<![\w.])(\d{1,3})(?: ?G|GB|GiB)\b")


class Point(NamedTuple):
    """One measured figure of a row and what was predicted for it, GiB per GPU."""

    row: str
    tier: str
    family: str
    figure: str
    measured: float
    predicted: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Give the signed error as a share of what was measured."""
        return self.predicted / self.measured - 1

    def within(self, share: float) -> bool:
        """Tell whether the error is at most this share of what was measured."""
        return abs(self.error) <= share

    @property
    def contained(self) -> bool:
        """Tell whether the predicted interval holds what was measured."""
        return self.low <= self.measured <= self.high


class Verdict(NamedTuple):
    """Whether a job fitted a card, and what was said of it; sizes in GiB."""

    row: str
    family: str
    capacity: float
    fitted: bool
    said: Literal["fits", "tight", "cannot-say", "does-not-fit"]
    central_fits: bool

    @property
    def right(self) -> bool:
        """Judge with the central figure, which always says something."""
        return self.central_fits == self.fitted

    @property
    def given(self) -> bool:
        """Tell whether the interval lies on one side of the card."""
        return self.said in ("fits", "does-not-fit")

    @property
    def wrong(self) -> bool:
        """Tell whether the verdict that was given is not so."""
        return self.said == ("does-not-fit" if self.fitted else "fits")


class Average(NamedTuple):
    """A mean over families of each family's mean, and the plain mean of the same `n` values."""

    macro: float
    plain: float
    n: int
    families: int


def average(values: Iterable[tuple[str, float]]) -> Average | None:
    """Average values by family, then families; None when there is no value at all."""
    by_family: dict[str, list[float]] = {}
    for family, value in values:
        by_family.setdefault(family, []).append(value)
    if not by_family:
        return None
    plain = [value for members in by_family.values() for value in members]
    macro = fmean(fmean(members) for members in by_family.values())
    return Average(macro, fmean(plain), len(plain), len(by_family))


def figures_of(row: Row) -> dict[str, float]:
    """Give the measured figures of a row by name, GiB per GPU.

    A number whose tool nobody wrote down counts as reserved: it is what trainers log, and lies
    between the other two. A number known to be one of the three is never taken for another.
    """
    found = {name: float(row[key]) for name, key in MEASURED.items() if row.get(key) is not None}
    if not found and row.get("measured_gib_per_gpu") is not None:
        found["reserved"] = float(row["measured_gib_per_gpu"])
    return found


def points_of(rows: Iterable[Row], answers: Answers) -> list[Point]:
    """Pair what was measured with what was predicted; a refused row gives no point."""
    points = []
    for row in rows:
        answer = answers[row["id"]]
        if isinstance(answer, Prediction):
            points += [
                _point(row, name, measured, getattr(answer, name))
                for name, measured in figures_of(row).items()
            ]
    return points


def _point(row: Row, name: str, measured: float, figure: Figure) -> Point:
    return Point(
        row=row["id"],
        tier=row["tier"],
        family=family_of(row),
        figure=name,
        measured=measured,
        predicted=figure.gib,
        low=figure.low,
        high=figure.high,
    )


TORCH_SEES = 0.985
"""Share of a card's nominal size torch can have: 39.4 of 40 GiB, 23.6 of 24, 78.8 to 79.3 of 80
(kb/gpus.yaml)."""


def family_of(row: Row) -> str:
    """Name the source a row is averaged with; runs that did not fit have only their framework."""
    return str(row.get("source_family") or f"oom/{row.get('framework', '')}")


def capacity_of(row: Row) -> float | None:
    """Give the size of the card a job ran on, or failed on, in GiB.

    The row says it (`capacity_gib`), or the card's name does, or the number itself is a card's size
    (`8 * 80GiB` is how scripts name the cards they were run on); else the smallest card that holds
    what was measured.
    """
    if row.get("capacity_gib") is not None:
        return float(row["capacity_gib"]) * TORCH_SEES
    named = _CARD_SIZE.search(str(row.get("gpu") or "").replace("-", " "))
    measured = row.get("measured_gib_per_gpu")
    if named and (measured is None or float(named[1]) >= measured):
        return float(named[1])
    if measured is None:
        return None
    if row.get("quality") == "upper_bound":
        return float(measured)
    return next((float(size) for size in CARDS_GIB if size >= measured), None)


def verdict_of(row: Row, answer: Answer, *, fitted: bool) -> Verdict | None:
    """Compare the predicted card figure with the card; None for a refusal or an unknown card."""
    capacity = capacity_of(row)
    if capacity is None or isinstance(answer, Refusal):
        return None
    said = verdict(answer.card, answer.least_gib, capacity) or "tight"
    return Verdict(row["id"], family_of(row), capacity, fitted, said, answer.need_gib <= capacity)


def mean_error(points: Iterable[Point]) -> Average | None:
    """Average the absolute errors (MAPE)."""
    return average((point.family, abs(point.error)) for point in points)


def share_within(points: Iterable[Point], share: float) -> Average | None:
    """Average how many errors are at most `share`."""
    return average((point.family, float(point.within(share))) for point in points)


def share_contained(points: Iterable[Point]) -> Average | None:
    """Average how many intervals hold what was measured."""
    return average((point.family, float(point.contained)) for point in points)


def interval_width(points: Iterable[Point]) -> Average | None:
    """Average the width of the intervals, as a share of their central figure."""
    return average(
        (point.family, (point.high - point.low) / point.predicted)
        for point in points
        if point.predicted > 0
    )


def share_right(verdicts: Iterable[Verdict]) -> Average | None:
    """Average how many jobs the central figure puts on the right side of their card."""
    return average((item.family, float(item.right)) for item in verdicts)


def share_wrong_fits(verdicts: Iterable[Verdict]) -> Average | None:
    """Average how many of the jobs that did not fit the central figure says to fit."""
    return average((item.family, float(item.central_fits)) for item in verdicts if not item.fitted)


def share_wrong(verdicts: Iterable[Verdict]) -> Average | None:
    """Average how many of the verdicts that were given are wrong."""
    return average((item.family, float(item.wrong)) for item in verdicts if item.given)


def share_wrong_no(verdicts: Iterable[Verdict]) -> Average | None:
    """Average how many of the verdicts that were given deny a job that ran its card."""
    given = (item for item in verdicts if item.given)
    return average((item.family, float(item.wrong and item.fitted)) for item in given)


def share_open(verdicts: Iterable[Verdict]) -> Average | None:
    """Average how often the interval lies on both sides of the card, and no verdict is given."""
    return average((item.family, float(not item.given)) for item in verdicts)


def share_predicted(rows: Iterable[Row], answers: Answers) -> Average | None:
    """Average how many rows got a number."""
    return average(
        (family_of(row), float(isinstance(answers[row["id"]], Prediction))) for row in rows
    )


def refusals(rows: Iterable[Row], answers: Answers) -> list[tuple[str, int]]:
    """Count why rows got no number, most frequent first, as `kind: id`."""
    found = Counter(
        f"{answer.kind}: {answer.id}"
        for answer in (answers[row["id"]] for row in rows)
        if isinstance(answer, Refusal)
    )
    return found.most_common()


def grouped(
    points: Sequence[Point], key: Callable[[Point], str]
) -> list[tuple[str, int, float, float, float]]:
    """Give per group: name, points, mean absolute error, mean signed error, share within 15 %."""
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(key(point), []).append(point)
    return [
        (
            name,
            len(members),
            fmean(abs(point.error) for point in members),
            fmean(point.error for point in members),
            fmean(float(point.within(0.15)) for point in members),
        )
        for name, members in sorted(groups.items())
    ]


def folds(rows: Sequence[Row], number: int) -> list[list[Row]]:
    """Deal rows into folds so that all rows of one model are in the same one.

    Sizes, releases and quantised copies of other people are the same model only when their name
    without owner, quantisation and `chat` is the same. Models are dealt by falling number of rows,
    each to the smallest fold, so that the folds hold about as many rows.
    """
    models: dict[str, list[Row]] = {}
    for row in rows:
        models.setdefault(base_model(str(row.get("model"))), []).append(row)
    dealt: list[list[Row]] = [[] for _ in range(max(2, min(number, len(models))))]
    for _, members in sorted(models.items(), key=lambda item: (-len(item[1]), item[0])):
        min(dealt, key=len).extend(members)
    return [fold for fold in dealt if fold]


def base_model(name: str) -> str:
    """Reduce a model id to its name without owner, quantisation, tuning and date."""
    words = re.split(r"[-_]", name.rsplit("/", 1)[-1].lower())
    return "-".join(word for word in words if word and not _VARIANT.fullmatch(word))
