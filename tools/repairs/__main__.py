"""Write data/repairs/*; see README.md."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from repairs.history import first_releases, read_commits
from repairs.index import changes_text, words_text
from repairs.packages import PARTS, Part

_ROOT = Path(__file__).parents[2]


def main() -> int:
    """Run the command; 2 when a package is not known."""
    parser = argparse.ArgumentParser(prog="repairs", description=__doc__)
    parser.add_argument("packages", nargs="*", help="default: all")
    parser.add_argument(
        "--clone", action="append", default=[], metavar="PACKAGE=FOLDER",
        help="read this clone of its repository instead of fetching one",
    )  # fmt: skip
    parser.add_argument("--cache", type=Path, default=_ROOT / "build" / "repairs")
    parser.add_argument("--output", type=Path, default=_ROOT / "data" / "repairs")
    given = parser.parse_args()
    clones = dict(text.split("=", 1) for text in given.clone)
    wanted = given.packages or list(PARTS)
    strangers = [name for name in (*wanted, *clones) if name not in PARTS]
    if strangers:
        parser.error(f"no history is read of {', '.join(strangers)}; known: {', '.join(PARTS)}")
    given.output.mkdir(parents=True, exist_ok=True)
    for package in wanted:
        part = PARTS[package]
        clone = Path(clones[package]) if package in clones else _fetched(package, part, given.cache)
        write(package, part, clone, given.output)
    return 0


def write(package: str, part: Part, clone: Path, output: Path) -> None:
    """Read one repository and write its two files."""
    commits = list(read_commits(clone, part.folders))
    releases = None if part.tags is None else first_releases(clone, part.tags)
    for ending, text in (
        ("jsonl", changes_text(package, part.url, commits, releases)),
        ("words", words_text(commits)),
    ):
        (output / f"{package}.{ending}").write_text(text, encoding="utf-8")
        print(f"{len(text):9d} {package}.{ending}  {len(commits)} changes")


def _fetched(package: str, part: Part, cache: Path) -> Path:
    clone = cache / package
    if clone.is_dir():
        words = ["git", "-C", str(clone), "fetch", "--quiet", "--tags", "origin", "+HEAD:main"]
    else:
        words = ["git", "clone", "--quiet", "--bare", part.url, str(clone)]
    subprocess.run(words, check=True)  # noqa: S603  # the addresses of packages.py
    return clone


if __name__ == "__main__":
    sys.exit(main())
