"""How long the samples are: exactly, by the limit, or from what is known of the data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainrx.memory.job import LARGEST, ONLINE, PAIRS, TrainingJob
from trainrx.model.hardware import Dataset, TokenStats
from trainrx.model.memory import Length, Refusal, Workload

SPREAD = 4.0
"""A run's peak is its longest batch: so many standard deviations above the mean, as far as the
longest sample and the limit allow. Of the published tables the longest sample lies 4.5 standard
deviations above the mean for 740 of 52 000 tokens (alpaca-en), 4.3 for LaTeX_OCR."""
UNTOLD = 0.1
"""Share of the limit that is the lower bound where nothing is known of the data."""
MOST = 32768
"""No sample is taken to be longer where neither a limit nor the data tells."""
SHORT, USUAL = 128.0, 2048.0
"""Tokens of a sample where nothing tells: the least, and what is likeliest."""
PROMPT = 256.0
"""Tokens of a prompt in online training where nothing tells more than the limit of the prompt."""
QWEN_VL_IMAGE = 256
HALF = 512
"""Tokens of a prompt, and of an answer, where each has a limit."""
_SUBSET = re.compile(r"(?:::?[\w./-]+)?(?:#\d+)?$")
_SAMPLES = re.compile(r"#(\d{1,9})$")


def length_of(
    job: TrainingJob, work: Workload, own: TokenStats | None, datasets: Sequence[Dataset]
) -> Length | Refusal:
    """Give the length of one sample, images included; a pair counts both its sequences."""
    dynamic = _dynamic(job)
    if dynamic is not None:
        return dynamic
    stats = own or published(job.facts.text("train.dataset") or "", datasets)
    if job.task in ONLINE:
        return _online(job, work, stats)
    cap = _limit(job)
    if stats is not None or cap is not None:
        job.understood.add("length")
    # where nothing is cut, what the model could take says nothing
    uncut = job.framework.never_cuts or work.shape.max_positions is None
    if cap is None and stats is None and uncut:
        return job.unknown("length-unknown", "train.max_length", "train.dataset")
    if job.is_on("train.packing") and cap is not None:
        return _pairs(job, exact(cap))
    return _pairs(job, _supervised(job, work, stats, cap))


def exact(tokens: float) -> Length:
    """Give the length of samples that are all as long."""
    return Length(low=tokens, typical=tokens, high=tokens, how="exact")


def _dynamic(job: TrainingJob) -> Length | None:
    """Micro-batches filled up to a number of tokens: one long sequence without padding."""
    if job.framework.dynamic_by_longest and job.is_on("train.dynamic_batch"):
        prompt = job.positive("rlhf.max_prompt_length")
        completion = job.positive("rlhf.max_completion_length")
        return exact(float(prompt + completion)) if prompt and completion else None
    tokens = job.positive("train.max_tokens_per_gpu")
    if not job.is_on("train.dynamic_batch") or tokens is None:
        return None
    group = job.degree("parallel.sequence") if job.framework.tokens_per_gpu else 1
    return exact(float(tokens) * group)


def _limit(job: TrainingJob) -> float | None:
    cap = job.positive("train.max_length")
    if cap is None and job.release(job.framework.length_halves):
        halves = ("rlhf.max_prompt_length", "rlhf.max_completion_length")
        cap = sum(job.positive(half) or HALF for half in halves)
    return None if cap is None else float(cap)


def _supervised(
    job: TrainingJob, work: Workload, stats: TokenStats | None, cap: float | None
) -> Length:
    if stats is None:
        return _capped(job, work, cap)
    extra, most = _image_tokens(work, stats)
    # what a caller hands over may not add up: nothing is shorter than a token or the mean
    low = max(1.0, stats.mean + extra)
    longest = max(low, (stats.max or stats.mean + 2 * SPREAD * stats.std) + most)
    high = longest if cap is None else min(cap, longest)
    typical = max(low, _typical(stats, work, extra))
    _name_source(job, stats)
    return Length(
        low=min(high, low),
        typical=min(high, typical),
        high=high,
        how="data",
        source=stats.source,
    )


def _typical(stats: TokenStats, work: Workload, extra: float) -> float:
    """Give the tokens per sample of the longest micro-batch a run is likely to see.

    Padded, every sample of it is as long as its longest. Without padding only one is.
    """
    peak = stats.mean + SPREAD * stats.std
    if stats.max is not None:
        peak = min(peak, stats.max)
    if stats.p99 is not None:
        # where quantiles are known, they come before a guess from two moments
        peak = min(max(stats.p99, peak), stats.max or peak)
    if work.padding_free and work.micro_batch > 1:
        peak = (peak + (work.micro_batch - 1) * stats.mean) / work.micro_batch
    return peak + extra


def _capped(job: TrainingJob, work: Workload, cap: float | None) -> Length:
    if cap is None:
        return _unlimited(job, float(min(work.shape.max_positions or MOST, MOST)))
    job.assume("length-cap", "train.dataset", tokens=f"{cap:.0f}")
    return Length(low=max(1.0, UNTOLD * cap), typical=cap, high=cap, how="cap")


def _unlimited(job: TrainingJob, most: float) -> Length:
    """Give all lengths a model takes: nothing tells which of them occur."""
    by = job.opened("length")
    ident, values = ("open-length", {"by": by}) if by else ("length-unlimited", {})
    usual = min(USUAL, most)
    values |= {"tokens": f"{most:.0f}", "usual": f"{usual:.0f}"}
    job.leave_open("length", ident, "train.max_length", **values)
    return Length(low=min(SHORT, most), typical=usual, high=most, how="cap")


def _image_tokens(work: Workload, stats: TokenStats) -> tuple[float, float]:
    """Count the tokens images of a sample become, and at most; 0 where they are counted."""
    images, tower = work.images, work.shape.tower
    if images is None or tower is None or stats.images_counted:
        return 0.0, 0.0
    if tower.tokens_per_image is not None:
        tokens = images.per_sample * images.frames * tower.tokens_per_image
        return tokens, tokens
    pixels = images.pixels or 0.0
    per_token = float(tower.patch * tower.merge) ** 2
    frames = max(1.0, images.frames / tower.temporal_patch) * images.per_sample
    return pixels * frames / per_token, max(pixels, images.pixels_max or 0.0) * frames / per_token


def _online(job: TrainingJob, work: Workload, stats: TokenStats | None) -> Length | Refusal:
    """Prompt and completion; the completion reaches its limit sooner or later."""
    limit = _limit(job)
    if job.framework.limits_total and limit is not None:
        return _capped(job, work, limit)
    prompt = job.positive("rlhf.max_prompt_length")
    before = float(prompt) if prompt is not None else limit
    completion = job.positive("rlhf.max_completion_length")
    if completion is None:
        if before is None and not job.framework.completion_default:
            return job.unknown("length-unknown", "rlhf.max_completion_length", "train.max_length")
        return _capped(job, work, before)
    job.assume("completion-cap", "rlhf.max_completion_length", tokens=str(completion))
    known = _prompt(job, work, stats, before)
    return Length(
        low=UNTOLD * completion + known.low,
        typical=completion + known.typical,
        high=completion + known.high,
        how=known.how,
        source=known.source,
    )


def _prompt(
    job: TrainingJob, work: Workload, stats: TokenStats | None, cap: float | None
) -> Length:
    """Give the length of a prompt; its limit is seldom reached, so it is no guess of it."""
    if stats is not None:
        return _supervised(job, work, stats, cap)
    guess = PROMPT + _image_tokens(work, _NO_TEXT)[0]
    high = guess if cap is None else cap
    return Length(low=min(PROMPT, high), typical=min(guess, high), high=high)


_NO_TEXT = TokenStats(mean=0.0)


def _pairs(job: TrainingJob, length: Length) -> Length:
    if job.task not in PAIRS:
        return length
    return Length(
        low=2 * length.low,
        typical=2 * length.typical,
        high=2 * length.high,
        how=length.how,
        source=length.source,
    )


def _name_source(job: TrainingJob, stats: TokenStats) -> None:
    most = f"{stats.max:.0f}" if stats.max is not None else "?"
    mean = f"{stats.mean:.0f}"
    if stats.how == "published":
        job.assume("length-published", "train.dataset", datasets=stats.source, mean=mean, max=most)
    else:
        how = "tokenizer" if stats.how == "tokenizer" else "characters"
        values = {"source": stats.source, "mean": mean, "max": most, "how": how}
        if stats.longest_row is None:
            job.assume("length-data", **values)
        else:
            job.assume("length-row", **values, row=str(stats.longest_row))


def published(text: str, datasets: Sequence[Dataset]) -> TokenStats | None:
    """Find published statistics of the data sets a launch names; None unless all are known.

    Several are mixed by the samples asked for (`name#500`), else by their sizes. The mean is
    that of all samples; the peak of a run is that of the data set with the longest.
    """
    names = [word for word in re.split(r"[\s,\[\]'\"]+", text) if word]
    found = [(find_dataset(name, datasets), name) for name in names]
    known = [(item, name) for item, name in found if item is not None]
    if not known or len(known) < len(names):
        return None
    weights = [_weight(item, name) for item, name in known]
    total = sum(weights)
    mean = sum(item.mean * weight for (item, _), weight in zip(known, weights, strict=True)) / total
    peak = max(item.mean + SPREAD * item.std for item, _ in known)
    longest = [item.max for item, _ in known]
    most = None if None in longest else max(value for value in longest if value is not None)
    return TokenStats(
        mean=mean,
        std=max(peak - mean, 0.0) / SPREAD,
        max=most,
        images_counted=any(_counts_images(item) for item, _ in known),
        how="published",
        source=", ".join(dict.fromkeys(item.id for item, _ in known)),
    )


def _counts_images(item: Dataset) -> bool:
    """Tell whether tokens of images are in a table: that of 2.x counted them with Qwen-VL.

    There an image is 256 tokens, so no sample with one is shorter. The later table counts text.
    """
    return item.tokenizer == "qwen" and (item.min or 0) >= QWEN_VL_IMAGE


def _weight(item: Dataset, name: str) -> float:
    told = _SAMPLES.search(name)
    if told and int(told[1]) > 0:
        return float(min(int(told[1]), LARGEST))
    return float(item.samples or 1)


def find_dataset(name: str, datasets: Sequence[Dataset]) -> Dataset | None:
    """Find a data set by name, hub id or alias; `:subset` and `#samples` do not count.

    A prefix that names the hub (`HF::`, `MS::`) does not count either.
    """
    plain = re.sub(r"^(?:HF|MS)::", "", name.strip(), flags=re.IGNORECASE).lower()
    for wanted in (plain, re.sub(r"#\d+$", "", plain), _SUBSET.sub("", plain)):
        for item in datasets:
            if wanted and wanted in (item.id.lower(), *(a.lower() for a in item.aliases)):
                return item
    return _by_words(_SUBSET.sub("", plain), datasets)


def _by_words(name: str, datasets: Sequence[Dataset]) -> Dataset | None:
    """Find a data set of ms-swift 2.x by the words of its name.

    Its names were put together anew from release to release (`coco-mini-en`, `coco-en-mini`), and a
    part of a data set (`mini`) has samples like the whole.
    """
    wanted = _words(name)
    if len(wanted) < 2 or "/" in name:
        return None
    found = [item for item in datasets if "/" not in item.id and wanted <= _words(item.id)]
    return min(found, key=lambda item: len(item.id), default=None)


def _words(name: str) -> set[str]:
    return {word for word in name.lower().split("-") if word and word != "mini"}
