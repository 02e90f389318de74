from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from live_jobs import running

from trainrx.cli import main
from trainrx.collect.bundle import masked_bundle, packed, unpacked
from trainrx.collect.commands import NOT_FOUND, CommandOutput
from trainrx.collect.processes import WantedJob
from trainrx.collect.remote import Via, collect_job
from trainrx.collect.take import TakeOptions
from trainrx.model.bundle import BundleManifest, BundleProcess
from trainrx.model.errors import UsageError

COMMAND = ("diagnose", "collect", "--job", "4711", "--out", "-")


def of_host(host: str, rank: int) -> bytes:
    process = BundleProcess(pid=7, role="rank", rank=rank, world_size=2, host=host)
    manifest = BundleManifest(job="4711", host=host, processes=(process,))
    return packed(masked_bundle(manifest, (), "secrets", frozenset()))


class Cluster:
    """Two nodes, of which the second has lost its network."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, argv: Sequence[str], limit: float) -> CommandOutput:
        self.asked.append(tuple(argv))
        line = f"{' '.join(argv)} {limit}"
        if argv[0] == "squeue":
            return CommandOutput(out=b"node[1-2]\n")
        if argv[0] == "scontrol":
            return CommandOutput(out=b"node1\nnode2\n")
        if "node2" in line:
            return CommandOutput(status=255, error="ssh: connect to host node2: timed out\n")
        return (
            CommandOutput(out=of_host("node1", 0))
            if "node1" in line
            else CommandOutput(status=NOT_FOUND)
        )


def test_the_nodes_of_a_slurm_job_are_asked_and_one_that_fails_is_told() -> None:
    cluster = Cluster()
    options = TakeOptions(run=cluster, rounds=1)

    found = collect_job(
        WantedJob(slurm="4711"), options, Via.parse("srun"), COMMAND
    ).bundle.manifest

    assert [one.host for one in found.processes] == ["node1"]
    assert [(gap.host, gap.reason) for gap in found.gaps] == [("node2", "failed")]
    assert "timed out" in found.gaps[0].detail
    srun = next(argv for argv in cluster.asked if argv[0] == "srun" and "--nodelist=node1" in argv)
    assert "--overlap" in srun
    assert "--jobid=4711" in srun


@pytest.mark.parametrize(
    ("via", "begins"),
    [
        ("ssh=node1", ("ssh", "-o", "BatchMode=yes")),
        ("kubectl=train/node1", ("kubectl", "exec", "-n", "train", "node1", "--", "diagnose")),
        ("kubectl=node1", ("kubectl", "exec", "node1", "--", "diagnose")),
    ],
)
def test_a_machine_is_reached_as_the_user_says(via: str, begins: tuple[str, ...]) -> None:
    cluster = Cluster()

    collect_job(WantedJob(slurm="4711"), TakeOptions(run=cluster), Via.parse(via), COMMAND)

    assert [argv[: len(begins)] for argv in cluster.asked] == [begins]


@pytest.mark.parametrize("text", ["", "telnet=a", "ssh", "kubectl=", "ssh=-oProxyCommand=x"])
def test_what_is_no_way_to_a_machine_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--via"):
        Via.parse(text)


def test_without_any_bundle_the_reasons_are_told() -> None:
    with pytest.raises(UsageError, match="no machine gave a bundle"):
        collect_job(
            WantedJob(match="no-such-[0-9]+"),
            TakeOptions(run=Cluster()),
            Via.parse("ssh=node2"),
            COMMAND,
        )


def test_the_command_on_another_machine_sends_its_bundle_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = tmp_path / "bin" / "ssh"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    remote = f"{sys.executable} -m trainrx.cli"
    said = ["--match", f"{tmp_path}/train_here", "--rounds", "1", "--no-answer", "--out"]
    out = tmp_path / "job.tar.zst"
    with running(tmp_path):
        status = main(["collect", *said, str(out), "--via", "ssh=elsewhere", "--remote", remote])

    shown = capsys.readouterr().out
    found = unpacked(out.read_bytes(), "x").manifest
    assert status == 0
    assert "ranks 0-1 of 2" in shown
    # here and there are one machine, which counts once
    assert [one.rank for one in found.processes if one.role == "rank"] == [0, 1]


def test_a_hung_job_is_collected_and_answered_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path):
        match = ["--match", f"{tmp_path}/train_here", "--rounds", "1"]
        status = main(["collect", *match, "--out", str(tmp_path), "--format", "json"])

    shown = capsys.readouterr()
    places = {one["rank"]: one["frame"] for one in json.loads(shown.out)["ranks"]["places"]}
    assert status == 0
    assert ".tar.zst" in shown.err
    assert "wait_for_lock" in places[1]


def test_a_job_that_is_named_twice_or_not_there_ends_with_two(
    capsys: pytest.CaptureFixture[str],
) -> None:
    twice = main(["collect", "--pid", "1", "--job", "2"])
    nowhere = main(["--lang", "zh", "collect", "--match", "no-such-[0-9]+-job"])

    assert (twice, nowhere) == (2, 2)
    assert "本机没有属于它的进程" in capsys.readouterr().err
