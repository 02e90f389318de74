from __future__ import annotations

import pytest
from log_signatures import OOM_LINE, cuda_oom, scan, signature, values

from trainrx.evidence.detector import Detector
from trainrx.evidence.launches import embedded_launches
from trainrx.model.job import Input

LOADING = signature("loading", ("model_kwargs", "model_kwargs: "), role="phase", phase="load")
SAVING = signature("saving", ("Saving model", "Saving model to "), role="phase", phase="save")
ATTENTION = signature(
    "attention", ("scaled_dot_product", r"F\.scaled_dot_product"), role="frame", site="attention"
)
VISION = signature("vision", ("_vl.py", r"qwen2_vl\.py\", line"), role="frame", site="vision")
DONE = signature("done", ("train_runtime", "'train_runtime': "), role="success")

FRAMES = (
    "Traceback (most recent call last):",
    '  File "/x/trainer.py", line 2, in train',
    "    self.step()",
    '  File "/x/modeling_qwen2_vl.py", line 415, in forward',
    "    out = F.scaled_dot_product_attention(q, k, v)",
    "          ^^^^^^^",
)


def test_the_phase_is_the_last_that_began_before_the_hit() -> None:
    oom = "CUDA error: out of memory\n"
    text = f"{oom}model_kwargs: x\n{oom}{{'loss': 1.0}}\n{oom}Saving model to y\n{oom}"

    found = scan(text, cuda_oom(), LOADING, SAVING)

    phases = {hit.line: hit.phase for item in found.symptoms[:1] for hit in item.hits}
    assert phases == {1: "", 3: "load", 5: "train", 7: "save"}
    assert values(found).get("oom.phase") is None


def test_the_step_is_the_last_one_logged_before_the_hit() -> None:
    text = "{'loss': 1.2, 'global_step/max_steps': '7/90'}\nCUDA error: out of memory\n"

    found = scan(text, cuda_oom())

    assert values(found)["oom.step"] == 7
    assert values(found)["oom.phase"] == "train"


def test_a_progress_bar_tells_step_and_phase_where_no_metrics_do() -> None:
    bars = "".join(f"\rTrain:  {n}%|# | {n}/60 [00:42<41:47, 42.51s/it]" for n in range(3))

    found = scan(bars + "\nCUDA error: out of memory\n", cuda_oom())

    assert values(found)["oom.step"] == 2
    assert values(found)["oom.phase"] == "train"
    assert values(found)["series.total_steps"] == 60
    assert values(found)["series.seconds_per_step"] == 42.51


def test_bars_of_other_things_are_no_steps() -> None:
    text = "Map (num_proc=8):  10%|# | 100/1000 [00:42<41:47, 42.51s/it]\n"

    assert "series.last_step" not in values(scan(text, cuda_oom()))


def test_a_failure_stands_in_the_innermost_known_frame_above_it() -> None:
    text = "\n".join([*FRAMES, OOM_LINE.format(gpu=0)])

    found = scan(text, cuda_oom(), ATTENTION, VISION)

    assert values(found)["oom.site"] == "attention"


def test_frames_of_another_rank_between_are_passed_over() -> None:
    mine = [f"[rank1]: {line}" for line in FRAMES]
    others = ['[rank0]:   File "/x/modeling_qwen2_vl.py", line 9, in f'] * 6
    mixed = [line for pair in zip(mine, others, strict=True) for line in pair]

    found = scan("\n".join([*mixed, f"[rank1]: {OOM_LINE.format(gpu=1)}"]), cuda_oom(), ATTENTION)

    assert values(found)["oom.site"] == "attention"


def test_frames_of_ray_workers_are_told_apart() -> None:
    mine = [f"(WorkerDict pid=11, ip=10.0.0.1) {line}" for line in FRAMES]
    other = f"(WorkerDict pid=12, ip=10.0.0.1) {OOM_LINE.format(gpu=1)}"

    found = scan("\n".join([*mine, other]), cuda_oom(), ATTENTION)

    assert "oom.site" not in values(found)


def test_a_traceback_that_is_over_gives_no_site() -> None:
    between = [f"INFO step {n} is fine" for n in range(8)]
    text = "\n".join([*FRAMES, "ValueError: x", *between, "CUDA error: out of memory"])

    assert "oom.site" not in values(scan(text, cuda_oom(), ATTENTION))


def test_a_frame_above_the_header_of_the_traceback_is_not_of_it() -> None:
    text = "\n".join(
        [*FRAMES, "Traceback (most recent call last):", "  x", "CUDA error: out of memory"]
    )

    assert "oom.site" not in values(scan(text, cuda_oom(), ATTENTION))


def test_facts_come_from_the_first_that_ran_out_and_ranks_are_counted() -> None:
    text = "".join(f"[rank{n}]: {OOM_LINE.format(gpu=n)}\n" for n in (3, 1, 3))

    facts = values(scan(text, cuda_oom()))

    assert {
        name: facts[name]
        for name in ("oom.rank", "oom.gpu", "oom.asked_gib", "oom.asked_share", "oom.ranks")
    } == {
        "oom.rank": 3,
        "oom.gpu": 3,
        "oom.asked_gib": 20.0,
        "oom.asked_share": 0.25,
        "oom.ranks": 2,
    }
    assert facts["oom.reserved_unused_share"] == 0.1


def test_cards_count_where_no_rank_is_named() -> None:
    text = "".join(OOM_LINE.format(gpu=n) + "\n" for n in (0, 5))

    assert values(scan(text, cuda_oom()))["oom.ranks"] == 2


def test_time_orders_the_hits_of_several_stamped_logs() -> None:
    late = "[rank0]:[E1123 16:12:10.5 x.cpp:1] CUDA error: out of memory\n"
    early = "[2025-11-23 16:02:10,000] x\nCUDA error: out of memory\n"
    logs = [
        Input(kind="log", name="rank0.log", text=late),
        Input(kind="log", name="rank4.log", text=early),
    ]

    found = Detector([cuda_oom()]).detect(logs)

    hits = [(hit.rank, hit.at, hit.stamped) for hit in found.symptoms[0].hits]
    assert hits == [(4, 0.0, True), (0, 600.5, True)]
    assert values(found)["oom.rank"] == 4


def test_without_stamps_everywhere_lines_order_the_hits() -> None:
    logs = [
        Input(kind="log", name="rank0.log", text="\n\nCUDA error: out of memory\n"),
        Input(kind="log", name="rank4.log", text="E1123 16:12:10.5 CUDA error: out of memory\n"),
    ]

    found = Detector([cuda_oom()]).detect(logs)

    assert [(hit.rank, hit.at, hit.stamped) for hit in found.symptoms[0].hits] == [
        (4, 1.0, False),
        (0, 3.0, False),
    ]


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("{'train_runtime': 1.0}\n", True),
        ("CUDA error: out of memory\n{'train_runtime': 1.0}\n", True),
        ("{'train_runtime': 1.0}\nCUDA error: out of memory\n", False),
        ("CUDA error: out of memory\n", None),
    ],
)
def test_a_run_has_finished_when_nothing_failed_after_its_end(
    text: str, finished: bool | None
) -> None:
    assert values(scan(text, cuda_oom(), DONE)).get("log.finished") is finished


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("failed (exitcode: -9) local_rank: 0 (pid: 438) of binary: x\n", -9),
        ("  exitcode  : -15 (pid: 4)\n  exitcode  : 1 (pid: 5)\n", 1),
        ("exits with return code = -7\n", -7),
        ("srun: error: n1: task 3: Exited with exit code 137\n", 137),
        ("all fine\n", None),
    ],
)
def test_the_exit_code_is_that_of_the_process_nobody_stopped(text: str, code: int | None) -> None:
    assert values(scan(text)).get("exit.code") == code


def test_a_log_tells_the_command_it_was_launched_with() -> None:
    text = "x\nrun sh: `/usr/bin/python /a/swift/cli/sft.py --model Qwen/Qwen2.5 --lora_rank 8`\n"

    found = embedded_launches([Input(kind="log", name="t.log", text=text * 2)])

    assert [(item.line, item.text) for item in found] == [
        (2, "/usr/bin/python /a/swift/cli/sft.py --model Qwen/Qwen2.5 --lora_rank 8")
    ]
