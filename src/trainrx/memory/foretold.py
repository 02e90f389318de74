"""What the memory model says of a launch, as facts: which part of the peak is whose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.model.facts import Fact, Facts, fact
from trainrx.model.memory import Prediction

PARTS: Mapping[str, tuple[str, ...]] = {
    "weights": ("weights", "adapters", "copies", "unpacked"),
    "states": ("master", "optimizer", "gradients", "step"),
    "activations": ("checkpoints", "activations", "live"),
    "logits": ("logits",),
    "tower": ("tower",),
    "gathered": ("gathered", "buffers"),
    "engine": ("engine",),
}
"""Terms of a phase by what a user can change about them."""
SOURCES = ("model.name", "train.max_length", "train.micro_batch", "parallel.deepspeed")


def foretold_facts(facts: Facts, predicted: Prediction) -> Iterator[Fact]:
    """Give the peak's verdict and phase, its largest part, and the share of each part (0..1).

    A part's share is its largest size in any phase over what the largest phase allocates: logits
    that are gone when the optimizer steps still say how far the loss is from being the peak.
    """
    top = max(phase.gib for phase in predicted.phases)
    if top <= 0:
        return
    origins = facts.origins(*SOURCES)
    if predicted.verdict is not None:
        yield fact("memory.verdict", predicted.verdict, *origins, how="derived")
    yield fact("memory.peak_phase", predicted.peak, *origins, how="derived")
    for name, terms in PARTS.items():
        size = max(
            sum(term.gib for term in phase.terms if term.name in terms)
            for phase in predicted.phases
        )
        yield fact(f"memory.{name}_share", round(size / top, 2), *origins, how="derived")
