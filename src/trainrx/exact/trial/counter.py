"""Count the storages that are alive, by what they are, and keep the highest sum of each phase."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

BLOCK = 512
"""The CUDA caching allocator rounds each request up to this many bytes (kMinBlockSize in
c10/cuda/CUDACachingAllocator.h)."""

BORN = {"forward": "activations", "loss": "logits", "backward": "working", "step": "working"}


class LiveStorage(TorchDispatchMode):
    """Follow every storage an operator makes until it is freed.

    `shares` multiply the bytes of one part (the shard of it one GPU holds); peaks are of the sum
    after that, so that the phase's height is found where a sharded job has it.
    """

    def __init__(self, shares: Mapping[str, float]) -> None:
        super().__init__()
        self.shares = dict(shares)
        self.phase = "load"
        self.live: dict[str, float] = {}
        self.total = 0.0
        self.peaks: dict[str, tuple[float, dict[str, float]]] = {}
        self._part: dict[int, tuple[str, float]] = {}
        self._refs: dict[int, weakref.ref[Any]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self.follow(tree_leaves(out), BORN.get(self.phase, "parameters"))
        return out

    def enter(self, phase: str) -> None:
        """Begin a phase: what is alive now counts for it too."""
        self.phase = phase
        self._mark()

    def follow(self, values: Iterable[Any], part: str) -> None:
        """Take in storages not seen before."""
        for value in values:
            if isinstance(value, torch.Tensor):
                self._take(value.untyped_storage(), part)
        self._mark()

    def move(self, values: Iterable[Any], part: str) -> None:
        """Say what storages have turned out to be, and take in those made below the dispatcher."""
        for value in values:
            if not isinstance(value, torch.Tensor):
                continue
            key = id(value.untyped_storage())
            if key in self._part:
                self._drop(key, None)
            self._take(value.untyped_storage(), part)
        self._mark()

    def add(self, part: str, size: float) -> None:
        """Count bytes for which there is no storage here (a closed form); a share is in them."""
        self.live[part] = self.live.get(part, 0.0) + size
        self.total += size
        self._mark()

    def _take(self, storage: Any, part: str) -> None:
        key = id(storage)
        if key in self._part:
            return
        # states of the optimizer's step are as sharded as the states are
        share = self.shares.get("optimizer" if self.phase == "step" else part, 1.0)
        size = -(-storage.nbytes() // BLOCK) * BLOCK * share
        self._part[key] = (part, size)
        self._refs[key] = weakref.ref(storage, partial(self._drop, key))
        self.live[part] = self.live.get(part, 0.0) + size
        self.total += size

    def _drop(self, key: int, _: Any) -> None:
        part, size = self._part.pop(key)
        del self._refs[key]
        self.live[part] -= size
        self.total -= size

    def _mark(self) -> None:
        if self.total > self.peaks.get(self.phase, (0.0, {}))[0]:
            self.peaks[self.phase] = (self.total, dict(self.live))
