from __future__ import annotations

import json
from pathlib import Path

import pytest
from log_signatures import scan, values

from trainrx.evidence.detector import Detector
from trainrx.evidence.series.points import bar_of_line, elapsed, may_train, point_of_line
from trainrx.model.facts import Scalar
from trainrx.model.job import Detection, Input

SWIFT = (
    "{{'loss': {loss}, 'token_acc': 0.9, 'grad_norm': {norm}, 'memory(GiB)': {memory}, "
    "'train_speed(iter/s)': 0.081597, 'global_step/max_steps': '{step}/100', "
    "'elapsed_time': '1m 35s'}}\n"
)


def swift(step: int, loss: object = 1.2, norm: object = 0.5, memory: float = 40.0) -> str:
    return SWIFT.format(step=step, loss=loss, norm=norm, memory=memory)


def test_a_line_of_ms_swift_is_read() -> None:
    point = point_of_line(swift(5, memory=67.95), 3)

    assert point is not None
    assert (point.step, point.total, point.loss, point.grad_norm) == (5, 100, 1.2, 0.5)
    assert (point.memory, point.elapsed, point.line) == (67.95, 95.0, 3)
    assert point.seconds == pytest.approx(12.2554, abs=1e-3)


MEGATRON = (
    " [2025-11-20 10:10:10] iteration       12/     100 | consumed samples:  512 | elapsed time"
    " per iteration (ms): 310.5 | lm loss: 1.500000E+00 | loss scale: 1.0 | grad norm: 2.000 |"
)


@pytest.mark.parametrize(
    "text",
    [
        "{'loss': 1.5, 'grad_norm': 2.0, 'learning_rate': 4.5e-06, 'epoch': 0.66}",
        "{'loss': '1.5', 'grad_norm': '2.0', 'learning_rate': '3.3e-05', 'epoch': '0.08'}",
        '{"loss": 1.5, "grad_norm": 2.0, "current_steps": 3, "total_steps": 9}',
        "Train:   2%|▏ | 1/60 [00:42<41:47, 42.51s/it]{'loss': '1.5', 'grad_norm': '2.0'}",
        "(TaskRunner pid=9) step:12 - actor/pg_loss:1.5 - actor/grad_norm:2.0 - timing_s/step:3",
        "step:12 - actor/pg_loss:np.float64(1.5) - actor/grad_norm:np.float64(2.0)",
        MEGATRON,
    ],
)
def test_every_spelling_of_metrics_is_read(text: str) -> None:
    point = point_of_line(text, 1)

    assert point is not None
    assert (point.loss, point.grad_norm) == (1.5, 2.0)


@pytest.mark.parametrize(
    ("text", "step", "total", "loss"),
    [
        ("step 5 loss 0.1", 5, None, 0.1),
        ("step=5 loss=0.1", 5, None, 0.1),
        ("[step 5] loss: 0.1", 5, None, 0.1),
        ("2026-11-27 02:01:32,000 INFO train step 5 loss 0.1", 5, None, 0.1),
        ("Epoch [1/10], Step [5/600], Loss: 1e-1", 5, 600, 0.1),
        ("iter 5/600: train_loss 0.1, time 3ms", 5, 600, 0.1),
        ("epoch 1 step 5", 5, None, None),
    ],
)
def test_a_step_of_a_plain_script_is_read(
    text: str, step: int, total: int | None, loss: float | None
) -> None:
    point = point_of_line(text, 1)

    assert point is not None
    assert (point.step, point.total, point.loss) == (step, total, loss)


def test_a_loss_of_a_plain_script_that_is_no_number_is_seen() -> None:
    found = run(*(f"step {n} loss {'nan' if n == 4 else 0.5}\n" for n in range(6)))

    assert facts(found)["steps"] == 6
    assert facts(found)["first_nan_step"] == 4


@pytest.mark.parametrize(
    "text",
    [
        *("{'eval_loss': 0.5, 'epoch': 1.0}", "loss is 1.5", "step: 12", "{'train_loss': 0.3}", ""),
        *("eval step 5 loss 0.1", "step 5 val_loss 0.1", "resumed from step 500, loss 0.3"),
        *("--max_steps 5 --loss_scale 0", "saved step 5 loss 0.1", "time per step 1.5 loss 2"),
        "print(f'step {step} loss {loss}')",
    ],
)
def test_what_is_no_training_step_is_not_read_as_one(text: str) -> None:
    assert point_of_line(text, 1) is None


def test_the_last_bar_of_a_line_counts() -> None:
    bar = bar_of_line(" 1%| | 1/60 [00:42<41:47, 42.51s/it]\r 3%|▏| 2/60 [01:22<41:47,  2.00it/s]")

    assert bar is not None
    assert (bar.done, bar.total, bar.seconds, bar.training) == (2, 60, 0.5, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0:01:02", 62.0),
        ("1:00:00:05", 86405.0),
        ("2 days, 0:00:01", 172801.0),
        ("1h 2m 3s", 3723.0),
        ("43s", 43.0),
        ("", None),
        ("soon", None),
    ],
)
def test_running_times_are_read_in_seconds(text: str, expected: float | None) -> None:
    assert elapsed(text) == expected


def run(*lines: str) -> Detection:
    return scan("".join(lines))


def facts(found: Detection) -> dict[str, Scalar | None]:
    return {name[7:]: value for name, value in values(found).items() if name.startswith("series.")}


def test_the_series_of_a_run_is_summed_up() -> None:
    found = run(*(swift(n, memory=40 + min(n, 3)) for n in range(1, 21)))

    assert facts(found) == {
        "steps": 20,
        "last_step": 20,
        "total_steps": 100,
        "seconds_per_step": pytest.approx(12.2554, abs=1e-3),
        "memory_trend": "flat",
        "memory_first_gib": 41.0,
        "memory_last_gib": 43.0,
        "memory_peak_gib": 43.0,
        "loss_zero": False,
        "grad_norm_nan": False,
    }
    assert found.symptoms == ()


def test_without_metrics_nothing_is_said_of_losses() -> None:
    assert facts(run("hello\n")) == {}


def test_growing_memory_becomes_a_symptom_with_its_line() -> None:
    found = run(*(swift(n, memory=20 + n) for n in range(1, 41)))

    seen = found.symptoms[0]
    assert (seen.symptom, seen.hits[0].line, seen.hits[0].step) == ("memory-grows", 40, 40)
    assert "21" in seen.hits[0].text
    assert facts(found)["memory_trend"] == "linear"


def test_the_first_loss_that_is_not_a_number_is_kept() -> None:
    found = run(swift(1), swift(2, loss="nan"), swift(3, loss="nan"), swift(4))

    assert facts(found)["first_nan_step"] == 2
    assert [(item.symptom, item.hits[0].line) for item in found.symptoms] == [("loss-nan", 2)]


def test_a_late_nan_among_thousands_of_steps_is_not_skipped() -> None:
    lines = [swift(n) for n in range(9000)]
    lines[8191] = swift(8191, norm="nan")

    found = run(*lines)

    assert facts(found)["steps"] == 9000
    assert facts(found)["last_step"] == 8999
    assert [(item.symptom, item.hits[0].line) for item in found.symptoms] == [
        ("grad-norm-nan", 8192)
    ]


def test_a_loss_of_exactly_zero_with_a_dead_gradient_is_a_symptom() -> None:
    found = run(swift(1), *(swift(n, loss="0.0", norm="nan") for n in range(2, 6)))

    assert [item.symptom for item in found.symptoms] == ["loss-zero", "grad-norm-nan"]
    assert facts(found)["loss_zero"] is True


@pytest.mark.parametrize(
    "line",
    [
        "{'loss': 0.0, 'grad_norm': 0.3}\n",
        "{'loss': 0.0, 'grad_norm': 0.0, 'reward': 0.5}\n",
        "{'loss': 0.0}\n",
        "{'loss': 0.04, 'grad_norm': 0.0}\n",
    ],
)
def test_a_small_loss_is_not_a_dead_one(line: str) -> None:
    found = run(*[line] * 9)

    # a gradient of 0 beside a loss that is none is a symptom of its own
    assert {item.symptom for item in found.symptoms} <= {"gradient-zero"}
    assert facts(found)["loss_zero"] is False


def test_two_dead_steps_are_not_enough() -> None:
    dead = "{'loss': 0.0, 'grad_norm': 0.0}\n"

    assert run(dead, dead, swift(3), dead, dead).symptoms == ()


def test_a_metrics_file_feeds_the_same_series(tmp_path: Path) -> None:
    rows = [
        {"current_steps": n, "total_steps": 50, "loss": 1.0, "elapsed_time": f"0:00:{n * 2:02d}"}
        for n in range(1, 11)
    ]
    place = tmp_path / "trainer_log.jsonl"
    place.write_text("\n".join(json.dumps(row) for row in rows))

    found = Detector([]).detect([Input(kind="metrics", name="m", path=place)])

    assert facts(found) == {
        "steps": 10,
        "last_step": 10,
        "total_steps": 50,
        "seconds_per_step": 2.0,
        "loss_zero": False,
    }


def test_a_trainer_state_feeds_the_same_series(tmp_path: Path) -> None:
    place = tmp_path / "trainer_state.json"
    history = [{"step": n, "loss": float("nan"), "grad_norm": 1.0} for n in (5, 10)]
    place.write_text(json.dumps({"max_steps": 40, "log_history": history}, indent=2))

    found = Detector([]).detect([Input(kind="metrics", name="m", path=place)])

    assert facts(found)["first_nan_step"] == 5
    assert facts(found)["total_steps"] == 40


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"log_history": 3}', "\x00", "{" * 5000])
def test_a_metrics_file_that_is_none_is_unread(text: str) -> None:
    found = Detector([]).detect([Input(kind="metrics", name="m", text=text)])

    assert [item.source for item in found.unread] in (["m"], ["m", "m"])
    assert "series.steps" not in values(found)


LABELS = (
    "",
    "[rank0]: ",
    "[default7]:",
    "(WorkerDict pid=12, ip=10.0.0.1) ",
    "[1,0]<stderr>:",
    "2025-11-20 10:10:10 ",
    "[host b]: [rank1]: ",
)
NAMES = ("", "Train:", "Train: ", "Epoch 3", "Steps:", "Map (num_proc=8): ", "Loading shards: ")


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("name", NAMES)
def test_a_bar_is_passed_over_unread_only_where_it_is_not_of_the_training(
    label: str, name: str
) -> None:
    line = f"{label}{name}  3%|▏| 2/60 [01:22<41:47,  2.00it/s]"

    bar = bar_of_line(line)

    assert bar is not None
    assert may_train(line.encode()) or not bar.training


def test_a_bar_of_another_name_is_not_read() -> None:
    assert not may_train("Map (num_proc=8):  3%|▏| 2/60 [01:22<41:47,  2.00it/s]".encode())
