from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from log_signatures import OOM_LINE

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.request import Request
from trainrx.model.curves import Curve
from trainrx.model.errors import UsageError
from trainrx.model.figure import CallMark, FigureEvent, JobFigure, StepForecast
from trainrx.model.result import JobSummary
from trainrx.render.job_plot import write_job_plot
from trainrx.verdict.run import judge

pytest.importorskip("matplotlib")
RECORDER = Path(__file__).parents[1] / "evidence" / "recorder"


def curve(rank, gib):
    at = tuple(float(step) for step in range(1, 51))
    values = tuple(gib + 0.2 * step for step in at)
    lines = tuple(range(1, 51))
    return Curve(
        quantity="memory", source=f"rank_{rank}.log", at=at, values=values, lines=lines, number=rank
    )


FIGURE = JobFigure(
    job=JobSummary(framework="ms-swift", model="$MODEL_{x"),
    memory=(curve(0, 40.0), curve(1, 50.0)),
    events=(
        FigureEvent(kind="oom", step=50, rank=1),
        FigureEvent(kind="evaluation", step=20),
        FigureEvent(kind="save", step=40),
    ),
    limit_gib=79.2,
    calls=tuple(
        CallMark(
            rank=rank,
            seq=seq,
            op="all_reduce" if (rank, seq) != (1, 9) else "broadcast",
            state="completed" if seq < 9 else "scheduled",
        )
        for rank in range(3)
        for seq in range(1, 10)
    ),
    culprits=(1,),
)


def drawn(figure, path):
    write_job_plot(figure, path)
    return path.read_text(encoding="utf-8")


def test_an_svg_says_what_is_seen_and_whom_the_others_wait_for(tmp_path):
    text = drawn(FIGURE, tmp_path / "out.svg")

    for said in (
        "peaks at 60.0 of 79.2 GiB, out of memory at step 50",
        "The last collectives of 3 ranks: the others wait for rank 1",
        "card: 79.2 GiB",
        "evaluation",
        "checkpoint",
        "broadcast",
        "rank 1",
        "$MODEL_{x",
    ):
        assert said in text


def test_a_forecast_is_drawn_to_the_card(tmp_path):
    ahead = StepForecast(step=150, low=140, high=160)

    text = drawn(
        msgspec.structs.replace(FIGURE, events=(), forecast=ahead, calls=()), tmp_path / "out.svg"
    )

    assert "full near step 150 (140 to 160)" in text
    assert "forecast" in text
    assert "collectives" not in text


def test_html_holds_the_figure_and_asks_nobody(tmp_path):
    text = drawn(FIGURE, tmp_path / "out.html")

    assert text.startswith("<!doctype html>")
    assert "<svg" in text
    assert "src=" not in text
    assert "<script" not in text


def test_a_png_is_a_png_and_many_ranks_fit(tmp_path):
    many = tuple(curve(rank, 40.0) for rank in range(64))
    path = tmp_path / "out.png"

    write_job_plot(msgspec.structs.replace(FIGURE, memory=many), path)

    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_rank_that_left_nothing_has_an_empty_row(tmp_path):
    figure = msgspec.structs.replace(FIGURE, memory=(), culprits=(), missing=(5,))

    text = drawn(figure, tmp_path / "out.svg")

    assert "The last collectives of 4 ranks: the others wait for rank 5" in text


def test_nothing_to_draw_is_said(tmp_path):
    with pytest.raises(UsageError, match="nothing to draw: expected logs with the memory of steps"):
        write_job_plot(JobFigure(job=JobSummary()), tmp_path / "out.svg")


def test_what_is_drawn_of_a_job_comes_from_its_logs(tmp_path):
    log = tmp_path / "rank_2.log"
    step = "{{'loss': 1.5, 'memory(GiB)': {gib}, 'global_step/max_steps': '{step}/100'}}\n"
    lines = "".join(step.format(gib=40 + number, step=number) for number in range(1, 21))
    log.write_text(lines + OOM_LINE.format(gpu=0) + "\n", encoding="utf-8")

    figure = judge(Request(paths=(str(log),)), LoadedKnowledge()).figure

    assert [(one.number, len(one.values)) for one in figure.memory] == [(2, 20)]
    assert FigureEvent(kind="oom", step=20, rank=2) in figure.events
    assert figure.limit_gib == 80.0


def test_what_is_drawn_of_a_hang_comes_from_its_recorders():
    figure = judge(Request(paths=(str(RECORDER / "other-call-json"),)), LoadedKnowledge()).figure

    assert figure.culprits == (1,)
    assert {mark.rank for mark in figure.calls} == {0, 1, 2, 3}
    assert {mark.op for mark in figure.calls if mark.seq == 4} == {"all_reduce", "broadcast"}
