"""How long the samples of a launch are and how large its images, out of what was surveyed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import msgspec

from trainrx.data.survey import Survey
from trainrx.model.hardware import TokenStats


def train_stats(surveys: Sequence[Survey]) -> TokenStats | None:
    """Join the statistics of all data that is trained on; None where nothing of it was read."""
    read = [item for item in surveys if item.source.split == "train" and item.stats is not None]
    found = [_of_survey(item) for item in read]
    if not found:
        return None
    return found[0] if len(found) == 1 else _joined(found)


def _of_survey(item: Survey) -> TokenStats:
    """Add to the lengths of a source where the longest is, and its images."""
    stats = item.stats or TokenStats(mean=0.0)
    seen = item.largest_image
    return msgspec.structs.replace(
        stats,
        longest_row=None if item.longest is None else item.longest.row,
        pixels=None if seen is None else item.pixels,
        pixels_max=None if seen is None else float(seen.pixels),
    )


def _joined(found: Sequence[TokenStats]) -> TokenStats:
    """Join statistics: moments by the law of total variance, quantiles by the longest source."""
    longest = max(found, key=lambda item: item.max or 0.0)
    mean = _mean(found, lambda item: item.mean) or 0.0
    spread = _mean(found, lambda item: item.std**2 + (item.mean - mean) ** 2) or 0.0
    largest = [item.pixels_max for item in found if item.pixels_max is not None]
    return msgspec.structs.replace(
        longest,
        count=sum(item.count or 0 for item in found),
        mean=mean,
        std=sqrt(spread),
        images=_mean(found, lambda item: item.images),
        videos=_mean(found, lambda item: item.videos),
        audios=_mean(found, lambda item: item.audios),
        pixels=_mean(found, lambda item: item.pixels),
        pixels_max=max(largest, default=None),
        unread=sum(item.unread for item in found),
        # a row counts in its own file
        longest_row=None,
        source=", ".join(dict.fromkeys(item.source for item in found)),
    )


def _mean(found: Sequence[TokenStats], value: Callable[[TokenStats], float | None]) -> float | None:
    """Give the mean over all samples of those sources that have the value."""
    known = [(held, item.count or 1) for item in found if (held := value(item)) is not None]
    return sum(held * count for held, count in known) / sum(n for _, n in known) if known else None
