"""Which files of a run folder are worth reading."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from trainrx.model.findings import Unread
from trainrx.model.pattern import late

MOST_FILES = 2000
MOST_ENTRIES = 100_000
MOST_DEPTH = 8
SKIPPED_FOLDERS = {"__pycache__", "wandb", "node_modules", "site-packages", ".git", "tokenizer"}
HYDRA = ".hydra"
"""Where Hydra (verl) leaves the configuration it composed."""
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
}
WANTED = late(
    r"\.(?:log|out|err|sh|bash|sbatch|slurm|ya?ml|jsonl|txt|env)(?:\.(?:gz|zst|\d{1,3}))?$"
    r"|^(?:ds|deepspeed|zero|accelerate|fsdp|train|config_train)[\w.-]*\.json$",
    re.IGNORECASE,
)
UNWANTED = late(
    r"^(?:vocab|merges|special_tokens|added_tokens|tokenizer|README|LICENSE|latest)"
    r"|^(?:val_dataset|train_dataset|dataset)\S*\.jsonl$",
    re.IGNORECASE,
)
CHECKPOINT = late(r"^(?:checkpoint|global_step|epoch)[-_]?(\d{1,12})$")


def wanted_files(root: Path, unread: list[Unread]) -> Iterator[Path]:
    """Give the files of a folder that may tell something, in a stable order.

    Weights, tokenizers and data sets are passed over; of the checkpoints only the last is entered.
    """
    given = entries = 0
    for folder, names, files in os.walk(root, followlinks=False):
        place = Path(folder)
        depth = len(place.relative_to(root).parts)
        names[:] = sorted(_entered(names)) if depth < MOST_DEPTH else []
        for name in sorted(files):
            entries += 1
            if not is_wanted(name):
                continue
            if given == MOST_FILES or entries > MOST_ENTRIES:
                reason = f"holds more files than are read ({MOST_FILES}); name the logs themselves"
                unread.append(Unread(source=str(root), reason=reason))
                return
            given += 1
            yield place / name


def is_wanted(name: str) -> bool:
    """Tell by its name whether a file may be a log, a launch or metrics of a run."""
    if name in NAMES:
        return True
    return WANTED.search(name) is not None and UNWANTED.match(name) is None


def _entered(names: list[str]) -> list[str]:
    kept = [
        name
        for name in names
        if name not in SKIPPED_FOLDERS and (name == HYDRA or not name.startswith("."))
    ]
    steps = {name: int(found[1]) for name in kept if (found := CHECKPOINT.match(name))}
    last = max(steps, key=steps.__getitem__, default="")
    return [name for name in kept if name not in steps or name == last]
