"""Say which messages of a package's source lead to a symptom, and which do not.

    python -m verify messages NAME=FOLDER ... [--misses]

NAME=FOLDER is a package as it is installed, or a part of it: `datasets=.../site-packages/datasets`.
The messages are those of its `raise` statements, with placeholders filled in by what they are
called. Nothing is imported or run and no network is asked, so that one command repeats it for a
new release.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from trainrx.entries.tests import PreparedRules
from trainrx.knowledge.load import load
from trainrx.model.job import Input

SHORTEST = 16
"""Characters below which a message says nothing of its own."""
ASIDE = frozenset({"cli", "commands", "examples", "testing", "tests"})
"""Folders whose messages no training log shows."""
ANY_EXCEPTION = re.compile(r"uncaught-|unclassified-|exception-names-setting")
"""Symptoms that say of a message only that it is an exception."""
FILLED = (
    (re.compile(r"rank|size|num|len|count|idx|index|port|dim|code"), "3"),
    (re.compile(r"path|file|dir"), "/data/train"),
)


class Raised(msgspec.Struct, frozen=True):
    """A message as it would be printed, and where it is raised."""

    text: str
    place: str


def main(words: Sequence[str]) -> int:
    """Print a row per package."""
    parser = argparse.ArgumentParser(
        prog="verify messages", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("packages", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--misses", action="store_true", help="name the messages without one")
    given = parser.parse_args(words)
    rules = PreparedRules(load())
    for package in given.packages:
        name, _, folder = package.partition("=")
        messages = tuple(raised(Path(folder)))
        missed = [one for one in messages if not symptoms_of(one, rules)]
        print(f"{name:20} {len(messages):5} messages  {len(messages) - len(missed):5} known")
        for one in missed if given.misses else ():
            print(f"  {one.place}: {one.text[:160]}")
    rules.close()
    return 0


def symptoms_of(message: Raised, rules: PreparedRules) -> tuple[str, ...]:
    """Give the symptoms that know a message, but for those of any exception."""
    seen = rules.detector.detect([Input(kind="log", name="train.log", text=f"{message.text}\n")])
    found = (hits.symptom for hits in seen.symptoms)
    return tuple(ident for ident in found if not ANY_EXCEPTION.match(ident))


def raised(folder: Path) -> Iterator[Raised]:
    """Give the messages of the raise statements below a folder, in the order of the files."""
    for path in sorted(folder.rglob("*.py")):
        if ASIDE & set(path.relative_to(folder).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                text = message_of(node.exc)
                if len(text) >= SHORTEST:
                    name = ast.unparse(node.exc.func).rpartition(".")[2]
                    place = f"{path.relative_to(folder)}:{node.lineno}"
                    yield Raised(f"{name}: {text}", place)


def message_of(call: ast.Call) -> str:
    """Give the first argument of an exception as one line; "" where it is no text."""
    return " ".join(written(call.args[0]).split()) if call.args else ""


def written(node: ast.expr) -> str:
    """Give the text an expression comes to, placeholders filled in; "" where it is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(written, node.values))
    if isinstance(node, ast.FormattedValue):
        return filled(ast.unparse(node.value))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return written(node.left) + written(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        template = written(node.func.value) if node.func.attr == "format" else ""
        return re.sub(r"\{([^{}]*)\}", lambda hole: filled(hole[1]), template)
    return ""


def filled(name: str) -> str:
    """Give what may stand for an expression of this name."""
    return next((value for kind, value in FILLED if kind.search(name.lower())), "value")
