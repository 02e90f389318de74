"""How long the samples of a data set are: token statistics, measured or published."""

from __future__ import annotations

from typing import Literal

import msgspec


class TokenStats(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of the samples of some data, and what else a sample carries.

    `how`: tokenizer (counted), characters (estimated from the script of the text), published (a
    table of the framework's makers). Percentiles are None where only moments are known. `images`,
    `videos` and `audios` are the mean number a sample carries; None where it cannot be told.
    `pair` tells that a sample is two answers to one prompt, and `mean` is that of one of them with
    its prompt. `images_counted`: the tokens images become are among them. `unread` counts samples
    that could not be read.
    """

    count: int | None = None
    mean: float
    std: float = 0.0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None
    images: float | None = None
    videos: float | None = None
    audios: float | None = None
    pair: bool = False
    images_counted: bool = False
    how: Literal["tokenizer", "characters", "published"] = "characters"
    source: str = ""
    unread: int = 0


class Dataset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Published token statistics of a data set: `id`, its further names, and per-sample tokens.

    The counts are those of one tokenizer (`tokenizer`); another gives a few per cent more or less.
    """

    id: str
    aliases: tuple[str, ...] = ()
    mean: float
    std: float
    min: float | None = None
    max: float | None = None
    samples: int | None = None
    tokenizer: str = ""
    source: str
