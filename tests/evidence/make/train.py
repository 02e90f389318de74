"""A small job over gloo that gets stuck as `STUCK_AS` names it; see `collect.py`."""

from __future__ import annotations

import faulthandler
import itertools
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from dataset import Growing, Images, Locked, Reporting, Texts, tokenized
from recorder import dump_on_request
from reward import score
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from troubles import AT_STEP, Shapes

LOGGER = logging.getLogger("train")
HOME = Path(os.environ["STUCK_HOME"])
NAME = os.environ["STUCK_AS"]
TIMEOUT = timedelta(seconds=int(os.environ.get("STUCK_TIMEOUT", "1800")))
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEP = 5


def is_here(name: str, rank: int) -> bool:
    return name == NAME and rank == RANK


def data() -> DataLoader[torch.Tensor]:
    if NAME == "healthy-tokenizers-fork":
        return DataLoader(Texts(HOME), batch_size=2, num_workers=1)
    if is_here("loader-memory-grows", 1):
        return DataLoader(Growing(HOME, "", 1 << 16), batch_size=2, num_workers=1)
    if is_here("persistent-worker-blocked", 1):
        rows = Reporting(HOME)
        return DataLoader(rows, batch_size=2, num_workers=1, persistent_workers=True)
    ranks = {"slow-storage": 2, "slow-storage-in-worker": 1, "worker-stopped": 1}
    late = {**ranks, "worker-killed": 1}.get(NAME) == RANK
    if is_here("worker-forked-with-lock", 1):
        return DataLoader(Locked(HOME), batch_size=2, num_workers=1)
    kind = NAME if late else "late" if is_here("straggler", 2) else ""
    images = Images(HOME, kind, 16 if is_here("data-run-out", 1) else 1 << 16)
    in_worker = NAME in (*ranks, "worker-killed", "healthy-workers") and NAME != "slow-storage"
    return DataLoader(images, batch_size=2, num_workers=int(in_worker))


def save(model: nn.Module) -> None:
    state = model.state_dict()
    if NAME == "gather-on-rank-0" and RANK == 0:
        dist.all_gather_object([None] * WORLD, len(state))
    to = {"save-on-slow-drive": "pipe", "disk-full-at-save": "full/model.pt"}
    if RANK == 0:
        torch.save(state, HOME / to.get(NAME, "model.pt"))
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
    logged = 0.0
    for step, batch in enumerate(batches):
        if NAME == "healthy-slow-steps":
            compute(model)
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if RANK == 0 and (step <= STEP or time.monotonic() - logged > 5):
            logged = time.monotonic()
            say(f"step {step} loss {loss.item():.4f}")
        if NAME == "healthy-saves" and step % 50 == 0:
            evaluate(model.module)
            save(model)
        if step == STEP or (NAME == "healthy-finished" and step == 200):
            between_steps(model, loss)
        if NAME == "healthy-finished" and step == 200:
            break


def say(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')},000 INFO train {text}\n")
    sys.stdout.flush()


def compute(model: nn.Module) -> None:
    """Compute for seconds, on each rank another while."""
    until = time.monotonic() + 2 + RANK / 2
    rows = torch.ones(512, 64)
    while time.monotonic() < until:
        model.module(rows).sum().backward()


def between_steps(model: nn.Module, loss: torch.Tensor) -> None:
    log_loss(loss)
    if (NAME, RANK) in AT_STEP:
        AT_STEP[NAME, RANK](HOME, loss)
    if NAME in ("gather-on-rank-0", "save-on-slow-drive", "disk-full-at-save", "healthy-finished"):
        save(model)
    if NAME in ("uneven-evaluation", "healthy-evaluation", "healthy-finished"):
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
    if NAME == "store-wait-for-download":
        download()
    if is_here("truncated-checkpoint", 2):
        torch.load(HOME / "truncated.pt")
    dist.barrier()


def download() -> None:
    """Have the first rank fetch the model, and the others wait until it says so."""
    store = dist.distributed_c10d._get_default_store()
    if RANK == 0:
        from huggingface_hub import snapshot_download

        snapshot_download("some/model", endpoint=(HOME / "url").read_text())
        store.set("downloaded", "1")
    store.wait(["downloaded"])


class Heads(nn.Module):
    """A model of which one rank uses a head the others do not."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.image, self.text = inner, nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        rows = self.inner(rows)
        return self.text(rows) if RANK == 1 else self.text(self.image(rows))


def made() -> nn.Module:
    layers = itertools.chain.from_iterable((nn.Linear(64, 64), nn.ReLU()) for _ in range(3))
    model: nn.Module = nn.Sequential(*layers)
    if NAME == "head-unused-on-one-rank":
        model = Heads(model)
    if NAME == "healthy-compile":
        model = torch.compile(Shapes())
    if os.environ.get("TORCH_DISTRIBUTED_DEBUG") == "DETAIL":
        return model  # DDP of torch 2.13 over gloo ends in a segmentation fault then
    return DistributedDataParallel(model)


def main() -> None:
    faulthandler.register(signal.SIGUSR1)
    if NAME == "address-space-limited":
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    dump_on_request(HOME, RANK)
    (HOME / f"ready{RANK}").write_text(str(os.getpid()))
    if NAME == "rank-stands-before-init" and RANK == 1:
        from dataset import checksum

        checksum(HOME / "pipe")
    dist.init_process_group("gloo", timeout=TIMEOUT)
    if is_here("lock-in-logging-thread", 0):
        block_logging()
    prepare()
    fit(made(), data())
    dist.barrier()


if __name__ == "__main__":
    main()
