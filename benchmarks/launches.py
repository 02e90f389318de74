"""How well launches are read, on the scripts of public repositories.

    python benchmarks/launches.py DIR... [--docs] [--show] [--misses FILE]

DIR: checkouts; every .sh, .sbatch and .slurm below is read (and the shell blocks of .md and .rst
with --docs). No script is ever run: see launches_bash.py for how bash judges the words. A word is
static when no piece of it is unknown; a command that a loop runs many times counts once.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from launches_bash import NotComparable
from launches_look import Seen, look
from launches_mutations import MUTATIONS, mutated
from launches_static import LISTED, Tokens
from launches_words import compare

from trainrx.launch.find import find_launches
from trainrx.model.job import RawLaunch
from trainrx.shell import read_script

SCRIPTS = frozenset({".sh", ".sbatch", ".slurm"})
BLOCK = re.compile(
    r"^[ \t]*```[ \t]*(?:bash|sh|shell|console|shell script)[ \t]*\n(.*?)^[ \t]*```",
    re.MULTILINE | re.DOTALL,
)


class Text(NamedTuple):
    """A script, or a block of a page."""

    name: str
    text: str
    repository: str = ""


def corpus(folders: Sequence[Path], *, docs: bool) -> Iterator[Text]:
    """Give the scripts below some folders, by name."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            name = str(path.relative_to(folder))
            if path.suffix in SCRIPTS:
                yield Text(name, path.read_text("utf-8", "replace"), folder.name)
            elif docs and path.suffix in (".md", ".rst"):
                blocks = BLOCK.finditer(path.read_text("utf-8", "replace"))
                yield from (Text(f"{name}#{n}", m[1], folder.name) for n, m in enumerate(blocks, 1))


class Score:
    """What was counted, and examples of what went wrong."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.wrong: dict[str, list[str]] = {}
        self.tokens = Tokens()

    def miss(self, kind: str, text: str) -> None:
        """Note one example."""
        self.wrong.setdefault(kind, []).append(text)

    def share(self, part: str, whole: str) -> str:
        """Write a share."""
        some, all_ = self.counts[part], self.counts[whole]
        return f"{some:6} of {all_:6} {100 * some / max(all_, 1):6.1f} %"


def judge(item: Text, score: Score) -> None:
    """Read one script and compare."""
    counts = score.counts
    counts["scripts"] += 1
    began = time.perf_counter()
    try:
        script = read_script(item.text, item.name)
        read = time.perf_counter()
        launches = find_launches(script)
    except Exception as error:  # noqa: BLE001 (a crash is what is counted)
        counts["crashes"] += 1
        score.miss("crash", f"{item.name}: {error!r}")
        return
    counts["reading"] += int(1e6 * (read - began))
    counts["finding"] += int(1e6 * (time.perf_counter() - read))
    seen = look(item.text)
    if not seen:
        counts["silent"] += not launches
        return
    counts["holding"] += 1
    _found(item, seen, launches, score)
    score.tokens.add(script, item.repository)
    try:
        difference = compare(item.name, item.text)
    except NotComparable as error:
        score.kinds[f"not comparable: {error}"] += 1
    else:
        counts["comparable"] += 1
        counts["identical"] += not difference
        if difference:
            score.miss("words", difference)
    _mutate(item, seen[0], score)


def _found(item: Text, seen: list[Seen], launches: tuple[RawLaunch, ...], score: Score) -> None:
    counts = score.counts
    missed = 0
    for one in seen:
        at = [launch for launch in launches if _stands_in(launch, one)]
        counts["seen"] += 1
        counts["found"] += bool(at)
        missed += not at
        if not at:
            score.miss("launch", f"{item.name}:{one.first}: {one.text[:90]!r}")
        elif one.framework:
            counts["named-seen"] += 1
            right = any(launch.framework == one.framework and launch.command for launch in at)
            counts["named"] += right
            if not right:
                score.miss("name", f"{item.name}:{one.first}: {one.text[:90]!r}")
    counts["all-found"] += not missed
    counts["launches"] += len(launches)
    for launch in launches:
        counts["framework"] += bool(launch.framework)
        score.kinds[f"{launch.framework or 'unknown'} {launch.command} ({launch.role})"] += 1


def _stands_in(launch: RawLaunch, seen: Seen) -> bool:
    lines = (launch.origin.line, *(arg.origin.line for arg in (*launch.args, *launch.launcher)))
    return any(line and seen.first <= line <= seen.last for line in lines)


def _mutate(item: Text, seen: Seen, score: Score) -> None:
    for mistake, expected in MUTATIONS.items():
        name = f"{mistake}, in a string" if seen.quoted else mistake
        text = mutated(mistake, item.text, seen)
        if text is None:
            continue
        score.counts[f"mutation {name}"] += 1
        fresh = _defects(text, item.name) - _defects(item.text, item.name)
        right = any(identity in expected for identity, _ in fresh)
        score.counts[f"diagnosed {name}"] += right
        if not right:
            score.miss(f"mutation {name}", f"{item.name}:{seen.first}")


def _defects(text: str, name: str) -> set[tuple[str, int]]:
    script = read_script(text, name)
    own = (defect for launch in find_launches(script) for defect in launch.defects)
    return {(defect.id, defect.line) for defect in (*script.defects, *own)}


def report(score: Score) -> None:
    """Print the figures."""
    counts, tokens = score.counts, score.tokens
    counts["tokens"], counts["static"] = tokens.number(), tokens.number("static")
    counts["listed"] = counts["static"] + tokens.number(LISTED)
    counts["inside"] = counts["static"] + tokens.outside
    print(f"scripts {counts['scripts']}, crashes {counts['crashes']}")
    each = 1e3 * counts["scripts"]
    took = f"{counts['reading'] / each:.2f} to read, {counts['finding'] / each:.2f} to find"
    print(f"ms per script: {took}")
    for title, part, whole in (
        ("scripts with every launch found", "all-found", "holding"),
        ("launches found", "found", "seen"),
        ("named as their program says", "named", "named-seen"),
        ("launches of a named framework", "framework", "launches"),
        ("argv tokens static", "static", "tokens"),
        ("static, or all it may be is listed", "listed", "tokens"),
        ("or it comes from outside the script", "inside", "tokens"),
        ("scripts comparable", "comparable", "holding"),
        ("argv identical with bash", "identical", "comparable"),
        *(
            (f"diagnosed: {name}{place}", f"diagnosed {name}{place}", f"mutation {name}{place}")
            for place in ("", ", in a string")
            for name in MUTATIONS
        ),
    ):
        if not counts[whole]:
            continue
        print(f"{title:46} {score.share(part, whole)}")
    print(f"\n{tokens.table()}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--docs", action="store_true", help="also the shell blocks of pages")
    parser.add_argument(
        "--show", action="store_true", help="also what kinds of launches were found"
    )
    parser.add_argument("--misses", type=Path, help="write what went wrong to this file")
    given = parser.parse_args()
    score = Score()
    for item in corpus(given.folders, docs=given.docs):
        judge(item, score)
    report(score)
    if given.show:
        print("\n".join(f"{count:6} {kind}" for kind, count in score.kinds.most_common()))
    if given.misses:
        parts = (
            f"## {kind}: {len(found)}\n" + "\n".join(found) for kind, found in score.wrong.items()
        )
        given.misses.write_text("\n\n".join(parts) + "\n", "utf-8")


if __name__ == "__main__":
    main()
