"""Entries of a knowledge base for tests: the words that do not matter, filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from trainrx.knowledge.store import Knowledge
from trainrx.model.knowledge import Cause

WORDS = {"en": "a", "zh": "一"}


def vote(ident: str, weight: float, when: dict[str, object]) -> dict[str, object]:
    """Make a piece of evidence."""
    return {"id": ident, "weight": weight, "when": when, "why": WORDS}


def cause(
    ident: str,
    supports: Sequence[dict[str, object]],
    contradicts: Sequence[dict[str, object]] = (),
    **more: object,
) -> Cause:
    """Make a cause behind `cuda-oom`."""
    entry = {
        "schema": 1,
        "id": ident,
        "family": "oom",
        "title": WORDS,
        "summary": WORDS,
        "since": "0.1.0",
        "updated": "2026-11-21",
        "severity": "fatal",
        "explains": ["cuda-oom"],
        "prior": 0.2,
        "evidence": {"supports": list(supports), "contradicts": list(contradicts)},
        "fixes": [],
        "references": [],
    }
    return msgspec.convert(entry | more, Cause)


def knowledge(causes: Mapping[str, Cause]) -> Knowledge:
    """Give knowledge of causes alone."""
    return Knowledge(
        symptoms={},
        causes=dict(causes),
        params={},
        facts={},
        rules={},
        ranges={},
        gpus=(),
        models=(),
    )
