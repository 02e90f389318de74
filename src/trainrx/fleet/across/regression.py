"""What tells bad runs from good ones: the first bad version, the first bad line of the launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from packaging.version import InvalidVersion, Version

from trainrx.fleet.across.exact import Stratum, tail
from trainrx.fleet.record import JobAnswer
from trainrx.model.text import Lang

NOT_SET = ""
"""The value of what a run does not set."""
MOST_P = 0.05


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A version or a setting of which bad runs have other values than good ones.

    `good` and `bad` are the values with the number of runs, "" where it is not set. `separates`: no
    value of a bad run is that of a good one. `last_good` and `first_bad` are versions next to each
    other where all newer ones are bad, or all older ones. `p`: probability by chance, corrected for
    all that was compared. `changed`: it is another one in the first bad run than in the last good
    one before it. `place`: file and line of the launch that sets it in the first bad run, else in
    one of the bad runs; "" where none sets it.
    """

    name: str
    is_version: bool
    good: tuple[tuple[str, int], ...]
    bad: tuple[tuple[str, int], ...]
    separates: bool
    p: float
    last_good: str = ""
    first_bad: str = ""
    changed: bool = False
    place: str = ""


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """What was compared and found; `last_good` and `first_bad` are runs, in order of time."""

    schema_version: int = 1
    lang: Lang = "en"
    good: int
    bad: int
    last_good: str = ""
    first_bad: str = ""
    differences: tuple[Difference, ...] = ()


def regression(
    good: Sequence[JobAnswer], bad: Sequence[JobAnswer], lang: Lang = "en"
) -> Regression:
    """Compare runs that went well with runs that did not, what separates them first."""
    turn = _turn(good, bad)
    first = (*turn[1:], *bad) if turn else bad
    found = [
        *_differences(good, bad, [one.versions for one in (*good, *bad)], turn, is_version=True),
        *_differences(good, bad, [_lines(one) for one in (*good, *bad)], turn, is_version=False),
    ]
    corrected = [
        msgspec.structs.replace(one, p=min(1.0, one.p * len(found)), place=_place(one, first))
        for one in found
    ]
    kept = [one for one in corrected if one.separates or one.p <= MOST_P]
    order = sorted(kept, key=lambda one: (not one.separates, not one.changed, one.p, one.name))
    return Regression(
        lang=lang,
        good=len(good),
        bad=len(bad),
        last_good=_called(turn[0]) if turn else "",
        first_bad=_called(turn[1]) if turn else "",
        differences=tuple(order),
    )


def _differences(
    good: Sequence[JobAnswer],
    bad: Sequence[JobAnswer],
    values: Sequence[Mapping[str, str]],
    turn: tuple[JobAnswer, JobAnswer] | None,
    *,
    is_version: bool,
) -> Iterator[Difference]:
    keys = [one.key for one in (*good, *bad)]
    for name in sorted({name for run in values for name in run}):
        # a version that is not known is no version
        had = [run.get(name, NOT_SET) for run in values]
        before, after = had[: len(good)], had[len(good) :]
        if is_version:
            before, after = [v for v in before if v], [v for v in after if v]
        if not (before and after) or set(before) == set(after):
            continue
        by_run = dict(zip(keys, had, strict=True))
        edge = _edge(before, after) if is_version else ("", "")
        yield Difference(
            name=name,
            is_version=is_version,
            good=tuple(Counter(before).most_common()),
            bad=tuple(Counter(after).most_common()),
            separates=not set(before) & set(after),
            p=_chance(before, after),
            last_good=edge[0],
            first_bad=edge[1],
            changed=turn is not None and by_run[turn[0].key] != by_run[turn[1].key],
        )


def _lines(answer: JobAnswer) -> dict[str, str]:
    return dict(line.partition("=")[::2] for line in answer.launch_lines)


def _place(found: Difference, runs: Iterable[JobAnswer]) -> str:
    """Say where the first run that sets it does."""
    for run in () if found.is_version else runs:
        for line, place in zip(run.launch_lines, run.launch_places, strict=False):
            if line.partition("=")[0] == found.name:
                return str(Path(run.folder, place))
    return ""


def _chance(good: Sequence[str], bad: Sequence[str]) -> float:
    """Give how likely chance gives a value of bad runs to so few good ones (Fisher)."""
    total = len(good) + len(bad)
    counts = [(good.count(value) + bad.count(value), bad.count(value)) for value in set(bad)]
    tails = [tail([Stratum(total, len(bad), on, failed_on)]) for on, failed_on in counts]
    return min(1.0, min(tails) * len(tails))


def _edge(good: Iterable[str], bad: Iterable[str]) -> tuple[str, str]:
    """Give the last good and the first bad version, where one side is newer than all of the other.

    "" for both where good and bad ones are mixed.
    """
    try:
        well, ill = (sorted(map(Version, set(one))) for one in (good, bad))
    except InvalidVersion:
        return "", ""
    if well[-1] < ill[0]:
        return str(well[-1]), str(ill[0])
    if ill[-1] < well[0]:
        return str(well[0]), str(ill[-1])
    return "", ""


def _turn(
    good: Sequence[JobAnswer], bad: Sequence[JobAnswer]
) -> tuple[JobAnswer, JobAnswer] | None:
    """Give the first bad run that has a good one before it, and the last of those."""
    timed = [(at, one) for one in (*good, *bad) if (at := one.started or one.ended) is not None]
    ill = {one.key for one in bad}
    ordered = [one for _, one in sorted(timed, key=lambda pair: pair[0])]
    last = None
    for one in ordered:
        if one.key not in ill:
            last = one
        elif last is not None:
            return last, one
    return None


def _called(answer: JobAnswer) -> str:
    return answer.name or answer.key
