"""Of the labelled threads that ran out of memory: does `diagnose fix` show what worked?

    python benchmarks/plan_cases.py tests/cases/threads/first [...] [--all]

Each strict thread is handed to `fix` as its reporter could have (command, configs, log, versions,
hardware, what was seen). Printed are, thread by thread: how many plans are shown, whether each of
their estimates fits the card, and whether a change that worked stands among the changes of the
plans, or else of another proposal or an advice to be followed by hand. A thread does not count
where the inputs name no model that is known or no card, where they hold no launch an edit could be
made in (comments alone), or where what worked is no parameter (a package, code, data, other
hardware); the reason is printed. With --all, inferred labels too.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from accuracy import Names, _same, arguments, read_cases
from planner import KINDS, inputs_of

from trainrx.api import fix_launch
from trainrx.model.errors import UsageError
from trainrx.model.fixing import FixAnswer, Proposal


class Judged(NamedTuple):
    """One thread: `out` says why it does not count, "" where it does."""

    case: str
    out: str
    plans: int = 0
    fit: bool = False
    where: str = ""
    told: str = ""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--all", action="store_true")
    said = parser.parse_args()
    names = Names()
    found = list[Judged]()
    for folder in said.folders:
        for case in read_cases(folder, strict=not said.all):
            if case["symptom"] == "oom":
                found.append(judged(case, names))
                print(line(found[-1]), flush=True)
    print("\n".join(totals(found)))
    return 0


def judged(case: dict[str, Any], names: Names) -> Judged:
    """Ask for one thread's fix and look for what worked."""
    fixes = [fix for fix in case["fixes"] if fix["kind"] in KINDS]
    try:
        answer = ask(case)
    except UsageError as error:
        return Judged(case["id"], f"refused: {error}".splitlines()[0][:100])
    plans = [item for item in answer.proposals if item.kind == "plan"]
    others = [item for item in answer.proposals if item.kind != "plan"]
    where = next(
        (
            name
            for name, items in (("plan", plans), ("fix", others), ("by hand", answer.manual))
            if holds(items, fixes, names)
        ),
        "",
    )
    told = "; ".join(" ".join(change.spelled for change in item.changes) for item in plans)
    told = told or (answer.no_plan.reason if answer.no_plan is not None else "")
    out = "" if plans and fixes else uncounted(case, answer, fixes)
    return Judged(case["id"], out, len(plans), all(map(fits, plans)), where, told)


def uncounted(case: dict[str, Any], answer: FixAnswer, fixes: list[dict[str, Any]]) -> str:
    """Say why a thread does not count; "" where it does."""
    hardware = case.get("hardware") or {}
    if not fixes:
        return "what worked is no parameter"
    if not (hardware.get("gpu") or hardware.get("gpu_mem_gib")):
        return "no card in the inputs"
    if not has_launch(case):
        return "no launch in the inputs"
    # that nothing is enough is an answer of the planner, and counts
    if answer.no_plan is not None and answer.no_plan.kind != "impossible":
        return f"not planned ({answer.no_plan.id})"
    return "" if answer.job.model else "not planned (no-model)"


def has_launch(case: dict[str, Any]) -> bool:
    """Tell whether a command or a configuration says anything but comments."""
    texts = [case.get("cmd") or "", *map(str, (case.get("config") or {}).values())]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return any(line and not line.startswith("#") for line in lines)


def ask(case: dict[str, Any]) -> FixAnswer:
    """Hand a thread to `fix` as its reporter could have."""
    with tempfile.TemporaryDirectory() as name:
        inputs = inputs_of(arguments(case, Path(name), note=False))
        return fix_launch(**inputs, note=case["observed"])


def fits(plan: Proposal) -> bool:
    """Tell whether the estimate of a plan is below what the card holds."""
    seen = plan.predicted
    return seen is not None and seen.after_gib <= seen.limit_gib


def holds(items: Iterable[Proposal], fixes: list[dict[str, Any]], names: Names) -> bool:
    """Tell whether one of the fixes that worked stands among the changes of proposals."""
    changes = [
        {"param": change.param, "canonical": change.canonical}
        for item in items
        for change in item.changes
    ]
    return any(_same(fix, change, names) for fix in fixes for change in changes)


def line(found: Judged) -> str:
    """Give one thread's line."""
    state = found.out or (
        f"{found.plans} plans, {'fit' if found.fit else 'DO NOT FIT'}, "
        f"{'worked: ' + found.where if found.where else 'MISS'}"
        if found.plans
        else f"NO PLAN, {'worked: ' + found.where if found.where else 'MISS'}"
    )
    return f"{found.case:22} {state}  | {found.told[:230]}"


def totals(found: list[Judged]) -> Iterable[str]:
    """Give the shares."""
    counted = [item for item in found if not item.out]
    planned = [item for item in counted if item.plans]
    yield f"{len(found)} threads, {len(counted)} count, {len(planned)} with a plan"
    yield f"estimate fits in {sum(item.fit for item in planned)} of {len(planned)}"
    yield f"what worked among the plans' changes: {sum(i.where == 'plan' for i in counted)}"
    yield f"in any proposal: {sum(i.where in ('plan', 'fix') for i in counted)}"
    yield f"in advice by hand only: {sum(i.where == 'by hand' for i in counted)}"
    for reason, count in Counter(item.out for item in found if item.out).most_common():
        yield f"not counted, {reason}: {count}"


if __name__ == "__main__":
    raise SystemExit(main())
