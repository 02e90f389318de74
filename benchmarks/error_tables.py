"""Ask for each message of the error tables alone, and print how many lead to their cause.

    python benchmarks/error_tables.py [TABLE ...] [--misses]

A table (`tests/classics/*.yaml`) holds messages as programs print them and, written down before
the tool was asked, the causes of which one must stand first. right: it does, and is called likely;
suspected: it does; other: another cause stands first; wrong: another is called likely.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from trainrx import diagnose
from trainrx.knowledge.yaml12 import read_yaml
from trainrx.model.result import Diagnosis

TABLES = Path(__file__).parents[1] / "tests/classics"
Result = Literal["right", "suspected", "other", "wrong", "unknown"]


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message, what the user says besides, and the causes of which one must stand first.

    `missed`: it is known that none of them does; why stands beside it. `of`: the failure of CUDA
    that it is the counterpart of. `source`: where the line was read, if not in the table's.
    """

    line: str
    expect: tuple[str, ...]
    note: str = ""
    missed: str = ""
    of: str = ""
    source: str = ""


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Messages of one kind, and where their texts are from.

    `without`: failures of CUDA that have no counterpart on the machine of the table, each with why.
    """

    source: str
    lines: tuple[Message, ...]
    without: dict[str, str] = {}


def main() -> int:
    """Print a row per table, and all in one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tables", type=Path, nargs="*")
    parser.add_argument("--misses", action="store_true", help="name what does not lead")
    given = parser.parse_args()
    total = Counter[Result]()
    for path in given.tables or sorted(TABLES.glob("*.yaml")):
        counts = Counter[Result]()
        for message, result, causes in results(messages(path)):
            counts[result] += 1
            if given.misses and result not in ("right", "suspected"):
                print(f"  {result}: {message.line[:70]!r} -> {', '.join(causes[:2]) or '-'}")
        print(row(path.stem, counts))
        total += counts
    print(row("all", total))
    return 0


def messages(path: Path) -> tuple[Message, ...]:
    """Give the messages of a table."""
    return table(path).lines


def table(path: Path) -> Table:
    """Read a table."""
    return msgspec.convert(read_yaml(path), Table)


def results(asked: Sequence[Message]) -> Iterator[tuple[Message, Result, list[str]]]:
    """Ask for each message, and judge what stands first."""
    with tempfile.TemporaryDirectory() as folder:
        for message in asked:
            log = Path(folder) / "train.log"
            log.write_text(message.line + "\n", encoding="utf-8")
            answer = diagnose(logs=[log], note=message.note, top=2)
            yield message, judged(message, answer), [cause.id for cause in answer.causes]


def judged(message: Message, answer: Diagnosis) -> Result:
    """Say what the first cause of an answer is worth."""
    if not answer.causes:
        return "unknown"
    likely = answer.verdict == "diagnosed"
    if answer.causes[0].id in message.expect:
        return "right" if likely else "suspected"
    return "wrong" if likely else "other"


def row(name: str, counts: Counter[Result]) -> str:
    """Give the figures of a table."""
    asked = counts.total()
    first = counts["right"] + counts["suspected"]
    kinds = "  ".join(f"{kind} {counts[kind]}" for kind in Result.__args__)
    return f"{name:10} {asked:4} asked  expected cause first {first / asked:6.1%}  {kinds}"


if __name__ == "__main__":
    raise SystemExit(main())
