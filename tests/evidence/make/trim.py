"""Make the samples of `tests/evidence` of what `collect.py` took: neutral, and small.

    python trim.py PYTHON FOLDER [NAME ...]

PYTHON and FOLDER as given to `collect.py`. Of a recorder the last calls are kept, as one with a
smaller ring would have them. Stacks that are there already stay as they are.
"""

from __future__ import annotations

import io
import pickle
import re
import shutil
import socket
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EVIDENCE = HERE.parent
CALLS = 4
ROUNDS = 3
OWN = re.compile(r"[^\s'\"(,]*/(?=(?:train|troubles|dataset|reward|recorder)\.py\b)")
NATIVE = re.compile(r"^.*\bframe #\d+: .*\n", re.MULTILINE)
SAVED = re.compile(r"\[/__w/pytorch/pytorch/third_party/")


class NoGlobals(pickle.Unpickler):
    """Read plain containers only."""

    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"{module}.{name}")


def trim(taken: Path, python: Path) -> None:
    name = taken.name
    home = (taken / "home").read_text()
    names = {home: "/data/tmp", str(python.parent.parent): "/usr", socket.gethostname(): "node-0"}
    names[str(python.resolve().parent.parent)] = "/usr"
    if (taken / "stacks").exists() and not (EVIDENCE / "stacks" / name).exists():
        for path in sorted((taken / "stacks").glob("round*/rank*.*")) + sorted(
            (taken / "stacks").glob("round*/py-spy*")
        ):
            put(path, EVIDENCE / "stacks" / name / path.parent.name / path.name, names)
    shutil.rmtree(EVIDENCE / "logs" / name, ignore_errors=True)
    for path in (taken / "stacks" / "round1").glob("*-limits"):
        put(path, EVIDENCE / "logs" / name / f"{path.name}.txt", names)
    for path in sorted((taken / "logs").rglob("*.log")):
        if path.stat().st_size:
            put(path, EVIDENCE / "logs" / name / path.relative_to(taken / "logs"), names)
    for path in taken.glob("kernel.log"):
        put(path, EVIDENCE / "logs" / name / path.name, names)
    put(taken / "launch.sh", EVIDENCE / "launch" / name / "launch.sh", names)
    shutil.rmtree(EVIDENCE / "recorder" / name, ignore_errors=True)
    for path in sorted((taken / "recorder").glob("trace_rank_*")):
        target = EVIDENCE / "recorder" / name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(shortened(path.read_bytes(), names))


def put(source: Path, target: Path, names: dict[str, str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(neutral(source.read_text(errors="replace"), names))


def neutral(text: str, names: dict[str, str]) -> str:
    text = OWN.sub("/data/", text)
    for before, after in sorted(names.items(), key=lambda item: -len(item[0])):
        text = text.replace(before, after)
    text = SAVED.sub("[../third_party/", NATIVE.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", text)


def shortened(dump: bytes, names: dict[str, str]) -> bytes:
    """Keep the last calls of a dump, each text once."""
    found = NoGlobals(io.BytesIO(dump)).load()
    if found.get("entries"):
        found["entries"] = found["entries"][-CALLS:]
    return pickle.dumps(_plain(found, names, {}), protocol=2)


def _plain(value: object, names: dict[str, str], known: dict[str, str]) -> object:
    if isinstance(value, str):
        return known.setdefault(value, neutral(value, names))
    if isinstance(value, dict):
        return {_plain(k, names, known): _plain(v, names, known) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(one, names, known) for one in value)
    return value


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    for wanted in sys.argv[3:] or sorted(path.parent.name for path in folder.glob("*/home")):
        trim(folder / wanted, Path(sys.argv[1]))
