"""Public posts, pasted whole: what a person cut out of them reaches a reader of its kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainrx.inputs.paste.post import post_inputs

HERE = Path(__file__).parent / "posts"
FLOORS = {
    "a": {"script": 0.95, "config": 0.8, "log": 0.7},
    "b": {"script": 0.8, "config": 0.9, "log": 0.7},
}
"""Share of the lines of all posts of a set; a post that is taken for a log loses all of its own."""


def pieces(case: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "script", case.get("cmd") or ""
    yield "log", case.get("log") or ""
    for name, text in (case.get("config") or {}).items():
        yield ("script" if name.endswith(".py") else "config"), text


def lines(text: str) -> list[str]:
    return [bare for line in text.splitlines() if (bare := line.strip().rstrip("\\").strip())]


def found(wanted: Iterable[str], kept: Iterable[str]) -> int:
    """Count the lines that are kept, those of a log without the rank in front of them."""
    tails = tuple(kept)
    return sum(line.endswith(tails) for line in wanted)


@pytest.mark.parametrize("name", FLOORS)
def test_pieces_of_posts_reach_readers_of_their_kind(name: str) -> None:
    wanted = Counter[str]()
    kept = Counter[str]()
    for path in sorted(HERE.joinpath(name).glob("*.yaml")):
        case = yaml.safe_load(path.read_text(encoding="utf-8"))
        inputs, _ = post_inputs(case["post"], "post.md") or ([], [])
        for kind, text in pieces(case):
            wanted[kind] += len(lines(text))
            given = (line for one in inputs if one.kind == kind for line in lines(one.text or ""))
            kept[kind] += found(lines(text), given)

    shares = {kind: kept[kind] / wanted[kind] for kind in wanted if wanted[kind]}

    assert {kind: share for kind, share in shares.items() if share < FLOORS[name][kind]} == {}
