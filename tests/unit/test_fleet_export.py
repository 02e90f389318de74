from pathlib import Path

from accuracy import asked, read_cases
from fleet_answers import failed, healthy

from trainrx import diagnose
from trainrx.fleet.export import export
from trainrx.fleet.history.store import ToldOutcome
from trainrx.fleet.record import FleetJob, JobLimits
from trainrx.fleet.work import examine

EXAMPLE = Path(__file__).parents[2] / "examples" / "01-vl7b-grpo-2xA800-80g"


def _told(job: str, param: str, value: str, *, worked: bool = True) -> ToldOutcome:
    return ToldOutcome(job=job, param=param, value=value, worked=worked, told=0.0)


def test_an_exported_case_is_read_by_the_fit_and_answered_like_the_job(tmp_path: Path) -> None:
    files = {name: str(EXAMPLE / name) for name in ("launch.sh", "train.log")}
    job = FleetJob(
        key="job-of-alice",
        name="j",
        source="folder",
        launch=(files["launch.sh"],),
        logs=(files["train.log"],),
    )
    answer = examine(job, JobLimits())

    (path,) = export([answer], [_told(job.key, "MAX_PIXELS", "602112")], tmp_path / "cases")
    (case,) = read_cases(path.parent, strict=True)
    again = diagnose(**asked(case, tmp_path))

    assert again.causes[0].id == answer.causes[0][0]
    assert case["symptom"] == "oom"
    assert case["fixes"] == [
        {"param": "MAX_PIXELS", "action": "set", "value": "602112", "kind": "env"}
    ]


def test_nothing_in_a_case_names_a_person_a_machine_or_a_secret(tmp_path: Path) -> None:
    answer = failed(
        "alice@login01:/home/alice/runs/7",
        user="alice",
        nodes=("gpu-node-17",),
        family="oom",
        launch_lines=(
            "command=ms-swift sft swift",
            "env.WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567",
            "env.NCCL_DEBUG=INFO",
            "model=/home/alice/models/secret-project",
        ),
        quoted=("[gpu-node-17.cluster.example.com] OutOfMemoryError in /home/alice/x.py",),
    )

    (path,) = export([answer], [_told(answer.key, "MAX_PIXELS", "1")], tmp_path)

    text = path.read_text() + path.name
    assert not [word for word in ("alice", "0123456789", "cluster.example") if word in text]
    assert "NCCL_DEBUG: INFO" in text


def test_only_failed_jobs_of_which_somebody_told_what_helped_are_cases(tmp_path: Path) -> None:
    answers = [failed("a", family="oom"), failed("b", family="oom"), healthy("c")]
    told = [_told("b", "x", "1", worked=False), _told("c", "x", "1"), _told("a", "", "")]

    assert export(answers, told, tmp_path) == ()
