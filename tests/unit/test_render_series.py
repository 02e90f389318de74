"""What the steps show is said in a line, in both languages; of a healthy job nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import diagnose
from trainrx.model.result import Diagnosis
from trainrx.model.text import Lang
from trainrx.render.document import Labelled, View
from trainrx.render.series import series_line

STEP = (
    "{{'loss': {loss}, 'grad_norm': {norm}, 'learning_rate': 1e-05, 'memory(GiB)': {memory},"
    " 'global_step/max_steps': '{step}/1000'}}\n"
)


def answer(folder: Path, lines: list[str], lang: Lang = "en") -> Diagnosis:
    place = folder / "train.log"
    place.write_text("".join(lines))
    return diagnose(logs=[place], gpu="A100-80G", gpus=2, lang=lang)


def said(found: Diagnosis, lang: Lang = "en") -> str:
    node = series_line(found, View(lang=lang))
    return node.texts[0] if isinstance(node, Labelled) else ""


def leak(step: int) -> str:
    return STEP.format(loss=1.0, norm=0.5, memory=20 + 0.1 * step, step=step)


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "memory rises evenly"), ("zh", "显存逐步匀速上涨")]
)
def test_a_leak_is_said_with_the_step_at_which_the_card_is_full(
    tmp_path: Path, lang: Lang, words: str
) -> None:
    found = answer(tmp_path, [leak(step) for step in range(1, 301)], lang)

    assert words in said(found, lang)
    assert str(found.facts["series.memory_forecast_step"]) in said(found, lang)


def test_no_end_is_foretold_of_a_job_that_has_failed_or_is_done_before(tmp_path: Path) -> None:
    steps = [leak(step) for step in range(1, 301)]
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    slow = [STEP.format(loss=1, norm=1, memory=20 + 0.02 * n, step=n) for n in range(1, 301)]

    assert "series.memory_forecast_step" not in answer(tmp_path, [*steps, oom]).facts
    assert "series.memory_forecast_step" not in answer(tmp_path, slow).facts


def test_what_moved_before_a_nan_is_said(tmp_path: Path) -> None:
    norms = [0.5] * 40 + [5.0, 50.0, 500.0]
    steps = [STEP.format(loss=1, norm=n, memory=20, step=i) for i, n in enumerate(norms, 1)]
    last = STEP.format(loss="nan", norm="nan", memory=20, step=44)

    assert said(answer(tmp_path, [*steps, last])) == "grad_norm rose before the NaN"


def test_steps_as_ever_are_not_spoken_of(tmp_path: Path) -> None:
    steps = [STEP.format(loss=1, norm=0.5, memory=20, step=step) for step in range(1, 100)]

    assert said(answer(tmp_path, steps)) == ""
