from __future__ import annotations

from pathlib import Path

import pytest
from live_jobs import running

from trainrx.collect.processes import LiveJob, WantedJob, find_job
from trainrx.collect.table import ProcessTable, TableRow, process_table
from trainrx.collect.variables import secret_values, taken_variables
from trainrx.model.errors import UsageError

TOKEN = "hf_" + "a1B2c3D4" * 4


def row(pid: int, parent: int, *argv: str, **env: str) -> TableRow:
    words = argv or ("python3", "train.py")
    return TableRow(pid=pid, parent=parent, argv=words, started=float(pid), env=env)


def table(*rows: TableRow) -> ProcessTable:
    return ProcessTable(rows={one.pid: one for one in rows})


def ranked(rank: int, world: int = 2, port: int = 29500) -> dict[str, str]:
    said = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world, "MASTER_PORT": port}
    return {name: str(value) for name, value in said.items()}


def roles(job: LiveJob) -> dict[int, tuple[str, int | None]]:
    return {one.pid: (one.role, one.rank) for one in job.processes}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> LiveJob:
    home = tmp_path_factory.mktemp("job")
    with running(home, words="worker", variables={"HF_TOKEN": TOKEN, "NCCL_DEBUG": "INFO"}):
        return find_job(WantedJob(match=str(home)))


def test_ranks_their_workers_and_the_script_are_found_on_this_machine(live: LiveJob) -> None:
    found = [(one.role, one.rank) for one in live.processes]

    assert sorted(found, key=str) == [
        ("launcher", None),
        ("rank", 0),
        ("rank", 1),
        ("worker", 1),
    ]
    assert live.world_size == 2
    assert [one.rank for one in live.ranks] == [0, 1]


def test_variables_are_taken_by_name_and_secrets_stay(live: LiveJob) -> None:
    said = live.ranks[0].variables

    assert said["NCCL_DEBUG"] == "INFO"
    assert "HF_TOKEN" not in said
    assert TOKEN in live.secrets


def test_a_rank_a_launcher_and_a_worker_lead_to_the_whole_job(tmp_path: Path) -> None:
    with running(tmp_path, words="worker") as launcher:
        whole = find_job(WantedJob(match=str(tmp_path)))
        by_pid = [find_job(WantedJob(pid=one.pid)) for one in whole.processes]

    assert launcher.pid in roles(whole)
    assert [roles(job) for job in by_pid] == [roles(whole)] * len(by_pid)


def test_a_launcher_with_the_rank_of_its_node_is_no_rank() -> None:
    node = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_PORT": "29500"}
    rows = table(
        row(10, 1, "python3", "/usr/bin/torchrun", "train.py", **node),
        row(11, 10, **ranked(0, 2)),
        row(12, 10, **ranked(1, 2)),
    )

    found = roles(find_job(WantedJob(pid=10), rows))

    assert found == {10: ("launcher", None), 11: ("rank", 0), 12: ("rank", 1)}


def test_two_jobs_are_told_apart() -> None:
    rows = table(*(row(10 + n, 1, **ranked(n)) for n in range(2)), row(20, 1, **ranked(0, 1, 1)))

    with pytest.raises(UsageError, match=r"2 jobs run on this machine.*--pid 10.*--pid 20"):
        find_job(WantedJob(), rows)
    assert roles(find_job(WantedJob(pid=11), rows)) == {10: ("rank", 0), 11: ("rank", 1)}


def test_a_slurm_job_is_found_by_its_number_and_its_ranks_by_the_step() -> None:
    slurm = {"SLURM_JOB_ID": "4711", "SLURM_NTASKS": "2"}
    rows = table(
        row(10, 1, "python3", "train.py", SLURM_PROCID="0", SLURM_LOCALID="0", **slurm),
        row(11, 1, "python3", "train.py", SLURM_PROCID="1", SLURM_LOCALID="1", **slurm),
        row(12, 1, "python3", "other.py", SLURM_JOB_ID="4712"),
    )

    job = find_job(WantedJob(slurm="4711"), rows)

    assert job.name == "4711"
    assert roles(job) == {10: ("rank", 0), 11: ("rank", 1)}


def test_engines_and_actors_are_no_ranks() -> None:
    rows = table(
        row(10, 1, "python3", "train.py"),
        row(11, 10, "VLLM::EngineCore"),
        row(12, 10, "ray::WorkerDict.generate"),
    )

    found = roles(find_job(WantedJob(pid=10), rows))

    assert {pid: role for pid, (role, _) in found.items()} == {
        10: "rank",
        11: "engine",
        12: "engine",
    }


def test_what_may_not_be_read_is_told_with_the_right_it_takes() -> None:
    hidden = TableRow(pid=10, parent=1, argv=("python3", "train.py"), env=None)

    job = find_job(WantedJob(pid=10), table(hidden))

    assert [(gap.pid, gap.kind, gap.right) for gap in job.gaps] == [(10, "environment", "owner")]


def test_hostile_names_and_words_harm_nothing() -> None:
    words = ("python3", "a\nb\x1b[31m", "\udcff" * 5, "x" * (1 << 20))
    rows = table(row(10, 1, *words, RANK="9" * 30, WORLD_SIZE="-1"), row(11, 11, "", RANK="x"))

    job = find_job(WantedJob(pid=10), rows)

    assert [one.rank for one in job.ranks] == [None]


@pytest.mark.parametrize("wanted", [WantedJob(pid=2**30), WantedJob(match="no-such-words-[0-9]")])
def test_a_job_that_is_not_there_is_told(wanted: WantedJob) -> None:
    with pytest.raises(UsageError, match=r"no (?:such )?process"):
        find_job(wanted)


def test_a_wrong_expression_is_told() -> None:
    with pytest.raises(UsageError, match="is no regular expression"):
        find_job(WantedJob(match="("), table(row(10, 1)))


def test_the_table_does_not_hold_what_looks_at_it() -> None:
    import os

    assert os.getpid() not in process_table().rows


def test_names_of_secrets_decide_what_is_one() -> None:
    env = {"WANDB_API_KEY": "0123456789", "HF_HOME": "/d", "MY_NOTE": "x", "RANK": "0"}

    assert taken_variables(env) == {"HF_HOME": "/d", "RANK": "0"}
    assert secret_values(env) == {"0123456789"}
