"""Read the labelled notes and say how rightly and how fully their statements are understood.

    python benchmarks/stated.py [FILE...] [--misses]

The files are of tests/cases/notes/stated: notes with what a reader takes them to state of the job
that failed (`says`). A note is a text of its own, the `observed` of a labelled thread (`case`), or
one told again (`told`). Precision is the share of read statements that are right, recall the share
of labelled ones that are read. The facts that wordings in kb/ give (framework, phase) count too.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from trainrx.catalog.names import framework_facts
from trainrx.evidence.detector import Detector
from trainrx.frameworks.common.owners import without_origins
from trainrx.inputs.hardware import read_gpu
from trainrx.knowledge.load import load
from trainrx.launch.cards import card_facts
from trainrx.launch.prose.statements import stated
from trainrx.model.facts import STATED, Fact, Facts, Origin
from trainrx.model.job import Input
from trainrx.models.facts import find_shape

CASES = Path(__file__).resolve().parents[1] / "tests" / "cases"
NOTES = CASES / "notes"
KINDS: Mapping[str, tuple[str, ...]] = {
    "hardware": ("gpu", "gib", "gpus", "nodes"),
    "versions": ("version",),
    "model": ("model",),
    "framework": ("framework",),
    "task and method": ("task", "task_type", "tuner", "bits"),
    "phase": ("phase",),
    "settings": ("zero", "offload", "micro_batch", "max_length"),
}
FACTS = {
    "hardware.gpu": "gpu",
    "hardware.gpu_gib": "gib",
    "hardware.gpus": "gpus",
    "hardware.nodes": "nodes",
    "model.name": "model",
    "launch.framework": "framework",
    "launch.task": "task",
    "task.type": "task_type",
    "tuner.type": "tuner",
    "tuner.quant_bits": "bits",
    "failure.phase": "phase",
    "parallel.zero_stage": "zero",
    "parallel.offload_optimizer": "offload",
    "train.micro_batch": "micro_batch",
    "train.max_length": "max_length",
}
Said = frozenset[tuple[str, str]]


class Note(NamedTuple):
    """A note, what it says by the label, and what was read."""

    text: str
    labelled: Said
    read: Said


@cache
def _detector() -> Detector:
    told = (item for item in load().symptoms.values() if item.role == "observation" and item.facts)
    return Detector(tuple(told))


@cache
def _retold() -> dict[str, dict[str, str]]:
    lines = (NOTES / "retold.jsonl").read_text(encoding="utf-8").splitlines()
    return {told["id"]: told for told in map(json.loads, lines)}


def notes(path: Path) -> Iterator[Note]:
    """Read the notes of a file, and what stands in them."""
    for record in yaml.safe_load(path.read_text(encoding="utf-8")):
        text = text_of(record)
        yield Note(text, labelled(record["says"]), understood(text))


def text_of(record: Mapping[str, Any]) -> str:
    """Give the text of a labelled note."""
    if "told" in record:
        name, way = record["told"].split()
        return _retold()[name][way]
    if "case" in record:
        case = (CASES / "threads" / f"{record['case']}.yaml").read_text(encoding="utf-8")
        return str(yaml.safe_load(case)["observed"])
    return str(record["text"])


def labelled(says: Mapping[str, Any]) -> Said:
    """Give a label in the terms of what is read."""
    out: set[tuple[str, str]] = set()
    for name, value in says.items():
        if name == "gpu":
            facts = card_facts(read_gpu(str(value), load().gpus), Origin(source="label"))
            out |= {(FACTS[f.kind], str(f.value)) for f in facts if f.kind in FACTS}
        elif name == "versions":
            out |= {("version", f"{package} {text}") for package, text in value.items()}
        elif name == "model":
            out.add(("model", _model(str(value))))
        elif name == "zero":
            out.add(("zero", str(value)[0]))
            out |= {("offload", "True")} if "offload" in str(value) else set()
        elif name == "tuner":
            out.add(("tuner", "full" if value == "full" else "lora"))
            out |= {("bits", "4")} if value == "qlora" else set()
        else:
            out.add((name, str(value)))
    return frozenset(out)


def understood(text: str) -> Said:
    """Give what is read of a note."""
    note = Input(kind="note", name="note", text=text)
    own = stated((note,), load())
    told = without_origins(_detector().detect((note,)).facts)
    known = Facts((*own.facts, *told))
    known.add(*framework_facts(known, own.versions))
    return frozenset(
        {pair for item in known if (pair := _pair(item)) is not None}
        | {("version", f"{package} {version}") for package, version in own.versions.items()}
    )


def _pair(item: Fact) -> tuple[str, str] | None:
    name = FACTS.get(item.kind.removeprefix(STATED))
    if name is None or (name == "offload" and item.value is not True):
        return None
    return name, _model(str(item.value)) if name == "model" else str(item.value)


def _model(name: str) -> str:
    name = re.sub(r"(?<=\d)_(?=\d)", ".", name)
    shape = find_shape(name, load().models)
    return shape.id if shape is not None else name.lower().replace("_", "-")


def shares(read: Sequence[Note], names: Sequence[str] | None = None) -> tuple[float, float, int]:
    """Give precision, recall and the number of labelled statements, of some names or of all."""
    count: Counter[str] = Counter()
    for note in read:
        for said, name in ((note.labelled, "labelled"), (note.read, "read")):
            count[name] += sum(names is None or pair[0] in names for pair in said)
        both = note.labelled & note.read
        count["right"] += sum(names is None or pair[0] in names for pair in both)
    right = count["right"]
    return right / max(count["read"], 1), right / max(count["labelled"], 1), count["labelled"]


def main() -> int:
    """Print a table of each file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--misses", action="store_true", help="list what was read wrongly or not")
    said = parser.parse_args()
    for path in said.files or sorted((NOTES / "stated").glob("*.yaml")):
        read = list(notes(path))
        print(f"{path.stem}: {len(read)} notes")
        for kind, names in (*KINDS.items(), ("all", None)):
            precision, recall, count = shares(read, names)
            print(f"  {kind:<16} {count:4} precision {precision:.3f} recall {recall:.3f}")
        for note in read if said.misses else ():
            wrong, missed = sorted(note.read - note.labelled), sorted(note.labelled - note.read)
            if wrong or missed:
                print(f"- {' '.join(note.text.split())}\n    wrong {wrong}\n    missed {missed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
