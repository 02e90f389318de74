"""The data of the small job: images that may lie on a drive that does not answer."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import torch
from torch.utils.data import Dataset

CACHE_LOCK = threading.Lock()
LATE = 12


class Images(Dataset[torch.Tensor]):
    """Samples of one length; from the twelfth on in trouble of some kind."""

    def __init__(self, home: Path, trouble: str, length: int) -> None:
        self.home, self.trouble, self.length = home, trouble, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> torch.Tensor:
        if index >= LATE and self.trouble.startswith("slow-storage"):
            return read_image(self.home / "pipe")
        if index >= LATE and self.trouble == "worker-stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
        if index >= LATE and self.trouble == "worker-killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if index >= LATE and self.trouble == "late":
            return augment(index)
        return torch.full((64,), index % 7 / 7)


class Locked(Images):
    """Samples behind a lock that a thread of the parent has while the worker is forked."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, "", 1 << 16)
        threading.Thread(target=self._refresh, daemon=True).start()
        time.sleep(0.2)

    def _refresh(self) -> None:
        with CACHE_LOCK:
            time.sleep(1000)

    def __getitem__(self, index: int) -> torch.Tensor:
        with CACHE_LOCK:
            return super().__getitem__(index)


class Growing(Images):
    """Samples that are all kept once they were read."""

    def __getitem__(self, index: int) -> torch.Tensor:
        self.kept = (*getattr(self, "kept", ()), torch.ones(1 << 21))
        time.sleep(0.02)
        return super().__getitem__(index)


class Reporting(Images):
    """Samples whose statistics go into a queue of few places that nobody empties."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, "", 1 << 16)
        self.statistics: multiprocessing.Queue[int] = multiprocessing.Queue(16)

    def __getitem__(self, index: int) -> torch.Tensor:
        self.statistics.put(index)
        return super().__getitem__(index)


class Texts(Images):
    """Samples that a tokenizer reads which its parent used before the fork."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, "", 1 << 16)
        from tokenizers import Tokenizer, models, pre_tokenizers

        self.tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1}))
        self.tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        self.tokenizer.encode_batch(["a b"] * 64)

    def __getitem__(self, index: int) -> torch.Tensor:
        ids = self.tokenizer.encode_batch(["a b"] * 32)
        return torch.full((64,), float(len(ids[index % 32].ids)))


def read_image(path: Path) -> torch.Tensor:
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.float32)


def augment(index: int) -> torch.Tensor:
    total = 0.0
    for at in range(1 << 40):
        total += (index * at) % 7
    return torch.full((64,), total)


def checksum(path: Path) -> int:
    with path.open("rb") as file:
        return sum(file.read())


def tokenize(rows: dict[str, list[str]]) -> dict[str, list[list[int]]]:
    return {"ids": [[ord(char) for char in text * 20_000] for text in rows["text"]]}


def tokenized(processes: int | None = None) -> object:
    """Map a data set, in one process slowly, in several behind a lock nobody gives back."""
    import datasets

    rows = datasets.Dataset.from_dict({"text": ["some words"] * 400_000})
    work = tokenize if processes is None else _locked
    return rows.map(work, batched=True, batch_size=100, num_proc=processes)


def _locked(rows: dict[str, list[str]]) -> dict[str, list[list[int]]]:
    os.open(os.environ["STUCK_HOME"] + "/pipe", os.O_RDONLY)
    return tokenize(rows)
