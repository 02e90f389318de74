"""A request is printed as PyTorch prints it; what is recovered may be nothing, but not wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from trainrx.memory.printed import asked_in, asked_of, printed, segment
from trainrx.memory.recover import TensorCandidate, count_of, kind_of, recover
from trainrx.memory.sizes import RequestContext
from trainrx.model.hardware import ModelShape, Tower

MOST = 200 * 2**30
LEAST = 24 * 2**20
SAMPLE = 3000
HIGH = 8.0
"""A score nobody would doubt: 256 to 1."""
SITES = {
    "logits": "logits",
    "attention-scores": "attention",
    "vision-attention": "vision-attention",
    "optimizer-state": "optimizer-step",
    "embedding": "zero-gather",
    "gathered-layer": "zero-gather",
    "bucket": "zero-bucket",
}


class Truth(NamedTuple):
    kind: str
    size: int
    count: int | None
    setting: RequestContext


def shapes(draw: random.Random) -> ModelShape:
    head = draw.choice((64, 128))
    heads = draw.choice((8, 12, 16, 28, 32, 40, 64))
    vision = draw.random() < 0.4
    return ModelShape(
        id="org/model",
        layers=draw.randint(8, 80),
        hidden=heads * head,
        heads=heads,
        kv_heads=draw.choice((heads, max(heads // 4, 1))),
        inter=128 * draw.randint(heads * head // 64, heads * head // 28),
        vocab=64 * draw.randint(500, 4000),
        tie=draw.random() < 0.3,
        vision=vision,
        tower=Tower(depth=32, hidden=1280, heads=16, inter=5120, merge=2) if vision else None,
    )


def truths(draw: random.Random, *, placed: bool) -> Truth:
    """Draw a job and what it asked for, within what its launch allows."""
    shape = shapes(draw)
    batch, length = draw.randint(1, 8), 2 ** draw.randint(9, 15)
    world = 2 ** draw.randint(0, 6)
    kind = draw.choice(tuple(SITES))
    sharded = kind in ("embedding", "gathered-layer")
    setting = RequestContext(
        shape=shape,
        site=SITES[kind] if placed else "",
        phase="train",
        sequences=batch,
        tokens=batch * length,
        length=length,
        padded=True,
        enforced=True,
        zero_stage=3 if sharded else 2,
        full=kind == "optimizer-state",
        world=world,
        pixel_cap=602112,
    )
    size, count, shape = _asked(draw, kind, setting)
    return Truth(kind, size, count, msgspec.structs.replace(setting, shape=shape))


def _asked(
    draw: random.Random, kind: str, setting: RequestContext
) -> tuple[int, int | None, ModelShape]:
    """Give bytes, the count behind them, and the shape the job needs for it."""
    shape, batch, length = setting.shape, setting.sequences or 1, setting.length or 1
    hidden, vocab, width = shape.hidden or 1, shape.vocab or 1, draw.choice((2, 4))
    longest = length if draw.random() < 0.4 else draw.randint(64, length)
    if kind == "logits":
        plain = msgspec.structs.replace(shape, vision=False, tower=None)
        return batch * longest * vocab * width, batch * longest, plain
    if kind == "attention-scores":
        return batch * (shape.heads or 1) * longest**2 * width, longest, shape
    if kind == "vision-attention":
        tower = Tower(depth=32, hidden=1280, heads=16, inter=5120, merge=2)
        patches = 4 * draw.randint(64, 602112 // 196 // 4) * draw.randint(1, batch)
        seeing = msgspec.structs.replace(shape, vision=True, tower=tower)
        return 16 * patches**2 * width, patches, seeing
    if kind == "optimizer-state":
        plain = msgspec.structs.replace(shape, vision=False, tower=None)
        return 4 * parameters(plain) // (setting.world or 1), None, plain
    if kind == "embedding":
        return vocab * hidden * width, None, shape
    if kind == "gathered-layer":
        return 2 * hidden * (shape.inter or 1), None, shape
    return draw.choice((500_000_000, 200_000_000)) * 2, None, shape


def parameters(shape: ModelShape) -> int:
    """Count a Llama: attention, gated mlp and two norms a layer, embedding, head, last norm."""
    hidden, inter = shape.hidden or 0, shape.inter or 0
    head = hidden // (shape.heads or 1)
    keys = (shape.kv_heads or 0) * head
    one = 2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * inter + 2 * hidden
    ends = (shape.vocab or 0) * hidden * (1 if shape.tie else 2)
    return (shape.layers or 0) * one + ends + hidden


def seeded(seed: int) -> random.Random:
    """Give a stream of numbers that is the same in every run."""
    return random.Random(seed)  # noqa: S311


def sample(*, placed: bool) -> Iterator[Truth]:
    """Draw jobs whose request is neither too small to say anything nor larger than a card."""
    drawn = (truths(seeded(seed), placed=placed) for seed in range(SAMPLE))
    return (truth for truth in drawn if LEAST < truth.size < MOST)


def answered(
    truth: Truth,
) -> tuple[str | None, TensorCandidate | None, tuple[TensorCandidate, ...]]:
    asked = asked_in(f"CUDA out of memory. Tried to allocate {printed(segment(truth.size))}. GPU 0")
    assert asked is not None
    readings = recover(asked, truth.setting)
    kind = kind_of(readings, truth.setting)
    return kind, None if kind is None else count_of(readings, kind), readings


def right(truth: Truth, reading: TensorCandidate) -> bool:
    if reading.kind != truth.kind:
        return False
    if truth.count is None or reading.low is None or reading.high is None:
        return True
    return reading.low <= truth.count <= reading.high


def test_jobs_are_of_all_kinds_and_sizes() -> None:
    drawn = [truths(seeded(seed), placed=True) for seed in range(300)]

    assert {truth.kind for truth in drawn} == set(SITES)


@given(st.integers(min_value=0, max_value=2**32))
def test_the_truth_is_among_the_readings(seed: int) -> None:
    truth = truths(seeded(seed), placed=True)
    assume(LEAST < truth.size < MOST)

    _, _, readings = answered(truth)

    assert any(right(truth, reading) for reading in readings)


def test_at_a_known_place_what_is_told_is_right() -> None:
    told = wrong = counts = astray = 0
    for truth in sample(placed=True):
        kind, counted, readings = answered(truth)
        told += kind is not None
        wrong += kind is not None and kind != truth.kind
        counts += counted is not None and counted.count is not None
        if counted is not None and not right(truth, counted):
            astray += 1
            # half the tokens in twice the width is one size: the launch tips the scales
            assert counted.score < HIGH
        if kind is not None and kind == truth.kind:
            assert any(right(truth, reading) for reading in readings[:2])

    assert told > 0.6 * SAMPLE
    assert wrong <= 0.001 * told
    assert counts > 0.1 * SAMPLE
    assert astray <= 0.01 * counts


def test_without_a_place_nearly_nothing_told_is_wrong() -> None:
    told = wrong = 0
    for truth in sample(placed=False):
        kind, counted, _ = answered(truth)
        # at no known place a rank's part of the states is told as a flat buffer
        same = {truth.kind, "flat-buffer" if truth.kind == "optimizer-state" else truth.kind}
        told += kind is not None
        amiss = counted is not None and truth.count is not None and not right(truth, counted)
        wrong += kind is not None and (kind not in same or amiss)

    assert told > 0.4 * SAMPLE
    assert wrong <= 0.01 * told


@given(st.floats(allow_nan=True, allow_infinity=True), st.text(max_size=40))
def test_any_figure_is_read_or_refused(gib: float, text: str) -> None:
    found = (asked_of(gib), asked_in(f"Tried to allocate {text}"), asked_in(text))

    assert all(item is None or 0 < item.low <= item.high for item in found)


@given(st.integers(min_value=2**20 + 1, max_value=2**42))
def test_what_is_printed_holds_what_was_asked_for(size: int) -> None:
    line = printed(segment(size))
    number, unit = line.split()
    gib = round(float(number) * {"MiB": 2**-10, "GiB": 1.0}[unit], 6)

    for asked in (asked_in(f"Tried to allocate {line}."), asked_of(gib)):
        assert asked is not None
        assert asked.low <= size <= asked.high
