"""The tables of `memory_accuracy.py`: figures beside their targets, rows, pairs, groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import memory_pairs
import memory_scores as scores
from memory_scores import Answer, Answers, Average, Point, Row

from trainrx.model.memory import Prediction, Refusal

TIERS = ("strict", "loose", "exact_len_unknown", "inequality", "infer", "other")


class Line(NamedTuple):
    """One figure of the report, a share, with what is asked of it."""

    name: str
    value: Average | None
    target: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        """Tell whether the macro average reaches the target; None without target or value."""
        if self.value is None or self.target is None:
            return None
        return self.value.macro <= self.target if self.at_most else self.value.macro >= self.target


class Result(NamedTuple):
    """Everything that is known once all rows are predicted."""

    rows: Sequence[Row]
    oom: Sequence[Row]
    left_out: int
    answers: Answers
    points: Sequence[Point]
    verdicts: Sequence[scores.Verdict]
    every: Sequence[scores.Verdict]
    pairs: Sequence[memory_pairs.Pair]
    wide_pairs: Sequence[memory_pairs.Pair]

    def predicted(self, row: str) -> Prediction:
        """Give the prediction of a row that has a point."""
        answer = self.answers[row]
        if isinstance(answer, Refusal):
            raise KeyError(row)
        return answer

    def of(self, tier: str, *figures: str) -> list[Point]:
        """Give the points of a tier, of these figures or all."""
        return [
            point
            for point in self.points
            if point.tier == tier and (not figures or point.figure in figures)
        ]


def score(rows: Sequence[Row], oom: Sequence[Row], answers: Mapping[str, Answer]) -> Result:
    """Pair rows with answers in all the ways they are judged.

    Rows whose number contradicts physics (`suspect`) and failures whose cause nobody recorded are
    left out.
    """
    sound = [row for row in rows if not row.get("suspect")]
    failed = [row for row in oom if row["confidence"] == "strong"]
    ran = _verdicts(sound, answers, fitted=True)
    bounds = {row["id"] for row in sound if row["tier"] == "inequality"}
    fell = _verdicts(failed, answers, fitted=False)
    return Result(
        rows=sound,
        oom=failed,
        left_out=len(rows) - len(sound),
        answers=answers,
        points=scores.points_of(sound, answers),
        verdicts=[*(verdict for verdict in ran if verdict.row in bounds), *fell],
        every=[*ran, *fell],
        pairs=memory_pairs.pairs_of(sound, answers),
        wide_pairs=memory_pairs.pairs_of(sound, answers, _family_and_model),
    )


def _verdicts(
    rows: Iterable[Row], answers: Mapping[str, Answer], *, fitted: bool
) -> list[scores.Verdict]:
    found = (scores.verdict_of(row, answers[row["id"]], fitted=fitted) for row in rows)
    return [verdict for verdict in found if verdict is not None]


def _family_and_model(row: Row) -> str:
    return f"{row['source_family']}: {row['model']}"


def lines(result: Result) -> list[Line]:
    """Give every figure with its target."""
    allocated = result.of("strict", "allocated")
    held = result.of("strict", "reserved", "card")
    loose, capped = result.of("loose"), result.of("exact_len_unknown")
    pairs, wide, verdicts = result.pairs, result.wide_pairs, result.verdicts
    above = [pair for pair in pairs if pair.resolved]
    return [
        Line("allocated, strict: mean error", scores.mean_error(allocated), 0.06, at_most=True),
        Line("allocated, strict: within 15 %", scores.share_within(allocated, 0.15), 0.88),
        Line("reserved or card, strict: mean error", scores.mean_error(held), 0.11, at_most=True),
        Line("reserved or card, strict: within 15 %", scores.share_within(held, 0.15), 0.78),
        Line("loose: within 25 %", scores.share_within(loose, 0.25), 0.75),
        Line("length unknown: interval holds it", scores.share_contained(capped), 0.85),
        Line("length unknown: within 20 %", scores.share_within(capped, 0.20)),
        Line("length unknown: width of interval", scores.interval_width(capped)),
        Line("fit / no fit: right", scores.share_right(verdicts), 0.92),
        Line("fit / no fit: wrong 'fits'", scores.share_wrong_fits(verdicts), 0.04, at_most=True),
        Line("verdicts: wrong", scores.share_wrong(result.every), 0.04, at_most=True),
        Line(
            "verdicts: wrong 'does not fit'",
            scores.share_wrong_no(result.every),
            0.02,
            at_most=True,
        ),
        Line("verdicts: none given", scores.share_open(result.every)),
        Line("one flag: sign", memory_pairs.share_sign(pairs), 0.95),
        Line("one flag: size within 30 %", memory_pairs.share_size(pairs, 0.30), 0.78),
        Line("one flag: the same, above its noise", memory_pairs.share_size(above, 0.30)),
        Line("one flag: size within 15 %", memory_pairs.share_size(pairs, 0.15)),
        Line("one flag: no change kept none", memory_pairs.share_flat(pairs)),
        Line("one flag, any group: sign", memory_pairs.share_sign(wide)),
        Line("one flag, any group: size within 30 %", memory_pairs.share_size(wide, 0.30)),
        Line("coverage, strict", _coverage(result, "strict"), 0.85),
        Line("coverage, loose", _coverage(result, "loose"), 0.70),
        Line("coverage, length unknown", _coverage(result, "exact_len_unknown")),
        Line("coverage, fit / no fit", _coverage(result, "inequality", failed=True)),
    ]


def _coverage(result: Result, tier: str, *, failed: bool = False) -> Average | None:
    rows = [row for row in result.rows if row["tier"] == tier]
    return scores.share_predicted([*rows, *result.oom] if failed else rows, result.answers)


def summary(result: Result) -> Iterator[str]:
    """Print the figures beside their targets, and why rows got no number."""
    yield f"{'figure':40s}{'macro':>9s}{'plain':>9s}{'n':>6s}{'families':>10s}  target"
    for line in lines(result):
        yield _line(line)
    yield ""
    for tier in TIERS:
        rows = [row for row in result.rows if row["tier"] == tier]
        if rows:
            yield _reasons(tier, rows, result.answers)
    if result.oom:
        yield _reasons("did not fit", result.oom, result.answers)
    if result.left_out:
        yield f"left out: {result.left_out} rows whose number contradicts physics (suspect)"


def _line(line: Line) -> str:
    if line.value is None:
        return f"{line.name:40s}{'-':>9s}{'-':>9s}{0:6d}"
    value = line.value
    text = f"{line.name:40s}{value.macro:9.1%}{value.plain:9.1%}{value.n:6d}{value.families:10d}"
    if line.target is None:
        return text
    asked = f"{'<=' if line.at_most else '>='} {line.target:.0%}"
    return f"{text}  {asked} {'met' if line.met else 'missed'}"


def _reasons(tier: str, rows: Sequence[Row], answers: Answers) -> str:
    refused = scores.refusals(rows, answers)
    number = len(rows) - sum(count for _, count in refused)
    reasons = ", ".join(f"{name} {count}" for name, count in refused)
    return f"{tier}: {number} of {len(rows)} predicted{'; no number: ' if reasons else ''}{reasons}"


def by_group(result: Result, name: str) -> Iterator[str]:
    """Print errors by family, model or framework: strict and loose rows."""
    key = {"family": "source_family", "model": "model", "framework": "framework"}[name]
    names = {row["id"]: str(row.get(key)) for row in result.rows}
    parts: tuple[tuple[str, list[Point]], ...] = (
        ("allocated, strict", result.of("strict", "allocated")),
        ("reserved or card, strict", result.of("strict", "reserved", "card")),
        ("loose", result.of("loose")),
        ("length unknown", result.of("exact_len_unknown")),
    )
    for title, points in parts:
        yield f"{title:50s}{'n':>5s}{'error':>8s}{'bias':>8s}{'<= 15 %':>9s}"
        for group in scores.grouped(points, lambda point: names[point.row]):
            label, number, error, bias, within = group
            yield f"  {label[:47]:48s}{number:5d}{error:8.1%}{bias:+8.1%}{within:9.0%}"


def row_lines(result: Result, most: int) -> Iterator[str]:
    """Print points as tab-separated values, worst first, then the refused rows."""
    yield "id\ttier\tfamily\tfigure\tmeasured\tpredicted\terror\tlow\thigh\tpeak\tterms"
    ordered = sorted(result.points, key=lambda point: -abs(point.error))
    for point in ordered[:most]:
        answer = result.predicted(point.row)
        yield (
            f"{point.row}\t{point.tier}\t{point.family}\t{point.figure}\t{point.measured:.2f}"
            f"\t{point.predicted:.2f}\t{point.error:+.1%}\t{point.low:.2f}\t{point.high:.2f}"
            f"\t{answer.peak}\t{main_terms(answer)}"
        )
    for verdict in result.verdicts:
        if not verdict.right:
            yield (
                f"{verdict.row}\t{'inequality' if verdict.fitted else 'oom'}\t{verdict.family}"
                f"\tcapacity\t{verdict.capacity:.2f}\t{result.predicted(verdict.row).card.gib:.2f}\t{verdict.said}"
            )
    for row in [*result.rows, *result.oom][: most if most < len(result.rows) else None]:
        answer = result.answers[row["id"]]
        if isinstance(answer, Refusal):
            tier = row.get("tier", "oom")
            yield f"{row['id']}\t{tier}\t{scores.family_of(row)}\tnone\t\t\t\t\t\t\t{answer.reason}"


def main_terms(answer: Prediction, most: int = 5) -> str:
    """Name the largest terms of the peak phase, GiB."""
    peak = next((use for use in answer.phases if use.phase == answer.peak), None)
    if peak is None:
        return ""
    terms = sorted(peak.terms, key=lambda term: -term.gib)[:most]
    return ", ".join(f"{term.name} {term.gib:.2f}" for term in terms)


def pair_lines(result: Result) -> Iterator[str]:
    """Print the one-flag pairs above the noise as tab-separated values, worst first."""
    yield "setting\tfrom\tto\tfigure\tmeasured\tpredicted\tfamily\tfirst\tsecond"

    def apart(pair: memory_pairs.Pair) -> float:
        return -abs(pair.predicted - pair.measured) / abs(pair.measured)

    for pair in sorted((pair for pair in result.wide_pairs if pair.counts), key=apart):
        yield (
            f"{pair.setting}\t{pair.values[0]}\t{pair.values[1]}\t{pair.figure}"
            f"\t{pair.measured:+.2f}\t{pair.predicted:+.2f}\t{pair.family}"
            f"\t{pair.rows[0]}\t{pair.rows[1]}"
        )


def as_json(result: Result) -> dict[str, Any]:
    """Give the whole result as plain values."""
    return {
        "figures": [
            {
                "name": line.name,
                "value": line.value and line.value._asdict(),
                "target": line.target,
                "at_most": line.at_most,
                "met": line.met,
            }
            for line in lines(result)
        ],
        "refused": {
            row["id"]: answer.id
            for row in [*result.rows, *result.oom]
            if isinstance(answer := result.answers[row["id"]], Refusal)
        },
        "points": [point._asdict() for point in result.points],
        "verdicts": [verdict._asdict() for verdict in result.verdicts],
        "pairs": [pair._asdict() for pair in result.pairs],
        "wide_pairs": [pair._asdict() for pair in result.wide_pairs],
    }


def refreshed(page: str, name: str, text: Iterable[str]) -> str:
    """Put new lines between the markers of a block of a page.

    Raises:
        KeyError: the page has no such block.
    """
    begin, end = f"<!-- {name} -->\n```\n", f"```\n<!-- /{name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise KeyError(name)
    body = "".join(f"{line}\n" for line in text)
    return f"{before}{begin}{body}{end}{after}"
