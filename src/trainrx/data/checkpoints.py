"""The checkpoints a launch goes on from: whether they are whole, and fit its model and ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from trainrx.data.findings import DataFinding
from trainrx.data.job import DataJob
from trainrx.model.facts import Origin

MOST_HEADER = 100 << 20
"""Bytes; the format's own limit (safetensors 0.5: MAX_HEADER_SIZE)."""
LENGTH = 8


class TensorEntry(msgspec.Struct, frozen=True):
    """What the header says of one tensor."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


class WeightsFile(msgspec.Struct, frozen=True, kw_only=True):
    """The tensors of a file by name; `lacks` are the bytes that are missing at its end."""

    tensors: dict[str, TensorEntry] = {}
    lacks: int = 0


def read_weights(path: Path) -> WeightsFile | None:
    """Read a header; None where the file is none of this format.

    Raises:
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH), "little")
        if not 2 <= length <= MOST_HEADER:
            return None
        head = file.read(length)
    if len(head) < length:
        return WeightsFile(lacks=LENGTH + length - size)
    try:
        held = msgspec.json.decode(head, type=dict[str, msgspec.Raw])
        entries = {
            name: msgspec.json.decode(raw, type=TensorEntry)
            for name, raw in held.items()
            if name != "__metadata__"
        }
    except (msgspec.DecodeError, RecursionError):
        return None
    ends = max((entry.data_offsets[1] for entry in entries.values()), default=0)
    return WeightsFile(tensors=entries, lacks=max(0, LENGTH + length + ends - size))


ADAPTER, INDEX = "adapter_config.json", "model.safetensors.index.json"
WEIGHTS = ("adapter_model.safetensors", "model.safetensors")
PICKLED = ("adapter_model.bin", "pytorch_model.bin", "pytorch_model.bin.index.json")
STATES = ("optimizer.pt", "optimizer.bin")
MOST_SMALL = 4 << 20
_SHARDED = re.compile(r"(?:bf16_|fp16_)?zero_pp_rank_(\d+)_mp_rank_\d+_optim_states\.pt")
_LORA_IN = re.compile(r"\.(?:q_proj|k_proj|v_proj|gate_proj|up_proj)\.lora_A\.(?:\w+\.)?weight$")


def checkpoint_findings(job: DataJob) -> Iterator[DataFinding]:
    """Give what is wrong with the checkpoints a launch names."""
    seen: set[str] = {"true", "false", "none"}
    for name, resumed in _named(job):
        for word in job.words(name):
            # what is resumed is the adapter, too
            if word.lower() not in seen:
                seen.add(word.lower())
                yield from _of_folder(word, job, job.place(name), resumed=resumed)


def _of_folder(name: str, job: DataJob, at: Origin, *, resumed: bool) -> Iterator[DataFinding]:
    folder = job.path(name)
    if folder is None and name.startswith(("/", "./", "../")):
        yield _found("checkpoint-missing", at, name=name)
    if folder is None or not folder.is_dir():
        return
    yield from _of_files(name, folder, at)
    yield from _of_adapter(name, folder, at, job)
    if resumed:
        yield from _of_state(name, folder, at, job)


def _named(job: DataJob) -> Iterator[tuple[str, bool]]:
    yield from ((name, True) for name in job.own.resume_arguments)
    yield from ((name, False) for name in job.own.adapter_arguments)


def _of_files(name: str, folder: Path, at: Origin) -> Iterator[DataFinding]:
    """Look for the weights, and whether each file of them is whole."""
    held = [folder / file for file in WEIGHTS if (folder / file).is_file()]
    index = _object(folder / INDEX)
    shards = index.get("weight_map") if index is not None else None
    files = sorted(set(shards.values())) if isinstance(shards, dict) else []
    gone = [file for file in files if not (folder / str(file)).is_file()]
    if gone:
        yield _found("checkpoint-file-missing", at, name=name, file=str(gone[0]))
    sharded = any(path.name.startswith("global_step") for path in folder.iterdir())
    if not held and not files and not sharded:
        if not any((folder / file).is_file() for file in PICKLED):
            yield _found("checkpoint-file-missing", at, name=name, file=" / ".join(WEIGHTS))
        return
    for path in (*held, *(folder / str(file) for file in files if file not in gone)):
        weights = _weights(path)
        if weights is None or weights.lacks:
            lacks = "" if weights is None else str(weights.lacks)
            yield _found("checkpoint-file-cut", at, file=f"{name}/{path.name}", lacks=lacks)


def _of_adapter(name: str, folder: Path, at: Origin, job: DataJob) -> Iterator[DataFinding]:
    """Compare an adapter with the rank of the launch and the width of its model."""
    config = _object(folder / ADAPTER)
    if config is None:
        return
    rank, asked = config.get("r"), job.facts.get("tuner.rank")
    if isinstance(rank, int) and asked is not None and asked.how == "read" and asked.value != rank:
        yield _found("checkpoint-rank-differs", at, name=name, rank=str(rank), set=str(asked.value))
    path, hidden = folder / WEIGHTS[0], job.hidden
    weights = _weights(path) if path.is_file() else None
    if weights is None or not hidden:
        return
    shapes = (entry.shape for key, entry in weights.tensors.items() if _LORA_IN.search(key))
    width = next((shape[1] for shape in shapes if len(shape) == 2), None)
    if width is not None and width != hidden:
        yield _found(
            "checkpoint-of-another-model", at, name=name, width=str(width), hidden=str(hidden)
        )


def _of_state(name: str, folder: Path, at: Origin, job: DataJob) -> Iterator[DataFinding]:
    """Look for what a resumed run takes up: the trainer's state, the optimizer's of each rank."""
    if not (folder / "trainer_state.json").is_file():
        # the Trainer opens it whatever else is there
        lacking = _found("checkpoint-without-state", at, name=name, file="trainer_state.json")
        yield msgspec.structs.replace(lacking, severity="error")
        return
    ranks = {
        int(found[1])
        for path in folder.glob("global_step*/*optim_states.pt")
        if (found := _SHARDED.fullmatch(path.name))
    }
    world = job.facts.whole("parallel.world_size")
    if ranks and world and len(ranks) != world:
        yield _found(
            "checkpoint-of-other-ranks", at, name=name, ranks=str(len(ranks)), world=str(world)
        )
    sharded = any(path.name.startswith(("global_step", "optimizer_")) for path in folder.iterdir())
    if not sharded and not any((folder / file).is_file() for file in STATES):
        yield _found("checkpoint-without-state", at, name=name, file=STATES[0])


def _weights(path: Path) -> WeightsFile | None:
    try:
        return read_weights(path)
    except OSError:
        return None


def _object(path: Path) -> dict[str, object] | None:
    try:
        if path.stat().st_size > MOST_SMALL:
            return None
        held = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def _found(rule: str, at: Origin, **values: str) -> DataFinding:
    return DataFinding(rule=rule, at=at, values=values)
