"""How many pixels an image may keep."""

from __future__ import annotations

from trainrx.facts.reading import framework
from trainrx.model.facts import Fact, Facts, fact

QWEN_FAMILIES = ("qwen2-vl", "qwen2.5-vl", "qwen2.5-omni")
QWEN_DEFAULT_CAP = 16384 * 28 * 28
"""MAX_PIXELS of qwen_vl_utils (vision_process.py): 12,845,056 pixels, about 16,384 tokens."""


def vision_facts(facts: Facts) -> tuple[Fact, ...]:
    """Derive the effective cap and whether anyone lowered it below the model's own default."""
    if facts.value("model.is_vision") is False:
        return ()
    for source in ("log.max_pixels", "vision.max_pixels"):
        cap = facts.number(source)
        if cap is not None:
            return _cap(int(cap), facts, source)
    family = facts.text("model.family")
    unset = facts.value("launch.env_complete") is True and facts.value("launch.given") is True
    if family in QWEN_FAMILIES and unset and framework(facts).pixels_of_qwen:
        return _cap(QWEN_DEFAULT_CAP, facts, "launch.given")
    return ()


def _cap(cap: int, facts: Facts, source: str) -> tuple[Fact, ...]:
    origins = facts.origins(source)
    return (
        fact("vision.pixel_cap", cap, *origins, how="derived"),
        fact("vision.pixels_capped", cap < QWEN_DEFAULT_CAP, *origins, how="derived"),
    )
