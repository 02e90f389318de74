"""A small job over gloo that gets stuck in the way its first argument names; see `collect.py`."""

from __future__ import annotations

import faulthandler
import itertools
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist
from dataset import Images, Locked, tokenized
from reward import score
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

LOGGER = logging.getLogger("train")
HOME = Path(os.environ["STUCK_HOME"])
NAME = sys.argv[1]
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEP = 5


def is_here(name: str, rank: int) -> bool:
    return name == NAME and rank == RANK


def data() -> DataLoader[torch.Tensor]:
    late = {"slow-storage": 2, "slow-storage-in-worker": 1, "worker-stopped": 1}.get(NAME) == RANK
    if is_here("worker-forked-with-lock", 1):
        return DataLoader(Locked(HOME), batch_size=2, num_workers=1)
    kind = NAME if late else "late" if is_here("straggler", 2) else ""
    images = Images(HOME, kind, 16 if is_here("data-run-out", 1) else 1 << 16)
    in_worker = NAME in ("slow-storage-in-worker", "worker-stopped", "healthy-workers")
    return DataLoader(images, batch_size=2, num_workers=int(in_worker))


def save(model: nn.Module) -> None:
    state = model.state_dict()
    if NAME == "gather-on-rank-0" and RANK == 0:
        dist.all_gather_object([None] * WORLD, len(state))
    if RANK == 0:
        torch.save(state, HOME / ("pipe" if NAME == "save-on-slow-drive" else "model.pt"))
    dist.barrier()


def evaluate(model: nn.Module) -> None:
    for _ in range(3 if is_here("uneven-evaluation", 2) else 4):
        loss = model(torch.ones(2, 64)).sum().detach()
        dist.all_gather([torch.empty(()) for _ in range(WORLD)], loss)


def log_loss(loss: torch.Tensor) -> None:
    if is_here("lock-in-logging-thread", 0):
        LOGGER.warning("loss %s", loss.item())
    if is_here("collective-under-if", 1):
        dist.barrier()


def fit(model: nn.Module, batches: DataLoader[torch.Tensor]) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(batches):
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == STEP:
            between_steps(model, loss)


def between_steps(model: nn.Module, loss: torch.Tensor) -> None:
    log_loss(loss)
    if NAME in ("gather-on-rank-0", "save-on-slow-drive"):
        save(model)
    if NAME in ("uneven-evaluation", "healthy-evaluation"):
        evaluate(model.module)
    if is_here("reward-server-hangs", 0) or NAME == "reward-server-hangs-for-all":
        score(HOME, ["an answer"])
    if is_here("queue-never-filled", 2):
        prefetched()


def prefetched() -> object:
    from queue import Queue

    batches: Queue[object] = Queue()
    return batches.get()


def block_logging() -> None:
    """Have a thread write into a pipe that nobody reads, with the lock of its handler."""
    into = os.open(HOME / "pipe", os.O_RDWR)
    LOGGER.addHandler(logging.StreamHandler(os.fdopen(into, "w")))

    def report() -> None:
        while True:
            LOGGER.warning("memory %s", "x" * 9000)

    threading.Thread(target=report, name="memory-report", daemon=True).start()
    time.sleep(1)


def prepare() -> None:
    """Do what comes before the first step."""
    if NAME == "tokenizing-behind-barrier" and RANK == 0:
        tokenized()
    if NAME == "mapping-processes-locked" and RANK == 0:
        tokenized(processes=2)
    if is_here("subprocess-never-ends", 0):
        subprocess.run(["sleep", "1000"], check=True)
    if is_here("import-from-slow-drive", 1):
        sys.path.insert(0, str(HOME / "slow"))
        import slow_plugin  # noqa: F401
    if is_here("download-never-ends", 0):
        from huggingface_hub import snapshot_download

        snapshot_download("some/model", endpoint=(HOME / "url").read_text())
    if is_here("cache-locked", 2):
        from filelock import FileLock

        FileLock(HOME / "taken.lock").acquire()
    if NAME == "extension-lock-left":
        from torch.utils.cpp_extension import load

        load("fused", [str(HOME / "fused.cpp")], build_directory=str(HOME / "build"))
    dist.barrier()


def main() -> None:
    faulthandler.register(signal.SIGUSR1)
    (HOME / f"ready{RANK}").touch()
    if NAME == "rank-stands-before-init" and RANK == 1:
        from dataset import checksum

        checksum(HOME / "pipe")
    dist.init_process_group("gloo")
    if is_here("lock-in-logging-thread", 0):
        block_logging()
    prepare()
    layers = itertools.chain.from_iterable((nn.Linear(64, 64), nn.ReLU()) for _ in range(3))
    fit(DistributedDataParallel(nn.Sequential(*layers)), data())
    dist.barrier()


if __name__ == "__main__":
    main()
