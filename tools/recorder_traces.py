"""Judge the public traces of flight recorders that other projects test with, and compare.

    python tools/recorder_traces.py --nvrx FOLDER --pytorch FILE

`--nvrx` is a copy of tests/attribution/unit/fr_traces of NVIDIA/nvidia-resiliency-ext: folders of
dumps, each with a `fault_injection.log` that names the ranks a fault was put into; what its own
analyser finds stands in reference_outputs beside it. `--pytorch` is a copy of
test/distributed/flight_recorder/test_fr_analysis.py of pytorch/pytorch: its pairs of events and the
states it expects of them are read from its text, nothing of it is run. Neither belongs into this
repository. Printed is each case as wanted and as found, and how many agree.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trainrx.evidence.collectives import GroupVerdict, group_verdicts
from trainrx.evidence.readers import as_evidence, read_evidence
from trainrx.model.job import Input

STATES = {
    "FULLY_MATCHED": ("matched",),
    "UNDECIDED": ("matched",),
    "COLLECTIVE_TYPE_MISMATCH": ("op-differs",),
    "SIZE_OR_SYNTAX_MISMATCH": ("size-differs",),
    "COLLECTIVE_STATE_MISMATCH": ("state-differs",),
    "COLLECTIVE_DTYPE_MISMATCH": ("dtype-differs",),
}
"""What pytorch calls a verdict, and what it is called here."""
EVENT = ("collective_name", "pg_info", "input_sizes", "output_sizes", "state")
NUMBERS = ("collective_seq_id", "p2p_seq_id", "output_dtypes")


class Comparison(NamedTuple):
    """A case: what is wanted of it and what was found."""

    name: str
    wanted: str
    found: str
    agrees: bool


def main() -> int:
    """Run, print, and give 1 where something disagrees."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--nvrx", type=Path)
    parser.add_argument("--pytorch", type=Path)
    given = parser.parse_args()
    found = list(nvrx(given.nvrx)) if given.nvrx else []
    found += pytorch(given.pytorch) if given.pytorch else []
    for one in found:
        sign = " " if one.agrees else "x"
        print(f"{sign} {one.name:40} wanted {one.wanted:28} found {one.found}")
    right = sum(one.agrees for one in found)
    print(f"{right} of {len(found)} agree")
    return 0 if right == len(found) else 1


def nvrx(folder: Path) -> Iterator[Comparison]:
    """Compare the ranks others wait for with those a fault was put into.

    A rank whose fault came after the job stood still already keeps nobody waiting: to name any of
    them, and nobody else, is right.
    """
    for case in sorted(path for path in folder.iterdir() if path.is_dir()):
        log = case.joinpath("fault_injection.log").read_text(encoding="utf-8")
        faulty = {int(rank) for rank in re.findall(r"Rank (\d+), fault_type", log)}
        named = {rank for one in judged(case.glob("_dump_*")) for rank in late(one)}
        yield Comparison(case.name, shown(faulty), shown(named), bool(named) and named <= faulty)


def late(found: GroupVerdict) -> tuple[int, ...]:
    """Give the ranks a group waits for."""
    return () if found.verdict == "matched" else found.culprits


def judged(paths: Iterator[Path]) -> list[GroupVerdict]:
    """Judge all groups of some dumps."""
    inputs = [as_evidence(Input(kind="other", name=path.name, path=path)) for path in paths]
    return group_verdicts(read_evidence(inputs))


def shown(ranks: set[int]) -> str:
    """Write ranks."""
    return ",".join(map(str, sorted(ranks))) or "nobody"


def pytorch(file: Path) -> Iterator[Comparison]:
    """Compare the verdict on each pair of events of the test with the state it expects."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    test = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "test_match_one_event"
    )
    events = {
        target.id: event(node.value)
        for node in ast.walk(test)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for one, other, state in pairs(test):
        found = verdict(events[one], events[other])
        yield Comparison(f"{one} and {other}", state, found, found in STATES[state])


def event(call: ast.Call) -> dict[str, Any]:
    """Make the entry of a dump that a call in the test stands for."""
    values: dict[str, Any] = {
        name: ast.literal_eval(value)
        for name, value in zip((*EVENT, *NUMBERS), call.args, strict=False)
    }
    values |= {word.arg or "": ast.literal_eval(word.value) for word in call.keywords}
    return {
        "profiling_name": f"nccl:{values['collective_name']}",
        "state": values["state"],
        "process_group": list(values["pg_info"]),
        "input_sizes": values["input_sizes"],
        "output_sizes": values["output_sizes"],
        "input_dtypes": ["float32"],
        "output_dtypes": [values["output_dtypes"]] if values.get("output_dtypes") else [],
        "collective_seq_id": 1,
        "p2p_seq_id": 0,
        "is_p2p": False,
    } | ({"output_dtypes": ["float32"]} if "output_dtypes" not in values else {})


def pairs(test: ast.FunctionDef) -> Iterator[tuple[str, str, str]]:
    """Give the names of two events and the state the test expects of them."""
    for node in ast.walk(test):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="assertEqual"),
                args=[
                    ast.Attribute(value=ast.Call(args=[ast.Name(id=one), ast.Name(id=other), *_])),
                    ast.Attribute(attr=state),
                ],
            ):
                yield one, other, state


def verdict(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Judge two events as those of two ranks of one group."""
    inputs = [
        as_evidence(Input(kind="other", name=f"trace_rank_{rank}.json", text=json.dumps(dump)))
        for rank, dump in enumerate(dumps(one, other))
    ]
    found = group_verdicts(read_evidence(inputs), world=2)
    return found[0].verdict if found else "matched"


def dumps(*entries: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Make a dump of each entry."""
    for entry in entries:
        yield {
            "version": "2.8",
            "comm_lib_version": "2.26.2",
            "pg_config": {"0": {"name": "0", "desc": "default", "ranks": "[0, 1]"}},
            "pg_status": {},
            "entries": [entry],
        }


if __name__ == "__main__":
    sys.exit(main())
