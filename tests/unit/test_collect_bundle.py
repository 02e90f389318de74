from __future__ import annotations

import stat
from pathlib import Path

import msgspec
import pytest
from live_jobs import running

from trainrx.collect.bundle import (
    Bundle,
    TakenItem,
    masked_bundle,
    merged,
    packed,
    unpacked,
    write_bundle,
)
from trainrx.collect.processes import WantedJob, find_job
from trainrx.collect.take import TakeOptions, take
from trainrx.inputs.files import read_path
from trainrx.model.bundle import BundleGap, BundleItem, BundleManifest, BundleProcess
from trainrx.model.errors import UsageError

TOKEN = "hf_" + "a1B2c3D4" * 4
STACKS = (
    '[{"pid":7,"frames":[{"name":"main","filename":"train.py","line":3}],"owns_gil":true,'
    f'"thread_name":"MainThread","process_info":{{"command_line":"train --key {TOKEN}"}}}}]'
)


def bundle(host: str = "node1", rank: int = 0) -> Bundle:
    item = BundleItem(
        path=f"{host}/rank{rank}/py-spy-1.json", kind="stacks", rank=rank, host=host, pid=7, at=5.0
    )
    log = BundleItem(path=f"{host}/rank{rank}/stderr.log", kind="log", rank=rank, host=host)
    manifest = BundleManifest(
        job="4711",
        host=host,
        processes=(BundleProcess(pid=7, role="rank", rank=rank, argv=("a", f"--token={TOKEN}")),),
        gaps=(BundleGap(kind="kernel", reason="not-permitted", right="kernel-log"),),
    )
    said = "RuntimeError: CUDA out of memory by correct horse\n"
    texts = [TakenItem(item=item, text=STACKS), TakenItem(item=log, text=said)]
    return masked_bundle(manifest, texts, "secrets", frozenset({"correct horse 12"}))


OTHER = msgspec.structs.replace(bundle("pod").manifest, processes=(BundleProcess(pid=9),))


def test_a_bundle_is_read_as_it_was_written() -> None:
    one = bundle()

    assert unpacked(packed(one), "x") == one


def test_secrets_are_masked_in_every_part() -> None:
    one = bundle()

    assert TOKEN not in str(one)
    assert all(TOKEN.encode() not in data for data in one.contents.values())
    assert one.manifest.items[0].path == "node1/rank0/py-spy-1.json"


def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.zst"

    write_bundle(bundle(), path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["x.tar.zst"]


def test_bundles_of_several_machines_become_one() -> None:
    both = merged([bundle("node1", 0), bundle("node2", 1)])

    assert [item.rank for item in both.manifest.items] == [0, 0, 1, 1]
    assert len(both.contents) == 4


def test_machines_that_are_called_alike_keep_what_is_theirs() -> None:
    both = merged([bundle("pod", 0), msgspec.structs.replace(bundle("pod", 0), manifest=OTHER)])

    paths = [item.path for item in both.manifest.items]
    assert len(set(paths)) == 4
    assert both.contents.keys() == {*paths}


@pytest.mark.parametrize("data", [b"", b"x" * 99, packed(bundle())[:200]])
def test_what_is_no_bundle_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="is no bundle"):
        unpacked(data, "x")


def test_items_are_inputs_with_what_the_manifest_says_of_them(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.zst"
    write_bundle(bundle(), path)

    inputs, unread = read_path(path)

    assert [(one.kind, one.taken.rank if one.taken else None) for one in inputs] == [
        ("log", 0),
        ("log", 0),
    ]
    assert [one.reason for one in unread] == ["kernel was not taken: not permitted"]


def test_a_live_job_is_taken_into_a_bundle_that_names_its_ranks(tmp_path: Path) -> None:
    with running(tmp_path) as launcher:
        job = find_job(WantedJob(match=str(tmp_path)))
        found = take(job, TakeOptions(out=tmp_path, rounds=1))

    stacks = [item for item in found.bundle.manifest.items if item.kind == "stacks"]
    assert found.path == tmp_path / f"trainrx-pid{launcher.pid}.tar.zst"
    assert {item.rank for item in stacks} == {0, 1}
    assert any(b"wait_for_lock" in found.bundle.contents[item.path] for item in stacks)
