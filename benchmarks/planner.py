"""How fast plans are found, and how often a fix that worked is among their changes.

    python benchmarks/planner.py [--cases tests/cases/threads ...]

Printed are, for each founding situation of `examples/`, how many candidates a second are put
together and judged, how many were looked at, and the milliseconds to all plans with their proofs;
then those to the table of the first situation (2 x 80, 4 x 48, 8 x 24 GiB). Time is that of the
processor. With `--cases`: of the labelled threads that ran out of memory and whose launch names a
model that is known, how many get a plan, and how many a plan that sets what the thread says worked.
Packages, code and data are no levers; a thread whose fixes are all of that kind is listed apart.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from accuracy import Names, _same, arguments, read_cases

from trainrx.api import plan_job
from trainrx.inspect.inspection import read_logs
from trainrx.knowledge.load import load
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.launch.given import gather
from trainrx.launch.request import request_of
from trainrx.model.errors import UsageError
from trainrx.model.facts import Facts
from trainrx.model.memory import Refusal
from trainrx.prove.candidates import subject_of
from trainrx.prove.planner import PlanOutcome, space_of
from trainrx.prove.planning import bench_of, search
from trainrx.prove.reread import LaunchContext

EXAMPLES = Path(__file__).parents[1] / "examples"
KINDS = ("arg", "env", "config_file")
ROUNDS = 3
WORDS = {
    "--cmd": "cmd",
    "--config": "config",
    "--env": "env",
    "--versions": "versions",
    "--log": "logs",
    "--gpu": "gpu",
    "--gpus": "gpus",
    "--nodes": "nodes",
}


JUDGED = 4000
TABLE = (("80GiB", 2), ("48GiB", 4), ("24GiB", 8))


class Timed(NamedTuple):
    """One situation: what was found, the seconds it took, and candidates a second."""

    name: str
    found: PlanOutcome | Refusal
    seconds: float
    speed: float


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cases", type=Path, nargs="*", default=[])
    said = parser.parse_args()
    knowledge = load(launches=True)
    print(f"{'situation':38}{'plans':>6}{'a second':>10}{'looked at':>10}{'ms':>7}")
    for timed in situations(knowledge):
        print(row(timed))
    print(f"{'table of three kinds of hardware':38}{1000 * table():33.0f}")
    for folder in said.cases:
        print("\n".join(judged(folder, knowledge)))
    return 0


def situations(knowledge: Knowledge) -> Iterator[Timed]:
    """Plan each example that failed for want of memory, or will."""
    for folder in sorted(EXAMPLES.iterdir()):
        if not (folder / "expect.yaml").is_file():
            continue
        expect = yaml.safe_load((folder / "expect.yaml").read_text())
        inputs = {"gpu": "A100-40G", **inputs_of(expect["args"], folder)}
        around = surroundings(inputs, knowledge)
        best, found = 1e9, None
        for _ in range(ROUNDS):
            start = time.process_time()
            found = search(around, failed=True)
            best = min(best, time.process_time() - start)
        if found is not None:
            yield Timed(folder.name, found, best, speed(around))


def speed(around: LaunchContext) -> float:
    """Give how many candidates a second are judged: random moves, the same each time."""
    subject = subject_of(around)
    trial = None if subject is None else bench_of(subject, failed=True)
    if trial is None or isinstance(trial, Refusal):
        return 0.0
    space = space_of(trial)
    rng = random.Random(5)  # noqa: S311  # an order, not a secret
    chosen = [
        [rng.choice(row) for row in space.levers if rng.random() < 1 / 3] for _ in range(JUDGED)
    ]
    start = time.process_time()
    for pulls in chosen:
        space.fits(space.work(pulls))
    return JUDGED / (time.process_time() - start)


def table() -> float:
    """Give the seconds it takes to plan the first situation for other hardware."""
    folder = EXAMPLES / "01-vl7b-grpo-8xA30-24g"
    start = time.process_time()
    plan_job(cmd=folder / "launch.sh", versions=str(folder / "versions.txt"), hardware=list(TABLE))
    return time.process_time() - start


def row(timed: Timed) -> str:
    """Give one line of the table."""
    found = timed.found
    if isinstance(found, Refusal):
        return f"{timed.name:38}{'-':>6}  {found.id}: {found.reason}"
    return (
        f"{timed.name:38}{len(found.plans):6}{timed.speed:10,.0f}{found.looked_at:10}"
        f"{1000 * timed.seconds:7.0f}"
    )


def inputs_of(words: Sequence[str], folder: Path | None = None) -> dict[str, Any]:
    """Turn words of a command line into keywords; files are named from their folder."""
    found: dict[str, Any] = {}
    for option, value in zip(words[::2], words[1::2], strict=True):
        name = WORDS.get(option)
        place = value if folder is None else str(folder / value)
        if name in ("config", "logs"):
            found.setdefault(name, []).append(place)
        elif name in ("gpus", "nodes"):
            found[name] = int(value)
        elif name is not None:
            found[name] = value if name == "gpu" else place
    return found


def surroundings(inputs: Mapping[str, Any], knowledge: Knowledge) -> LaunchContext:
    """Read a job as the command line does."""
    given = gather(request_of((), inputs), knowledge)  # type: ignore[arg-type]
    seen = read_logs(given, LoadedKnowledge())
    return LaunchContext(
        given=given,
        knowledge=knowledge,
        versions={**seen.versions, **given.versions},
        known=Facts((*given.facts, *seen.facts)),
        dumps=seen.dumps,
    )


def judged(folder: Path, knowledge: Knowledge) -> Iterator[str]:
    """Compare plans with what worked, thread by thread, then over all."""
    names = Names()
    counted = planned = hit = 0
    for case in read_cases(folder, strict=False):
        if case["symptom"] != "oom":
            continue
        found = plans_of(case, knowledge)
        fixes = [fix for fix in case["fixes"] if fix["kind"] in KINDS]
        if isinstance(found, str):
            yield f"  {case['id']:22} {case['confidence']:10} not counted: {found}"
            continue
        changes = [
            {"param": change.param, "canonical": change.canonical}
            for plan in found.plans
            for change in plan.changes
        ]
        named = any(_same(fix, change, names) for fix in fixes for change in changes)
        told = "; ".join(" ".join(c.spelled for c in plan.changes) for plan in found.plans)
        yield (
            f"  {case['id']:22} {case['confidence']:10} plans {len(found.plans)} "
            f"{'hit' if named else 'MISS' if fixes else 'no lever'}: {told}"
        )
        if fixes:
            counted, planned, hit = counted + 1, planned + bool(found.plans), hit + named
    yield f"{folder}: {counted} counted, {planned} with a plan, {hit} with what worked"


def plans_of(case: dict[str, Any], knowledge: Knowledge) -> PlanOutcome | str:
    """Plan one thread's job; a text when it cannot be judged."""
    with tempfile.TemporaryDirectory() as name:
        words = arguments(case, Path(name), note=False)
        try:
            found = search(surroundings(inputs_of(words), knowledge), failed=True)
        except UsageError as error:
            return str(error).splitlines()[0][:70]
    return f"{found.id}: {found.reason}"[:90] if isinstance(found, Refusal) else found


if __name__ == "__main__":
    raise SystemExit(main())
