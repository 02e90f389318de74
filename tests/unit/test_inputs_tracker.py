"""Folders of W&B and SwanLab: arguments, launch, cards and versions, cited in the real file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.config import read_config
from trainrx.inputs.containers.tracker import contained
from trainrx.inputs.content import Content, Found
from trainrx.inputs.environment import read_environment
from trainrx.inputs.files import read_path
from trainrx.model.errors import UsageError
from trainrx.versions.listing import read_versions

CONFIG = """\
wandb_version: 1

_name_or_path:
  desc: null
  value: Qwen/Qwen2.5-7B-Instruct
_wandb:
  value:
    python_version: 3.10.14
learning_rate:
  desc: null
  value: 1.0e-05
fsdp:
  desc: null
  value: []
peft_config:
  desc: null
  value:
    default:
      r: 8
      target_modules:
      - q_proj
"""
CORE = "learning_rate:\n    value: 1e-05\noutput_dir:\n    value: out\n"
SWANLAB = (
    "bf16:\n  desc: ''\n  sort: 3\n  value: true\n"
    "output_dir:\n  desc: ''\n  sort: 2\n  value: out\n"
)
WANDB = {
    "python": "CPython 3.10.14",
    "startedAt": "2026-01-01T00:00:00.000000Z",
    "args": ["--dataset", "a b.jsonl"],
    "program": "/work/train.py",
    "gpu": "NVIDIA A100-SXM4-80GB",
    "gpu_count": 8,
    "gpu_nvidia": [{"name": "NVIDIA A100-SXM4-80GB", "memoryTotal": "85899345920"}],
    "cudaVersion": "12.4",
    "slurm": {"job_num_nodes": "2"},
}
SWANLAB_NOW = {
    "_version": 2,
    "hardware": {
        "accelerators": [
            {"vendor": "nvidia", "version": "550.54", "devices": [{"name": "NVIDIA H20"}]}
        ]
    },
    "runtime": {"python_version": "3.11.7", "command": "/usr/bin/python3 train.py --lr 1e-5"},
    "swanlab": {"version": "0.10.3"},
}
SWANLAB_BEFORE = {
    "gpu": {"nvidia": {"driver": "535.1", "cores": 1, "type": ["NVIDIA L20"], "cuda": "12.2"}},
    "python": "3.10.12",
    "command": "/usr/bin/python3 train.py",
    "swanlab": {"version": "0.6.0"},
}


def read(text: str) -> Found | None:
    return contained(Content("c", data=text.encode()))


def arguments(text: str) -> dict[str, tuple[tuple[str, ...] | None, int | None]]:
    found = read(text)
    assert found is not None
    (item,) = found[0]
    args, unread = read_config(item.text or "", item.name, whole=True)
    assert not unread
    return {arg.name: (arg.values, arg.origin.line) for arg in args}


def stated(data: dict[str, object]) -> tuple[list[str], dict[str, str], list[str]]:
    found = read(json.dumps(data))
    assert found is not None
    commands = [(i.text or "").strip() for i in found[0] if i.kind == "argv"]
    listings = [read_versions(i.text or "", "c") for i in found[0] if i.kind == "versions"]
    versions = {name: text for read in listings for name, text in read.texts().items()}
    return commands, versions, [name for read in listings for name, _ in read.gpus]


def test_arguments_stand_in_the_lines_of_their_values() -> None:
    found = arguments(CONFIG)

    assert found["learning_rate"] == (("1e-05",), 11)
    assert found["fsdp"] == ((), 14)
    assert "_wandb" not in found


def test_the_model_and_its_adapter_have_the_names_of_a_launch() -> None:
    found = arguments(CONFIG)

    assert found["model_name_or_path"] == (("Qwen/Qwen2.5-7B-Instruct",), 5)
    assert found["lora_r"] == (("8",), 17)
    assert found["lora_target_modules"] == (("q_proj",), 17)


@pytest.mark.parametrize(("text", "line"), [(CORE, 4), (SWANLAB, 8)])
def test_every_writer_of_such_a_file_is_read(text: str, line: int) -> None:
    assert arguments(text)["output_dir"] == (("out",), line)


def test_the_metadata_of_wandb_tells_words_cards_and_versions() -> None:
    commands, versions, cards = stated(WANDB)

    assert commands == ["python /work/train.py --dataset 'a b.jsonl'"]
    assert versions == {"python": "3.10.14", "cuda-driver": "12.4"}
    assert cards == ["NVIDIA A100-SXM4-80GB"]


@pytest.mark.parametrize(
    ("data", "versions", "card"),
    [
        (SWANLAB_NOW, {"python": "3.11.7", "swanlab": "0.10.3", "driver": "550.54"}, "NVIDIA H20"),
        (
            SWANLAB_BEFORE,
            {"python": "3.10.12", "swanlab": "0.6.0", "driver": "535.1", "cuda-driver": "12.2"},
            "NVIDIA L20",
        ),
    ],
)
def test_the_metadata_of_swanlab_tells_the_same(
    data: dict[str, object], versions: dict[str, str], card: str
) -> None:
    commands, found, cards = stated(data)

    assert commands[0].startswith("/usr/bin/python3 train.py")
    assert (found, cards) == (versions, [card])


def test_variables_of_slurm_are_an_environment() -> None:
    found = read(json.dumps(WANDB))

    assert found is not None
    (item,) = (i for i in found[0] if i.kind == "env")
    (variable,) = read_environment(item.text or "", "c").variables
    assert (variable.name, variable.value) == ("SLURM_JOB_NUM_NODES", "2")


def test_what_is_stated_is_cited_in_its_line() -> None:
    found = read(json.dumps(WANDB, indent=2))

    assert found is not None
    (command,) = (item for item in found[0] if item.kind == "argv")
    assert [bool(line) for line in (command.text or "").split("\n")].index(True) == 3


def test_a_damaged_file_says_so() -> None:
    found = read(json.dumps(WANDB)[:-4])

    assert found is not None
    assert found[0] == []
    assert "no whole JSON" in found[1][0].reason


@pytest.mark.parametrize(
    "text",
    [
        "model:\n  name: a\n",
        '{"output_dir": "out"}',
        "bf16: true\n",
        "loss:\n- value: 1\n",
        "",
    ],
)
def test_other_files_are_none_of_a_tracker(text: str) -> None:
    assert read(text) is None


@given(st.text(max_size=300))
def test_no_text_raises(text: str) -> None:
    for start in ("", "a:\n  value: ", '{"startedAt": ', '{"startedAt": 1, "args": ', CONFIG):
        read(start + text)


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    contained(Content("c", data=b"a:\n  desc: null\n  value: " + data))


def run_folder(root: Path, stamp: str = "20260101_000000") -> Path:
    files = root / "wandb" / f"run-{stamp}-abc" / "files"
    files.mkdir(parents=True)
    (files / "config.yaml").write_text(CONFIG)
    (files / "output.log").write_text("{'loss': 1.0}\nKilled\n")
    (files.parent / "logs").mkdir()
    (files.parent / "logs" / "debug.log").write_text("2026-01-01 INFO wandb\n")
    (files.parent / "run-abc.wandb").write_bytes(b":W&B\x00\x01")
    return files


def names(root: Path) -> set[str]:
    found, _ = read_path(root)
    return {str(item.path.relative_to(root)) for item in found if item.path is not None}


def test_of_a_folder_the_last_run_is_read_and_not_what_the_tracker_logs(tmp_path: Path) -> None:
    run_folder(tmp_path)
    run_folder(tmp_path, "20260102_000000")
    (tmp_path / "wandb" / "debug-internal.log").write_text("{}\n")

    last = "wandb/run-20260102_000000-abc/files"
    assert names(tmp_path) == {f"{last}/config.yaml", f"{last}/output.log"}


def test_the_copy_of_a_log_is_not_read_beside_the_log(tmp_path: Path) -> None:
    run_folder(tmp_path)
    (tmp_path / "train.log").write_text("{'loss': 1.0}\nKilled\n")

    assert names(tmp_path) == {"train.log", "wandb/run-20260101_000000-abc/files/config.yaml"}


def test_a_record_in_a_format_of_its_own_says_what_to_give(tmp_path: Path) -> None:
    files = run_folder(tmp_path)

    with pytest.raises(UsageError, match="W&B run in its own format: give files"):
        read_path(files.parent / "run-abc.wandb")


def test_only_where_nothing_else_tells_is_it_named(tmp_path: Path) -> None:
    files = run_folder(tmp_path)
    silent = unreadable(tmp_path)
    (files / "config.yaml").unlink()

    assert silent == []
    assert unreadable(tmp_path) == ["run-abc.wandb"]


def unreadable(root: Path) -> list[str]:
    found, unread = read_path(root)
    assert unread == []
    return [Path(item.name).name for item in found if item.kind == "other"]


def test_pickled_arguments_are_named_and_never_loaded(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("{'loss': 1.0}\nKilled\n")
    saved = tmp_path / "training_args.bin"
    saved.write_bytes(b"PK\x03\x04" + b"\0" * 26 + b"training_args/data.pkl" + b"\0" * 90)

    _, unread = read_path(tmp_path)

    assert "is a pickle" in unread[0].reason
    with pytest.raises(UsageError, match="is a pickle"):
        read_path(saved)


def test_comments_without_end_are_no_configuration(tmp_path: Path) -> None:
    """An expression that takes them apart in many ways never ended on these."""
    place = tmp_path / "launch.sh"
    place.write_text("\n#1\n" * 16_000 + "swift sft --model Qwen/Qwen2.5-7B\n")

    inputs, _ = read_path(place)

    assert [item.kind for item in inputs] == ["script"]
