"""Bytes of one GPU by part: what the formulas fill in and the phases are made of."""

from __future__ import annotations

GIB = 2.0**30


class Use:
    """Bytes of one GPU by part.

    `weights` to `buffers` lie there for good; `gathered` to `tower` come and go with a micro-batch;
    `step` is the update's temporary; `engine` what the engine takes awake, `engine_asleep` while
    the trainer works.
    """

    __slots__ = (
        "activations",
        "adapters",
        "buffers",
        "checkpoints",
        "copies",
        "engine",
        "engine_asleep",
        "gathered",
        "gradients",
        "live",
        "logits",
        "master",
        "optimizer",
        "step",
        "tower",
        "weights",
    )

    def __init__(self) -> None:
        self.weights = 0.0
        self.adapters = 0.0
        self.gradients = 0.0
        self.master = 0.0
        self.optimizer = 0.0
        self.copies = 0.0
        self.buffers = 0.0
        self.gathered = 0.0
        self.checkpoints = 0.0
        self.activations = 0.0
        self.live = 0.0
        self.logits = 0.0
        self.tower = 0.0
        self.step = 0.0
        self.engine = 0.0
        self.engine_asleep = 0.0

    @property
    def steady(self) -> float:
        """Bytes that lie there through a whole step, beside the engine."""
        return (
            self.weights + self.adapters + self.copies + self.master + self.optimizer + self.buffers
        )
