"""What lint says of launches on which the real frameworks have ruled.

    python benchmarks/lint_referee.py [--verdicts tests/lint/verdicts.jsonl] [--show 40]

The verdicts were recorded by `tools/referee/judge.py`, see `tests/lint/README.md`. Each launch is
linted with the version it was judged at and nothing else. Of the launches a framework refuses for
its arguments, lint is to have an error on at least 95 in 100; of those it takes, on none. Exit
status 1 when that is not so.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.linter.check import Linter
from trainrx.linter.files import lint_files
from trainrx.linter.jobs import RunContext
from trainrx.linter.run import groups, lint_file
from trainrx.linter.settings import Settings, chooser
from trainrx.model.findings import Finding

HERE = Path(__file__).resolve().parent
VERDICTS = HERE.parent / "tests" / "lint" / "verdicts.jsonl"
WANTED = 0.95


class Verdict(msgspec.Struct, frozen=True):
    """A launch, and what the framework of that version made of it."""

    id: str
    framework: str
    version: str
    kind: str
    base: str
    files: dict[str, str]
    verdict: str
    message: str
    at: str


def main() -> int:
    """Print the figures, and the launches where lint and framework differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", type=Path, default=VERDICTS)
    parser.add_argument("--show", type=int, default=40)
    options = parser.parse_args()
    verdicts = read_verdicts(options.verdicts)
    start = time.perf_counter()
    loaded = LoadedKnowledge()
    said = {item.id: said_of(item, loaded) for item in verdicts}
    taken = time.perf_counter() - start
    refused = [item for item in verdicts if item.verdict == "rejected-arguments"]
    accepted = [item for item in verdicts if item.verdict == "accepted"]
    missed = [item for item in refused if not errors(said[item.id])]
    wrong = [item for item in accepted if errors(said[item.id])]
    print(f"{len(verdicts)} launches, {taken:.1f} s")
    _by_release(refused, missed, accepted, wrong)
    _show("refused, and no error", missed, said, options.show)
    _show("accepted, and an error", wrong, said, options.show)
    share = 1 - len(missed) / max(len(refused), 1)
    print(f"refused for their arguments: {len(refused)}, error on {share:.1%}", end="; ")
    print(f"accepted: {len(accepted)}, error on {len(wrong)}")
    return int(share < WANTED or bool(wrong))


def read_verdicts(path: Path) -> list[Verdict]:
    """Read recorded verdicts, one a line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [msgspec.json.decode(line, type=Verdict) for line in lines]


def said_of(item: Verdict, loaded: LoadedKnowledge) -> list[Finding]:
    """Lint a launch at its version, in a folder that holds its files."""
    linter = Linter(loaded.lint, chooser(Settings(), groups(loaded.lint)), "en")
    beside = RunContext(loaded, {item.framework: item.version})
    found: list[Finding] = []
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in item.files.items():
            Path(folder, name).write_text(text, encoding="utf-8", newline="")
        os.chdir(folder)
        try:
            for file in lint_files(["launch.sh"], None, (), []):
                found += lint_file(file, linter, beside, [])[0]
        finally:
            os.chdir(home)
    return found


def errors(found: list[Finding]) -> list[Finding]:
    """Leave the errors among findings."""
    return [item for item in found if item.severity == "error"]


def _by_release(*groups_of: list[Verdict]) -> None:
    names = sorted({f"{v.framework} {v.version}" for group in groups_of for v in group})
    for name in names:
        counts = [sum(f"{v.framework} {v.version}" == name for v in g) for g in groups_of]
        print("{}: refused {} (missed {}), accepted {} (error on {})".format(name, *counts))


def _show(title: str, items: list[Verdict], said: dict[str, list[Finding]], most: int) -> None:
    if not items:
        return
    print(f"{title}: {len(items)} {dict(Counter(v.kind.split(':')[0] for v in items))}")
    for item in items[:most]:
        print(f"  {item.id} {item.framework} {item.version} {item.kind}")
        print(f"      {item.message[:160]} ({item.at.split('site-packages/')[-1]})")
        for finding in errors(said[item.id]):
            print(f"      {finding.rule}: {finding.message[:140]}")


if __name__ == "__main__":
    sys.exit(main())
