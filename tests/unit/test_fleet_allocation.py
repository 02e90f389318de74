"""What the files of a job state of where, when and by whom it was run."""

import json
import os
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from trainrx.fleet.record import JobLimits
from trainrx.fleet.sources.folders import FolderSource
from trainrx.fleet.work import examine
from trainrx.model.bundle import BundleItem, BundleManifest

LAUNCH = "torchrun --nproc_per_node 8 swift sft --model Qwen/Qwen2.5-7B-Instruct\n"
FAILURE = "OSError: [Errno 28] No space left on device\n"
NCCL = "n02:1234:5678 [1] NCCL INFO cudaDriverVersion 12040\n"
LOG = f"2026-11-01 10:00:00,120 INFO begins\n{NCCL}2026-11-01 12:30:00,5 INFO step 7\n{FAILURE}"
SCONTROL = """JobId=77 JobName=sft
   UserId=ann(1000) GroupId=ml(100) MCS_label=N/A
   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)
   RunTime=01:00:00 TimeLimit=1-00:00:00 TimeMin=N/A
   StartTime=2026-11-01T10:00:00 EndTime=2026-11-01T11:00:00 Deadline=N/A
   Partition=gpu AllocNode:Sid=login:1
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=n[01-02]
   TRES=cpu=64,mem=512G,node=2,billing=64,gres/gpu=16
"""
ENV = """PATH=/usr/bin
HOME=/home/ann
SLURM_JOB_USER=ann
SLURM_JOB_NODELIST=n[07,09-10]
SLURM_JOB_PARTITION=h100
"""
POD = {
    "kind": "Pod",
    "spec": {"nodeName": "ip-10-0-0-7.internal", "containers": [{"image": "train:7"}]},
    "status": {"startTime": "2026-11-01T10:00:00Z"},
}
WANDB = {
    "host": "gpu-3.cluster.local",
    "username": "bea",
    "startedAt": "2026-11-01T10:00:00.120Z",
    "gpu_count": 4,
    "program": "/w/train.py",
    "args": ["--lr", "1"],
}
TEN = datetime.fromisoformat("2026-11-01T10:00:00+00:00").timestamp()


def _answer(folder: Path, **files: str):
    folder.mkdir(exist_ok=True)
    for name, text in ({"launch_sh": LAUNCH, "train_log": LOG} | files).items():
        stem, _, ending = name.rpartition("_")
        (folder / f"{stem}.{ending}").write_text(text)
    source = FolderSource([folder])
    (job,) = source.jobs(None)
    return examine(source.prepared(job), JobLimits())


def test_a_folder_of_a_slurm_job_says_where_it_ran_and_what_it_cost(tmp_path: Path) -> None:
    found = _answer(tmp_path / "a", scontrol_txt=SCONTROL)

    assert (found.nodes, found.user, found.partition) == (("n01", "n02"), "ann", "gpu")
    assert (found.ended - found.started, found.gpus, found.gpu_hours) == (3600, 16, 16.0)


@pytest.mark.parametrize(
    ("name", "text", "nodes", "user"),
    [
        ("env_txt", ENV, ("n07", "n09", "n10"), "ann"),
        ("kubectl_json", json.dumps(POD), ("ip-10-0-0-7.internal",), ""),
        ("wandb-metadata_json", json.dumps(WANDB), ("gpu-3", "n02"), "bea"),
        ("run_log", "srun: error: n05: task 3: Exited with exit code 1\n", ("n02", "n05"), ""),
        ("run_log", "hostname: n06\n", ("n02", "n06"), ""),
        ("env_txt", f"{ENV}KUBERNETES_PORT=tcp://1\n".replace("NODELIST", "X"), (), "ann"),
    ],
)
def test_what_a_file_states_is_read(
    tmp_path: Path, name: str, text: str, nodes: tuple[str, ...], user: str
) -> None:
    found = _answer(tmp_path / "a", **{name: text})

    owner = (tmp_path / "a").owner()
    assert (found.nodes, found.user) == (nodes, user or owner)


def test_stamps_of_logs_say_how_long_it_ran_and_of_a_copy_when(tmp_path: Path) -> None:
    fresh = _answer(tmp_path / "a")
    os.utime(tmp_path / "a/train.log", (TEN + 9000 + 8 * 3600, TEN + 9000 + 8 * 3600))
    os.utime(tmp_path / "a/launch.sh", (TEN, TEN))
    in_place = _answer_again(tmp_path / "a")

    assert fresh.ended - fresh.started == in_place.ended - in_place.started == 9000
    assert fresh.ended == TEN + 9000  # the files were written today: it is a copy
    assert in_place.ended == TEN + 9000 + 8 * 3600  # a log in the time of another zone
    assert fresh.gpu_hours == 8 * 2.5


def _answer_again(folder: Path):
    source = FolderSource([folder])
    (job,) = source.jobs(None)
    return examine(source.prepared(job), JobLimits())


def test_what_nothing_states_stays_unknown(tmp_path: Path) -> None:
    found = _answer(tmp_path / "a", train_log=FAILURE, launch_sh=f"echo NodeList=n1\n{LAUNCH}")

    assert (found.nodes, found.image, found.partition) == ((), "", "")
    assert (found.started, found.gpu_hours) == (None, None)


def test_a_bundle_names_the_machines_it_was_taken_on(tmp_path: Path) -> None:
    items = [BundleItem(path=f"{host}.log", kind="log", host=host) for host in ("n1", "n2")]
    manifest = BundleManifest(job="77", host="n1", items=tuple(items))
    (tmp_path / "b").mkdir()
    for host in ("n1", "n2"):
        (tmp_path / f"b/{host}.log").write_text(FAILURE)
    (tmp_path / "b/manifest.json").write_bytes(msgspec.json.encode(manifest))

    found = _answer_again(tmp_path / "b")

    assert found.nodes == ("n1", "n2")
