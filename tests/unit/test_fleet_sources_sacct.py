"""Jobs as `sacct --json` lists them: slurm.schedmd.com/rest_api.html, releases 22.05 to 25.05."""

import json
from pathlib import Path

import pytest

from trainrx.fleet.sources import sources_of
from trainrx.fleet.sources.sacct import SacctSource, expanded
from trainrx.model.errors import UsageError


def _number(value: int) -> dict:
    return {"set": True, "infinite": False, "number": value}


NOT_SET = {"set": False, "infinite": False, "number": 0}


def _job(folder: Path, **more) -> dict:
    return {
        "job_id": 4711,
        "cluster": "hpc",
        "name": "sft",
        "user": "ann",
        "partition": "gpu",
        "nodes": "n[01-02]",
        "working_directory": str(folder),
        "submit_line": "sbatch --nodes=2 run.sbatch --lr 1e-5",
        "state": {"current": ["FAILED"], "reason": "NonZeroExitCode"},
        "exit_code": {"status": ["ERROR"], "return_code": _number(1), "signal": {"id": NOT_SET}},
        "time": {"submission": 50, "start": 100, "end": 3700},
        "array": {"job_id": 0, "task_id": NOT_SET},
        "tres": {
            "allocated": [
                {"type": "cpu", "name": "", "id": 1, "count": 64},
                {"type": "gres", "name": "gpu", "id": 1001, "count": 16},
                {"type": "gres", "name": "gpu:a100", "id": 1002, "count": 16},
            ]
        },
        **more,
    }


def _listed(tmp_path: Path, *jobs: dict) -> list:
    listing = tmp_path / "jobs.json"
    listing.write_text(json.dumps({"meta": {"slurm": {}}, "jobs": jobs}))
    (source,) = sources_of([str(listing)])
    return [source.prepared(job) for job in source.jobs(None)]


def test_a_job_comes_with_its_launch_its_output_and_what_was_accounted(tmp_path: Path):
    (tmp_path / "run.sbatch").write_text("#!/bin/bash\n")
    (tmp_path / "log-4711-n01.txt").write_text("x\n")

    (job,) = _listed(tmp_path, _job(tmp_path, stdout="log-%j-%N.txt", stderr=""))

    assert (job.key, job.name, job.user, job.partition) == ("hpc/4711", "sft", "ann", "gpu")
    assert (job.nodes, job.gpus, job.state, job.exit_code) == (("n01", "n02"), 16, "FAILED", 1)
    assert (job.submitted, job.started, job.ended) == (50, 100, 3700)
    assert job.launch == (str(tmp_path / "run.sbatch"),)
    assert job.logs == (str(tmp_path / "log-4711-n01.txt"),)
    assert b"|FAILED|1:0|" in job.files[0].data
    assert job.inputs_digest


@pytest.mark.parametrize(
    ("more", "log"),
    [
        ({"stdout_expanded": "{}/o.txt", "stdout": "%j.txt"}, "o.txt"),
        ({}, "slurm-4711.out"),
        ({"array": {"job_id": 12, "task_id": _number(3)}}, "slurm-12_3.out"),
        (
            {"stdout": "a-%A_%4a.out", "array": {"job_id": 12, "task_id": _number(3)}},
            "a-12_0003.out",
        ),
    ],
)
def test_output_is_found_where_each_release_says_it_is(tmp_path: Path, more: dict, log: str):
    (tmp_path / log).write_text("x\n")
    filled = {k: v.format(tmp_path) if isinstance(v, str) else v for k, v in more.items()}

    (job,) = _listed(tmp_path, _job(tmp_path, **filled))

    assert job.logs == (str(tmp_path / log),)


def test_a_folder_named_by_the_number_of_its_job_is_read_whole(tmp_path: Path):
    own = tmp_path / "run-004711"
    own.mkdir()
    (own / "train.log").write_text("x\n")

    (job,), (other,) = _listed(tmp_path, _job(own)), _listed(tmp_path, _job(own, job_id=471))

    assert (job.folder, job.logs) == (str(own), ())
    assert (other.folder, other.logs) == ("", ())


def test_plain_numbers_and_states_of_older_releases_are_read(tmp_path: Path):
    old = {
        "state": {"current": "TIMEOUT", "reason": "None"},
        "exit_code": {"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 9}},
        "array": {"job_id": 12, "task_id": 0},
    }

    (job,) = _listed(tmp_path, _job(tmp_path, **old))

    assert (job.key, job.state, job.exit_code) == ("hpc/12_0", "TIMEOUT", 137)


def test_jobs_that_have_not_begun_are_no_jobs_yet(tmp_path: Path):
    waiting = _job(tmp_path, state={"current": ["PENDING"], "reason": "Resources"})

    assert _listed(tmp_path, waiting) == []


def test_lists_of_hosts_are_written_out():
    assert [*expanded("n[01-03,7],login,a[1-2]b[5]")] == [
        *("n01", "n02", "n03", "n7", "login", "a1b5", "a2b5")
    ]
    assert len([*expanded("n[0-999999999]")]) == 20_000


def test_without_slurm_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(UsageError, match=r"sacct --json > jobs\.json"):
        list(SacctSource().jobs(None))
