"""Checkpoints a launch goes on from: whole or cut, of which model, of which ranks."""

import json
from pathlib import Path

import pytest

from trainrx.data.checkpoints import checkpoint_findings, read_weights
from trainrx.data.job import DataJob
from trainrx.model.facts import Facts, Origin, fact
from trainrx.model.job import Argument

HERE = Origin(source="launch.sh", line=1)
LORA = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


def write_weights(path: Path, *, rank: int = 8, width: int = 64) -> None:
    """Write an adapter of one matrix."""
    size = rank * width * 4
    entry = {"dtype": "F32", "shape": [rank, width], "data_offsets": [0, size]}
    head = json.dumps({"__metadata__": {"format": "pt"}, LORA: entry}).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(size))


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Lay out what the Trainer saves of a run with an adapter."""
    folder = tmp_path / "checkpoint-2"
    folder.mkdir()
    write_weights(folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({"r": 8}))
    for name in ("trainer_state.json", "optimizer.pt"):
        (folder / name).write_text("{}")
    return folder


def rules(folder: Path, *known: object, hidden: int | None = 64, name: str = "") -> set[str]:
    """Give what is found where a run is resumed from a folder."""
    value = name or folder.name
    item = Argument(name="resume_from_checkpoint", value=value, via="arg", how="read")
    job = DataJob(
        framework="ms-swift",
        arguments={item.name: item},
        facts=Facts(known),  # type: ignore[arg-type]
        origin=HERE,
        folder=folder.parent,
        hidden=hidden,
    )
    return {found.rule for found in checkpoint_findings(job)}


def test_a_whole_checkpoint_of_this_model_has_nothing(checkpoint: Path) -> None:
    rank = fact("tuner.rank", 8, HERE, how="read")

    assert rules(checkpoint, rank) == set()


def test_a_file_says_by_how_much_it_is_short(checkpoint: Path) -> None:
    path = checkpoint / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])

    found = read_weights(path)

    assert found is not None
    assert found.lacks == 100
    assert found.tensors[LORA].shape == (8, 64)
    assert rules(checkpoint) == {"checkpoint-file-cut"}


def test_a_file_that_ends_in_its_header_is_short_too(checkpoint: Path) -> None:
    path = checkpoint / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:40])

    assert rules(checkpoint) == {"checkpoint-file-cut"}


def test_the_rank_of_the_launch_gives_way_to_that_of_the_adapter(checkpoint: Path) -> None:
    rank = fact("tuner.rank", 16, HERE, how="read")

    assert rules(checkpoint, rank) == {"checkpoint-rank-differs"}


def test_a_default_rank_is_nobodys_wish(checkpoint: Path) -> None:
    rank = fact("tuner.rank", 16, HERE, how="default")

    assert rules(checkpoint, rank) == set()


def test_an_adapter_of_another_width_is_told(checkpoint: Path) -> None:
    assert rules(checkpoint, hidden=128) == {"checkpoint-of-another-model"}
    assert rules(checkpoint, hidden=None) == set()


def test_states_of_other_ranks_are_told(checkpoint: Path) -> None:
    (checkpoint / "global_step2").mkdir()
    for rank in range(4):
        name = f"bf16_zero_pp_rank_{rank}_mp_rank_00_optim_states.pt"
        (checkpoint / "global_step2" / name).write_text("x")

    four = fact("parallel.world_size", 4, HERE)
    eight = fact("parallel.world_size", 8, HERE)

    assert rules(checkpoint, four) == set()
    assert rules(checkpoint, eight) == {"checkpoint-of-other-ranks"}


def test_a_shard_the_index_names_must_be_there(checkpoint: Path) -> None:
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors"}}
    (checkpoint / "model.safetensors.index.json").write_text(json.dumps(index))

    assert rules(checkpoint) == {"checkpoint-file-missing"}


def test_a_name_of_a_hub_is_no_folder(checkpoint: Path) -> None:
    assert rules(checkpoint, name="someone/adapter") == set()
    assert rules(checkpoint, name="/nowhere/checkpoint-9") == {"checkpoint-missing"}


def test_a_run_without_its_state_is_not_resumed(checkpoint: Path) -> None:
    (checkpoint / "trainer_state.json").unlink()

    assert rules(checkpoint) == {"checkpoint-without-state"}
