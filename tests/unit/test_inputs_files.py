from __future__ import annotations

import errno
import gzip
import io
import json
import os
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard

from trainrx import diagnose
from trainrx.inputs.budget import ReadingBudget
from trainrx.inputs.files import read_path, read_stdin
from trainrx.inputs.stream import chunks
from trainrx.knowledge.regular import open_regular
from trainrx.model.errors import UsageError
from trainrx.model.findings import Unread
from trainrx.model.job import Input
from trainrx.model.limits import LIMITS, ReadingLimits

LOG = "[INFO:swift] start\nTraceback (most recent call last):\nRuntimeError: x\n"
SCRIPT = "swift sft \\\n    --model x \\\n    --lora_rank 8\n"


def put(folder: Path, name: str, text: str = LOG) -> Path:
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def kinds(inputs: list[Input]) -> dict[str, str]:
    return {Path(item.name).name: item.kind for item in inputs}


def drained(item: Input, limit: int = 1 << 30) -> tuple[bytes, list[Unread]]:
    unread: list[Unread] = []
    return b"".join(chunks(item, unread.append, limit=limit)), unread


def test_a_log_is_left_on_disk_and_a_script_carries_its_text(tmp_path: Path) -> None:
    (log,), _ = read_path(put(tmp_path, "a"))
    (script,), _ = read_path(put(tmp_path, "b", SCRIPT))

    assert (log.kind, log.text, log.path) == ("log", None, tmp_path / "a")
    assert (script.kind, script.text) == ("script", SCRIPT)


def test_a_script_keeps_its_crlf_and_a_config_does_not(tmp_path: Path) -> None:
    script = tmp_path / "a"
    script.write_bytes(SCRIPT.replace("\n", "\r\n").encode())
    config = tmp_path / "b"
    config.write_bytes(b"\xef\xbb\xbfstage: sft\r\nfinetuning_type: lora\r\n")

    assert "\\\r\n" in (read_path(script)[0][0].text or "")
    assert read_path(config)[0][0].text == "stage: sft\nfinetuning_type: lora\n"


def test_the_word_of_the_user_decides_the_kind(tmp_path: Path) -> None:
    place = put(tmp_path, "notes.txt", "everything stopped\n")

    assert read_path(place, kind="script")[0][0].kind == "script"
    assert read_path(place, kind="log")[0][0].kind == "log"


def test_metrics_given_as_a_log_are_still_metrics(tmp_path: Path) -> None:
    place = put(tmp_path, "logging.jsonl", '{"loss": 1.0, "global_step/max_steps": "1/9"}\n' * 3)

    assert read_path(place, kind="log")[0][0].kind == "metrics"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty or blank"),
        (b"\x80\x02}q\x00" + bytes(range(256)) * 9, "is a pickle"),
        (b"\x7fELF\x02\x01" + b"\x00" * 90, "is binary"),
        (bytes(range(128, 256)) * 30, "is binary"),
        (b"import torch\nfrom x import y\n\ndef main():\n    pass\n", "Python source"),
        (b'[{"messages": [{"role": "user"}]}]', "a data set"),
    ],
)
def test_what_cannot_be_used_is_said_of_a_named_file(
    tmp_path: Path, data: bytes, said: str
) -> None:
    place = tmp_path / "x"
    place.write_bytes(data)

    with pytest.raises(UsageError, match=said):
        read_path(place)


@pytest.mark.parametrize("name", ["missing", "no*thing", "no**thing", "x" * 5000, "a\0b"])
def test_a_missing_file_is_an_error_of_use(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"no (?:such )?file|not a pattern"):
        read_path(tmp_path / name)


def test_a_pattern_gives_all_files_in_order(tmp_path: Path) -> None:
    for number in (2, 0, 1):
        put(tmp_path, f"rank{number}.log")

    inputs, _ = read_path(tmp_path / "rank*.log")

    assert [Path(item.name).name for item in inputs] == ["rank0.log", "rank1.log", "rank2.log"]


def test_a_pattern_below_folders_works(tmp_path: Path) -> None:
    put(tmp_path, "none_1/attempt_0/3/stderr.log")

    assert len(read_path(tmp_path / "*" / "attempt_0" / "*" / "stderr.log")[0]) == 1


def test_a_run_folder_is_read_by_content(tmp_path: Path) -> None:
    put(tmp_path, "launch.sh", SCRIPT)
    put(tmp_path, "attempt_0/3/stderr.log")
    put(tmp_path, "slurm-123_4.out")
    put(
        tmp_path,
        "args.json",
        json.dumps({f"k{n}": n for n in range(60)} | {"output_dir": "o"}, indent=2),
    )
    put(tmp_path, "logging.jsonl", '{"loss": 1.0, "global_step/max_steps": "1/9"}\n')
    put(tmp_path, "checkpoint-9/trainer_state.json", json.dumps({"log_history": []}))
    put(tmp_path, "checkpoint-10/trainer_state.json", json.dumps({"log_history": [{"loss": 1.0}]}))
    put(tmp_path, "requirements.txt", "torch==2.5.1\ntransformers==4.48.0\n")
    put(tmp_path, "train.yaml", "stage: sft\nmodel_name_or_path: x\n")
    put(tmp_path, ".hydra/config.yaml", "trainer:\n  nnodes: 1\n")

    inputs, unread = read_path(tmp_path)

    assert kinds(inputs) == {
        "launch.sh": "script",
        "stderr.log": "log",
        "slurm-123_4.out": "log",
        "args.json": "args",
        "logging.jsonl": "metrics",
        "trainer_state.json": "metrics",
        "requirements.txt": "versions",
        "train.yaml": "config",
        "config.yaml": "config",
    }
    assert [item.name for item in inputs if "state" in item.name] == [
        str(tmp_path / "checkpoint-10/trainer_state.json")
    ]
    assert unread == []


def test_weights_tokenizers_data_and_empty_logs_are_passed_over_in_silence(tmp_path: Path) -> None:
    put(tmp_path, "train.log")
    for name in (
        "model.safetensors",
        "optimizer.pt",
        "tokenizer.json",
        "merges.txt",
        "events.out.tfevents.1",
    ):
        put(tmp_path, name, "\x00\x01\x02" * 50)
    put(tmp_path, "attempt_0/1/stdout.log", "")

    inputs, unread = read_path(tmp_path)

    assert kinds(inputs) == {"train.log": "log"}
    assert unread == []


def test_data_in_a_folder_is_left_to_the_readers_of_evidence_and_is_no_loss(tmp_path: Path) -> None:
    put(tmp_path, "train.log")
    put(tmp_path, "data.jsonl", '{"query": "a"}\n{"query": "b"}\n')

    inputs, unread = read_path(tmp_path)

    assert kinds(inputs) == {"train.log": "log", "data.jsonl": "other"}
    assert unread == []
    assert [item.source for item in diagnose(tmp_path).unread if "data" in item.source] == []


def test_a_broken_file_inside_a_folder_is_unread(tmp_path: Path) -> None:
    put(tmp_path, "train.log")
    (tmp_path / "core.log").write_bytes(b"\x7fELF" + b"\x00\x01" * 99)

    found = diagnose(tmp_path).unread

    assert [(Path(item.source).name, item.reason[:9]) for item in found] == [
        ("core.log", "is binary")
    ]


def test_a_folder_without_anything_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"args\.json, logging\.jsonl"):
        read_path(tmp_path)


def test_too_many_files_are_cut_off_and_told(tmp_path: Path) -> None:
    for number in range(LIMITS.files + 5):
        (tmp_path / f"{number:05}.log").write_text("x\n")

    inputs, unread = read_path(tmp_path)

    assert len(inputs) == LIMITS.files
    assert [item.source for item in unread] == [str(tmp_path)]


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_packed_logs_are_read_as_they_are(tmp_path: Path, suffix: str) -> None:
    data = (LOG * 5000).encode()
    place = tmp_path / f"x.log.{suffix}"
    pack = gzip.compress if suffix == "gz" else zstandard.ZstdCompressor().compress
    place.write_bytes(pack(data[:1000]) + pack(data[1000:]))

    (found,), unread = read_path(place)

    assert (found.kind, unread) == ("log", [])
    assert drained(found) == (data, [])


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_torn_archive_is_read_as_far_as_it_goes(tmp_path: Path, suffix: str) -> None:
    data = "".join(f"line {n * 7919}\n" for n in range(200_000)).encode()
    packed = gzip.compress(data) if suffix == "gz" else zstandard.ZstdCompressor().compress(data)
    place = tmp_path / "x"
    place.write_bytes(packed[: len(packed) // 2])

    read, unread = drained(read_path(place)[0][0])

    assert data.startswith(read)
    assert len(read) > len(data) // 4
    assert "damaged or cut off" in unread[0].reason


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_decompression_bomb_ends_at_the_limit(tmp_path: Path, suffix: str) -> None:
    data = b"a\n" * 5_000_000
    place = tmp_path / "x"
    pack = gzip.compress if suffix == "gz" else zstandard.ZstdCompressor().compress
    place.write_bytes(pack(data))

    read, unread = drained(Input(kind="log", name="x", path=place), limit=1_000_001)

    assert read == data[:1_000_001]
    assert "first 1000001 bytes" in unread[0].reason


def test_a_file_that_vanishes_is_unread(tmp_path: Path) -> None:
    read, unread = drained(Input(kind="log", name="gone", path=tmp_path / "gone"))

    assert read == b""
    assert "cannot be read" in unread[0].reason


def packed_folder(kind: str) -> bytes:
    out = io.BytesIO()
    names = {"run/train.log": LOG, "run/launch.sh": SCRIPT, "run/model.bin": "\0" * 99}
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as packed:
            for name, text in names.items():
                packed.writestr(name, text)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w:gz" if kind == "tar.gz" else "w") as archive:
        for name, text in names.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_a_packed_run_folder_is_opened(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "run"
    place.write_bytes(packed_folder(kind))

    inputs, unread = read_path(place)

    assert {item.name.rpartition("!")[2]: item.kind for item in inputs} == {
        "run/train.log": "log",
        "run/launch.sh": "script",
    }
    assert unread == []


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_a_torn_packed_folder_raises_nothing_but_an_error_of_use(tmp_path: Path, kind: str) -> None:
    data = packed_folder(kind)
    place = tmp_path / "run"
    outcomes = set()
    for size in range(1, len(data), max(1, len(data) // 40)):
        place.write_bytes(data[:size])
        with suppress(UsageError):
            outcomes.add(bool(read_path(place)[0]))

    assert outcomes <= {True}


def test_stdin_is_recognised_too() -> None:
    (script,), _ = read_stdin(SCRIPT.encode())
    (log,), _ = read_stdin(b"a\r 1%|\r 2%|\nCUDA out of memory\nRuntimeError: x\n")

    assert (script.kind, script.name) == ("script", "<stdin>")
    assert log.kind == "log"
    assert (log.text or "").count("\n") == 3


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\0\0", b"\x1f\x8b\x08", b"\x7fELF\1\1" * 9])
def test_unusable_stdin_is_an_error_of_use(data: bytes) -> None:
    with pytest.raises(UsageError, match="<stdin>"):
        read_stdin(data)


def test_a_script_beyond_reason_is_read_in_part_and_told(tmp_path: Path) -> None:
    place = put(tmp_path, "x.sh", SCRIPT + "# filler\n" * (LIMITS.text // 9 + 1))

    (found,), unread = read_path(place)

    assert len(found.text or "") == LIMITS.text
    assert "only its beginning" in unread[0].reason


def test_an_archive_without_anything_of_use_says_so(tmp_path: Path) -> None:
    place = tmp_path / "weights.zip"
    with zipfile.ZipFile(place, "w") as packed:
        packed.writestr("model.safetensors", "x")

    with pytest.raises(UsageError, match="no log, script or config in it"):
        read_path(place)


def test_of_a_long_member_of_an_archive_the_beginning_and_the_end_are_read(tmp_path: Path) -> None:
    place = tmp_path / "run"
    place.write_bytes(packed_folder("zip"))

    inputs, unread = read_path(place, budget=ReadingBudget(ReadingLimits(member=30)))

    (log,) = (item.text for item in inputs if item.kind == "log")
    assert log == LOG[:23] + "\n" * LOG[23:-7].count("\n") + LOG[-7:]
    assert "the first 23 and the last 7 were read" in unread[0].reason


def test_a_pattern_that_matches_nothing_of_use_says_so(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "import x\nfrom y import z\n\n")

    with pytest.raises(UsageError, match="1 files match, but none"):
        read_path(tmp_path / "*.py")


def test_a_file_of_the_kernel_that_has_nothing_to_give_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: object) -> bytes:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    path = tmp_path / "kmsg"
    path.write_text("")
    monkeypatch.setattr(os, "pread", nothing)

    with pytest.raises(BlockingIOError):
        open_regular(path)


def test_of_many_files_that_show_no_kind_some_are_read_and_the_rest_is_told(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.log").write_text("plain words\n" * 100)
    (tmp_path / "last.log").write_text("RuntimeError: x\n" + "plain words\n" * 100)
    (tmp_path / "run.sh").write_text("torchrun train.py --bf16 true\n")

    inputs, unread = read_path(tmp_path, budget=ReadingBudget(ReadingLimits(plain=2500)))

    assert [Path(item.name).name for item in inputs] == [
        *("0.log", "1.log", "2.log", "last.log", "run.sh")
    ]
    (one,) = unread
    assert one.reason.startswith("6 of its files do not show in their first 1024 bytes")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc")
def test_a_file_that_gives_an_error_of_its_disk_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "rank1.log"
    broken.symlink_to("/proc/self/mem")
    (tmp_path / "rank0.log").write_text("RuntimeError: x\n")

    inputs, unread = read_path(tmp_path)

    assert [item.name for item in inputs] == [str(tmp_path / "rank0.log")]
    assert [(one.source, one.reason) for one in unread] == [
        (str(broken), f"cannot be read: {os.strerror(errno.EIO)}")
    ]
    with pytest.raises(UsageError, match="cannot be read"):
        read_path(broken)


def test_in_a_folder_of_too_many_files_the_log_is_found_wherever_it_stands(tmp_path: Path) -> None:
    for name in ("a.bin", "b.bin", "nohup.md", "train.log"):
        (tmp_path / name).write_text("RuntimeError: x\n")

    inputs, unread = read_path(tmp_path, budget=ReadingBudget(ReadingLimits(entries=2)))

    assert [item.name for item in inputs] == [str(tmp_path / "train.log")]
    assert [one.source for one in unread] == [str(tmp_path)]
    assert "only those named like logs" in unread[0].reason
