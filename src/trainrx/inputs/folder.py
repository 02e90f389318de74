"""Which files of a run folder are worth reading."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from trainrx.knowledge.regular import read_regular
from trainrx.model.findings import Unread
from trainrx.model.limits import LIMITS, ReadingLimits
from trainrx.model.pattern import late

SKIPPED_FOLDERS = {"__pycache__", "node_modules", "site-packages", ".git", "tokenizer"}
HYDRA = ".hydra"
"""Where Hydra (verl) leaves the configuration it composed."""
STEPS = frozenset({"logging.jsonl", "trainer_log.jsonl", "trainer_state.json"})
NAMES = {
    "args.json",
    "sft_args.json",
    "logging.jsonl",
    "trainer_log.jsonl",
    "trainer_state.json",
    "stdout",
    "stderr",
    "nohup.out",
    "environment.yaml",
    "requirements.txt",
    "pip_freeze.txt",
    "training_args.yaml",
    "wandb-metadata.json",
    "swanlab-metadata.json",
}
WANTED = late(
    r"\.(?:log|out|err|sh|bash|sbatch|slurm|ya?ml|jsonl|txt|env|ipynb|eml)(?:\.(?:gz|zst|\d{1,3}))?$"
    r"|^(?:ds|deepspeed|zero|accelerate|fsdp|train|config_train)[\w.-]*\.json$"
    # dumps of ranks: recorders, stacks, what the machine says
    r"|(?:trace|dump)_(?:rank_)?\d{1,6}(?:\.json)?$|\.(?:pickle|pkl)$"
    r"|^(?:py-?spy|pystack|stack|ncclras|ras|nvidia-smi|npu-smi|rocm-smi|dmesg|sacct|kubectl)[\w.-]*$",
    re.IGNORECASE,
)
DUMPED = tuple(
    f'"{key}"'.encode()
    for key in (
        *("pg_config", "pg_status", "comm_lib_version"),
        *("segments", "segment_type", "total_size", "device_traces"),
        *("communicators", "nccl_version"),
        *("os_thread_id", "owns_gil"),
    )
)
"""Keys of dumps as JSON, of which two stand at the beginning of each."""
LIKELY = (".log", ".out", ".err", ".sh", ".yaml", ".yml", ".jsonl", ".ipynb", "stdout", "stderr")
"""How names end that are looked at in a folder of any size."""
MOST_PEEKED = 2000
"""Entries of a folder up to which JSON files are looked into."""
PEEKED = 4096
"""Bytes of a JSON file in which they are looked for."""
EVENTS = ".tfevents."
"""What a file of TensorBoard has in its name."""
LOGGED = late(r"\.(?:log|out|err)(?:\.(?:gz|zst|\d{1,3}))?$|^(?:stdout|stderr|nohup\.out)$")
"""The output of a job, by its name."""
TRACKERS = frozenset({"wandb", "swanlog"})
"""Folders of trackers: the files in them are logs of the tracker itself."""
UNWANTED = late(
    r"^(?:vocab|merges|special_tokens|added_tokens|tokenizer|README|LICENSE|latest)"
    r"|^(?:val_dataset|train_dataset|dataset)\S*\.jsonl$",
    re.IGNORECASE,
)
CHECKPOINT = late(r"^(?:checkpoint|global_step|epoch)[-_]?(\d{1,12})$")
RUN = late(r"^(?:offline-)?run-(\d{8}_\d{6})-\w+$")
"""The folder an experiment tracker makes for a run, below `wandb` or `swanlog`."""
OF_RUN = frozenset({"files", "console"})
"""What is of the job there; the rest is the tracker's own."""


def wanted_files(
    root: Path, unread: list[Unread], limits: ReadingLimits = LIMITS
) -> Iterator[Path]:
    """Give the files of a folder that may tell something, in a stable order.

    Weights, tokenizers and data sets are passed over; of the checkpoints and of the runs of a
    tracker only the last is entered. What a tracker copied of the output, and what TensorBoard has
    of the steps, counts where nothing else has it.
    """
    copies: list[Path] = []
    logged = False
    for place in _wanted(root, unread, limits):
        if _is_copy(place):
            copies.append(place)
            continue
        logged = logged or LOGGED.search(place.name) is not None or place.name in STEPS
        yield place
    yield from () if logged else copies


def _is_copy(place: Path) -> bool:
    """Tell the output of a job as a tracker copied it, or steps as TensorBoard keeps them."""
    if EVENTS in place.name:
        return True
    return LOGGED.search(place.name) is not None and RUN.match(place.parent.parent.name) is not None


def _is_told(place: Path, name: str) -> bool:
    """Tell a tracker's own record of a run beside which the same stands as text."""
    own = name.endswith((".wandb", ".swanlab"))
    return own and any((place / "files" / config).exists() for config in ("config.yaml",))


def _wanted(root: Path, unread: list[Unread], limits: ReadingLimits) -> Iterator[Path]:
    given = entries = 0
    for folder, names, files in os.walk(root, followlinks=False):
        place = Path(folder)
        depth = len(place.relative_to(root).parts)
        names[:] = sorted(_entered(place, names)) if depth < limits.folders else []
        looked_at = sorted(files)
        if entries + len(files) > limits.entries:
            looked_at = [name for name in looked_at if name.endswith(LIKELY)]
            reason = (
                f"holds more files than are looked at ({limits.entries}): of the rest only those "
                "named like logs, scripts and configurations were"
            )
            unread.append(Unread(source=folder, reason=reason))
        for name in looked_at:
            entries += 1
            wanted = is_wanted(name) or (entries <= MOST_PEEKED and _is_dump(place / name))
            if not wanted or place.name in TRACKERS or _is_told(place, name):
                continue
            if given == limits.files:
                reason = (
                    f"holds more files than are read ({limits.files}); name the logs themselves"
                )
                unread.append(Unread(source=str(root), reason=reason))
                return
            given += 1
            yield place / name


def _is_dump(path: Path) -> bool:
    """Tell by how it begins whether a JSON file is a dump, whatever its name."""
    if path.suffix != ".json" or UNWANTED.match(path.name):
        return False
    try:
        head = read_regular(path, PEEKED)
    except OSError:
        return False
    return sum(key in head for key in DUMPED) >= 2


def is_wanted(name: str) -> bool:
    """Tell by its name whether a file may be a log, a launch or metrics of a run."""
    if name in NAMES or name.endswith((".wandb", ".swanlab")) or EVENTS in name:
        return True
    return WANTED.search(name) is not None and UNWANTED.match(name) is None


def _entered(place: Path, names: list[str]) -> list[str]:
    kept = [name for name in names if not RUN.match(place.name) or name in OF_RUN]
    kept = [
        name
        for name in kept
        if name not in SKIPPED_FOLDERS and (name == HYDRA or not name.startswith("."))
    ]
    steps = {name: int(found[1]) for name in kept if (found := CHECKPOINT.match(name))}
    runs = {name: found[1] for name in kept if (found := RUN.match(name))}
    last = {
        max(steps, key=steps.__getitem__, default=""),
        max(runs, key=runs.__getitem__, default=""),
    }
    return [name for name in kept if name not in {*steps, *runs} or name in last]


def is_wanted_member(place: PurePosixPath) -> bool:
    """Tell whether a member of an archive is wanted: what a tracker logs of itself is not."""
    inside = any(RUN.match(part) for part in place.parts[:-1])
    own = place.parent.name in TRACKERS or (inside and place.parent.name not in OF_RUN)
    return is_wanted(place.name) and not own
