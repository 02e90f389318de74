"""Answers to questions: they become facts, sightings and inputs, behind what was printed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from trainrx.api import diagnose
from trainrx.launch.request import PathLike
from trainrx.model.errors import UsageError
from trainrx.model.result import Diagnosis

KILLED = "the process is killed after two hours, the training dies"
TIMEOUT = (
    "[rank1]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=112, OpType=ALLREDUCE,"
    " NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600002 milliseconds before timing out.\n"
)
KERNEL = (
    "[12.1] usb 1-1: new device\n"
    "[7012.5] Out of memory: Killed process 4242 (python) total-vm:210012344kB, anon-rss:1kB\n"
    "[7012.9] oom_reaper: reaped process 4242 (python)\n"
)
QUIET = "[12.1] usb 1-1: new device\n[13.0] eth0: link up\n[14.2] audit: started\n"


@cache
def answered(**answers: PathLike) -> Diagnosis:
    named = {ident.replace("__", ".").replace("_", "-"): said for ident, said in answers.items()}
    return diagnose(note=KILLED, answers=named)


def test_a_fact_that_is_answered_is_known_and_cites_the_answer(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(TIMEOUT)

    before = diagnose(logs=log)
    after = diagnose(logs=log, answers={"failure.phase": "save"})

    assert "failure.phase" in [ask.id for ask in before.asks]
    assert after.facts["failure.phase"] == "save"
    assert "failure.phase" not in [ask.id for ask in after.asks]


def test_a_symptom_that_was_seen_is_shown_with_the_answer_as_its_evidence() -> None:
    answer = answered(symptom__kernel_oom_kill="yes")

    seen = {item.id: item for item in answer.symptoms}
    assert [str(at) for at in seen["kernel-oom-kill"].evidence] == [
        "answer symptom.kernel-oom-kill:1"
    ]


def test_a_symptom_that_was_not_seen_is_said_to_be_missing_and_not_asked_again() -> None:
    after = answered(symptom__kernel_oom_kill="没有")

    assert after.facts["unseen.kernel-oom-kill"] is True
    assert "symptom.kernel-oom-kill" not in [ask.id for ask in after.asks]


def test_the_output_of_a_command_is_searched_for_what_was_asked() -> None:
    shown = answered(symptom__kernel_oom_kill=KERNEL)
    quiet = answered(symptom__kernel_oom_kill=QUIET)

    lines = [at for item in shown.symptoms for at in item.evidence if item.id == "kernel-oom-kill"]
    assert [(at.source, at.line) for at in lines] == [("answer symptom.kernel-oom-kill", 2)]
    assert quiet.facts["unseen.kernel-oom-kill"] is True
    # the output of a command is not the log of the job: what it lacks says nothing of the rest
    assert "log.given" not in shown.facts
    assert "log.given" not in quiet.facts


@pytest.mark.parametrize(
    "output", ["dmesg: read kernel buffer failed: Operation not permitted\n\n\n.", "usb"]
)
def test_a_command_that_did_not_work_tells_nothing(output: str) -> None:
    answer = answered(symptom__kernel_oom_kill=output)

    assert "unseen.kernel-oom-kill" not in answer.facts
    assert [item.source for item in answer.unread] == ["answer symptom.kernel-oom-kill"]


def test_the_outcome_of_a_step_speaks_for_the_causes_it_names(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(TIMEOUT)

    answer = diagnose(logs=log, answers={"hang.missing-rank": "one-is-missing"})

    best = answer.causes[0]
    assert best.id == "rank-silent-or-dead"
    cited = {at.source for reason in best.reasons if reason.holds for at in reason.evidence}
    assert "answer hang.missing-rank" in cited


def test_an_outcome_is_named_by_its_id_its_number_or_its_words() -> None:
    hang = "training hangs in the middle, no error"
    ask = next(ask for ask in diagnose(note=hang).asks if ask.values)
    said = (ask.values[1], "2", ask.reading[1].partition(" -> ")[0])

    found = [diagnose(note=hang, answers={ask.id: text}) for text in said]

    assert found[0].causes == found[1].causes == found[2].causes != diagnose(note=hang).causes
    assert {item.facts[f"answered.{ask.id}"] for item in found} == {ask.values[1]}
    with pytest.raises(UsageError, match=f"expected one of {ask.values[0]}, "):
        diagnose(note=hang, answers={ask.id: "nonsense"})


def test_the_output_of_a_step_is_searched_like_that_of_any_command() -> None:
    shown = diagnose(note=KILLED, answers={"host-oom.who-killed": KERNEL})

    assert "kernel-oom-kill" in [item.id for item in shown.symptoms]
    assert "host-oom.who-killed" not in [ask.id for ask in shown.asks]


def test_stacks_that_are_pasted_are_read_like_files_of_them() -> None:
    def dump(pid: int, *frames: tuple[str, str]) -> str:
        named = [{"name": name, "filename": file, "line": 7} for name, file in frames]
        thread = {"pid": pid, "thread_name": "MainThread", "active": False, "owns_gil": False}
        return json.dumps([thread | {"frames": named}])

    waits = ("all_reduce", "/x/torch/distributed/distributed_c10d.py"), ("fit", "/data/train.py")
    reads = ("read_bytes", "/usr/lib/python3.11/pathlib.py"), ("load", "/data/dataset.py")
    pasted = "\n".join((dump(11, *waits), dump(12, *reads), dump(13, *waits)))

    shown = diagnose(note="the job hangs", answers={"hang.stacks": pasted})

    assert shown.ranks is not None
    assert "/data/dataset.py:7 load" in [one.frame for one in shown.ranks.places]


def test_a_pasted_traceback_says_where_it_broke_off() -> None:
    pasted = (
        "Traceback (most recent call last):\n"
        '  File "/env/lib/python3.11/site-packages/trl/trainer/grpo_trainer.py", line 9, in step\n'
        "    self.go()\n"
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )

    answer = diagnose(note=KILLED, answers={"crash.first-error": pasted})

    assert answer.facts["failure.package"] == "trl"
    assert answer.facts["failure.function"] == "step"
    assert "log.given" not in answer.facts


def test_who_does_not_know_is_not_asked_again_and_changes_nothing_else() -> None:
    before = answered()
    unknown = {ask.id: "不知道" for ask in before.asks}

    after = diagnose(note=KILLED, answers=unknown)

    assert not {ask.id for ask in after.asks} & unknown.keys()
    assert after.causes == before.causes
    assert (after.verdict, after.facts) == (before.verdict, before.facts)


def test_what_the_log_shows_goes_before_an_answer(tmp_path: Path) -> None:
    log = tmp_path / "kernel.log"
    log.write_text(KERNEL)

    answer = diagnose(logs=log, answers={"symptom.kernel-oom-kill": "no"})

    assert "kernel-oom-kill" in [item.id for item in answer.symptoms]
    assert "unseen.kernel-oom-kill" not in answer.facts
    assert any(f"{log}:2 shows it" in item.reason for item in answer.unread)


def test_what_the_launch_sets_goes_before_an_answer(tmp_path: Path) -> None:
    launch = tmp_path / "launch.sh"
    launch.write_text("swift sft --model Qwen/Qwen2.5-7B --per_device_train_batch_size 2\n")

    answer = diagnose(cmd=launch, answers={"train.micro_batch": "8"})

    assert answer.facts["train.micro_batch"] == 2
    told = [item for item in answer.unread if item.source == "answer train.micro_batch"]
    assert [item.reason for item in told] == [
        f"train.micro_batch 8 was answered, but the inputs say 2 ({launch}:1), which counts"
    ]


def test_a_log_a_launch_and_versions_are_read_as_their_options_read_them() -> None:
    answer = answered(
        log=TIMEOUT,
        launch="swift sft --model Qwen/Qwen2.5-7B --deepspeed zero3",
        versions="torch==2.5.1,ms-swift==3.2.1",
    )

    assert answer.facts["log.given"] is True
    assert answer.facts["parallel.zero_stage"] == 3
    assert (answer.job.framework, answer.job.framework_version) == ("ms-swift", "3.2.1")
    assert not {"log", "launch", "versions"} & {ask.id for ask in answer.asks}


def test_an_output_may_stand_in_a_file(tmp_path: Path) -> None:
    log = tmp_path / "rank1.log"
    log.write_text(TIMEOUT)
    kernel = tmp_path / "dmesg.txt"
    kernel.write_text(KERNEL)

    answer = diagnose(note=KILLED, answers={"log": log, "symptom.kernel-oom-kill": kernel})

    sources = {at.source for item in answer.symptoms for at in item.evidence}
    assert {str(log), str(kernel)} <= sources


def test_the_versions_a_log_prints_go_before_those_answered() -> None:
    log = "Framework versions: PyTorch version: 2.4.0\nPyTorch version: 2.4.0\n" + TIMEOUT

    answer = answered(log=log, versions="torch==2.5.1")

    assert answer.facts.get("log.version.torch") == "2.4.0"
    assert any("torch 2.5.1 was answered" in item.reason for item in answer.unread)


def test_a_card_that_is_answered_is_the_card_of_the_job() -> None:
    named = answered(hardware__gpu="A100-80G", hardware__gpus="8")
    listed = answered(hardware__gpu="GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\nGPU 1: x\n")

    assert (named.job.gpu, named.job.gpus) == ("A100-SXM4-80GB", 8)
    assert listed.job.gpu == named.job.gpu


def test_an_id_nobody_asks_for_is_refused_with_the_open_ones() -> None:
    open_ = [ask.id for ask in answered().asks]

    with pytest.raises(UsageError) as error:
        answered(nonsense="1")

    assert str(error.value) == (
        f"--answer nonsense: there is no question of this id. Open questions: {', '.join(open_)}."
    )


@pytest.mark.parametrize(("ident", "said"), [("log", "yes"), ("train.micro_batch", "many")])
def test_an_answer_of_another_kind_is_refused(ident: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"--answer {ident}={said}: expected "):
        diagnose(note=KILLED, answers={ident: said})
