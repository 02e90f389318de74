"""Jobs as the planner reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainrx.inspect.inspection import read_logs
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.given import gather
from trainrx.launch.request import request_of
from trainrx.model.facts import Facts
from trainrx.prove.reread import LaunchContext
from unit.workloads import knowledge

EXAMPLES = Path(__file__).parents[2] / "examples"


def surroundings(**inputs: Any) -> LaunchContext:
    """Read a job; inputs as `diagnose()` takes them."""
    given = gather(request_of((), inputs), knowledge())  # type: ignore[arg-type]
    seen = read_logs(given, LoadedKnowledge())
    return LaunchContext(
        given=given,
        knowledge=knowledge(),
        versions={**seen.versions, **given.versions},
        known=Facts((*given.facts, *seen.facts)),
        dumps=seen.dumps,
    )


def example(name: str, **inputs: Any) -> LaunchContext:
    """Read one of the founding situations."""
    folder = EXAMPLES / name
    return surroundings(cmd=folder / "launch.sh", versions=str(folder / "versions.txt"), **inputs)


def written(folder: Path, text: str, **inputs: Any) -> LaunchContext:
    """Read a launch script of this text."""
    path = folder / "launch.sh"
    path.write_text(text, encoding="utf-8")
    return surroundings(cmd=path, **inputs)
