"""Of the labelled threads that ran out of memory: does `diagnose fix` show what worked?

    python benchmarks/plan_cases.py tests/cases/threads/first [...] [--all] [--since 2025-10-16]

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
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from accuracy import Names, _same, arguments, read_cases
from planner import KINDS, inputs_of

from trainrx.api import fix_launch, lint
from trainrx.model.errors import UsageError
from trainrx.model.fixing import FixAnswer, Proposal

DEGREES = {
    "parallel.tensor",
    "parallel.pipeline",
    "parallel.expert",
    "parallel.sequence",
    "vllm.tensor_parallel",
    "vllm.data_parallel",
    "vllm.pipeline_parallel",
}
"""Into how many ranks something is cut: the cards of all machines, at most."""
PER_NODE = {"parallel.processes_per_node", "rlhf.critic_gpus_per_node"}


class Edited(NamedTuple):
    """One patch: whether it applies, lint's errors after it, values the hardware does not have.

    Of the errors `new` were not there before it; `silent` were, and the answer does not say so:
    right only where the log shows that the job was taken all the same.
    """

    applies: bool
    new: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


class Judged(NamedTuple):
    """One thread: `out` says why it does not count, "" where it does."""

    case: str
    out: str
    plans: int = 0
    fit: bool = False
    where: str = ""
    told: str = ""
    date: str = ""
    startable: bool = False
    edits: tuple[Edited, ...] = ()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--since", default="")
    said = parser.parse_args()
    names = Names()
    found = list[Judged]()
    for folder in said.folders:
        for case in read_cases(folder, strict=not said.all):
            if case["symptom"] == "oom":
                found.append(judged(case, names))
                print(line(found[-1]), flush=True)
    print("\n".join(totals(found)))
    if said.since:
        newer = [item for item in found if item.date >= said.since]
        print(f"\nsince {said.since}", *totals(newer), sep="\n")
        print(f"\nbefore {said.since}", *totals([i for i in found if i not in newer]), sep="\n")
    return 0


def judged(case: dict[str, Any], names: Names) -> Judged:
    """Ask for one thread's fix and look for what worked."""
    fixes = [fix for fix in case["fixes"] if fix["kind"] in KINDS]
    try:
        answer, edits = ask(case)
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
    return Judged(
        case=case["id"],
        out=out,
        plans=len(plans),
        fit=all(map(fits, plans)),
        where=where,
        told=told,
        date=str(case.get("date") or ""),
        startable=has_launch(case) and bool(answer.job.model),
        edits=edits,
    )


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


def ask(case: dict[str, Any]) -> tuple[FixAnswer, tuple[Edited, ...]]:
    """Hand a thread to `fix` as its reporter could have, and try each patch it gives."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "job"
        root.mkdir()
        inputs = inputs_of(arguments(case, root, note=False))
        answer = fix_launch(**inputs, note=case["observed"])
        tried = [
            edited(item, root, inputs, case.get("hardware") or {})
            for item in answer.proposals
            if item.diff
        ]
    return answer, tuple(tried)


def edited(
    item: Proposal, root: Path, inputs: Mapping[str, Any], hardware: Mapping[str, Any]
) -> Edited:
    """Apply one proposal's patch to a copy of the files and lint what it leaves."""
    copy = root.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy)
    here = str(root).lstrip("/")
    diff = item.diff.replace(f"a/{here}/", "a/").replace(f"b/{here}/", "b/")
    words = ["patch", "-p1", "--batch", "--fuzz=0", "-d", str(copy)]
    made = subprocess.run(words, input=diff, text=True, capture_output=True, check=False)
    if made.returncode:
        return Edited(applies=False)
    moved = {key: _moved(value, str(root), str(copy)) for key, value in inputs.items()}
    before, after = errors_of(inputs), errors_of(moved)
    notes = " ".join(item.notes)
    told = {one.id for one in item.refused} | {rule for rule in after if rule in notes}
    return Edited(
        applies=True,
        new=tuple(after - before),
        standing=tuple(after & before),
        silent=tuple((after & before) - told),
        beyond=tuple(beyond(item, hardware)),
    )


def errors_of(inputs: Mapping[str, Any]) -> set[str]:
    """Give the rules whose errors lint finds in a launch."""
    own = {key: value for key, value in inputs.items() if key != "logs"}
    return {one.rule for one in lint((), **own) if one.severity == "error"}


def _moved(value: Any, old: str, new: str) -> Any:  # noqa: ANN401  # values of a command line
    if isinstance(value, list):
        return [_moved(item, old, new) for item in value]
    return value.replace(old, new) if isinstance(value, str) else value


def beyond(item: Proposal, hardware: Mapping[str, Any]) -> Iterator[str]:
    """Name values of degrees and counts that the stated cards and machines do not reach."""
    cards, nodes = hardware.get("gpus"), hardware.get("nodes") or 1
    if not cards:
        return
    for change in item.changes:
        most = cards if change.canonical in DEGREES else None
        most = max(1, cards // nodes) if change.canonical in PER_NODE else most
        if most is not None and str(change.to).isdigit() and int(str(change.to)) > most:
            yield f"{change.spelled} of {most}"


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
    marks = [] if all(one.applies for one in found.edits) else ["PATCH FAILS"]
    marks += [f"NEW {rule}" for one in found.edits for rule in one.new]
    marks += [f"SILENT {rule}" for one in found.edits for rule in one.silent]
    marks += [f"BEYOND {value}" for one in found.edits for value in one.beyond]
    state += f" [{', '.join(dict.fromkeys(marks))}]" if marks else ""
    return f"{found.case:22} {state}  | {found.told[:230]}"


def totals(found: Sequence[Judged]) -> Iterable[str]:
    """Give the shares."""
    edits = [one for item in found for one in item.edits]
    able = [item for item in found if item.startable]
    yield (
        f"launch and model given: {len(able)}, with a plan {sum(bool(i.plans) for i in able)}, "
        f"with any edit {sum(bool(i.edits) for i in able)}"
    )
    yield (
        f"{len(edits)} patches: {sum(one.applies for one in edits)} apply with patch -p1, "
        f"{sum(bool(one.new) for one in edits)} bring an error of lint, "
        f"{sum(bool(one.standing) for one in edits)} leave one that was there "
        f"({sum(bool(one.silent) for one in edits)} without saying so), "
        f"{sum(bool(one.beyond) for one in edits)} with values beyond the hardware"
    )
    counted = [item for item in found if not item.out]
    planned = [item for item in counted if item.plans]
    yield f"{len(found)} threads, {len(counted)} count, {len(planned)} with a plan"
    fit = sum(item.fit for item in planned)
    yield f"estimate fits in {fit} of {len(planned)}; the others say by how much they fall short"
    yield f"what worked among the plans' changes: {sum(i.where == 'plan' for i in counted)}"
    yield f"in any proposal: {sum(i.where in ('plan', 'fix') for i in counted)}"
    yield f"in advice by hand only: {sum(i.where == 'by hand' for i in counted)}"
    for reason, count in Counter(item.out for item in found if item.out).most_common():
        yield f"not counted, {reason}: {count}"


if __name__ == "__main__":
    raise SystemExit(main())
