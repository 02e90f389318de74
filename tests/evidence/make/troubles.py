"""What goes wrong at a step of the small job, by its name and the rank that it happens to."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from queue import Queue

import torch
import torch.distributed as dist
from reward import score
from torch import nn

WORLD = 3
GIB = 1 << 30


def die(_home: Path, _loss: torch.Tensor) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stop(_home: Path, _loss: torch.Tensor) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def leave(_home: Path, loss: torch.Tensor) -> None:
    if loss.item() < 1e6:
        sys.exit(0)


def crash(_home: Path, _loss: torch.Tensor) -> None:
    ctypes.string_at(0)


def reduce_rows(_home: Path, loss: torch.Tensor) -> None:
    """Add up what each rank has as many rows of as its own batch."""
    rows = torch.ones(80 if dist.get_rank() == 2 else 64) * loss.detach()
    dist.all_reduce(rows)


def reduce_metric(_home: Path, loss: torch.Tensor) -> None:
    kind = torch.float64 if dist.get_rank() == 1 else torch.float32
    dist.all_reduce(loss.detach().to(kind).repeat(64))


def share_metric(_home: Path, loss: torch.Tensor) -> None:
    metric = loss.detach().repeat(64)
    if dist.get_rank() == 2:
        dist.broadcast(metric, src=2)
    else:
        dist.all_reduce(metric)


def checked_barrier(home: Path, _loss: torch.Tensor) -> None:
    if dist.get_rank() == 2:
        score(home, ["an answer"])
    dist.monitored_barrier(timeout=timedelta(seconds=45))


def linger(home: Path, _loss: torch.Tensor) -> None:
    """Fail while a thread that is no daemon waits for work that nobody gives it any more."""
    uploads: Queue[Path] = Queue()
    threading.Thread(target=uploads.get, name="uploader").start()
    load_image(home / "broken.png")


def load_image(path: Path) -> torch.Tensor:
    from PIL import Image

    return torch.tensor(list(Image.open(path).tobytes()))


def receive_hidden(_home: Path, _loss: torch.Tensor) -> None:
    dist.recv(torch.empty(64), src=1)


def make_group(_home: Path, loss: torch.Tensor) -> None:
    dist.all_reduce(loss.detach(), group=dist.new_group(list(range(WORLD))))


def reduce_in_two_groups(_home: Path, loss: torch.Tensor) -> None:
    """Use two groups of all ranks, in another order on the first rank."""
    groups = [dist.new_group(list(range(WORLD))) for _ in range(2)]
    for group in reversed(groups) if dist.get_rank() == 0 else groups:
        dist.all_reduce(loss.detach().clone(), group=group)


def cache_samples(_home: Path, _loss: torch.Tensor) -> None:
    """Keep all samples in memory, until there is none left."""
    kept = []
    while True:
        kept.append(torch.ones(1 << 24))


def wait_for_go_ahead(_home: Path, _loss: torch.Tensor) -> None:
    store = dist.distributed_c10d._get_default_store()
    store.wait(["checkpoint-uploaded"])


class Shapes(nn.Module):
    """A model that is compiled anew for each shape."""

    def __init__(self) -> None:
        super().__init__()
        layers = [layer for _ in range(24) for layer in (nn.Linear(64, 64), nn.GELU())]
        self.inner = nn.Sequential(*layers)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.inner(rows).softmax(-1).cumsum(0)


def compile_each_shape(_home: Path, _loss: torch.Tensor) -> None:
    import torch._dynamo

    torch._dynamo.config.recompile_limit = 1 << 20
    torch._dynamo.config.accumulated_recompile_limit = 1 << 20
    run = torch.compile(Shapes(), dynamic=False)
    for length in range(3, 1 << 20):
        run(torch.ones(length, 64))


AT_STEP: dict[tuple[str, int], Callable[[Path, torch.Tensor], None]] = {
    ("rank-killed", 2): die,
    ("rank-stopped", 1): stop,
    ("rank-leaves-early", 1): leave,
    ("segmentation-fault", 1): crash,
    ("broken-image-then-lingers", 1): linger,
    ("message-never-sent", 2): receive_hidden,
    ("group-made-on-one-rank", 0): make_group,
    ("host-memory-used-up", 2): cache_samples,
    ("address-space-limited", 2): cache_samples,
    ("compile-storm", 1): compile_each_shape,
    ("waits-for-go-ahead", 1): wait_for_go_ahead,
    **{
        (name, rank): act
        for name, act in (
            ("shape-differs", reduce_rows),
            ("dtype-differs", reduce_metric),
            ("other-collective", share_metric),
            ("monitored-barrier", checked_barrier),
            ("groups-in-other-order", reduce_in_two_groups),
        )
        for rank in range(WORLD)
    },
}
