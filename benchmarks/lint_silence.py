"""What lint says of a framework's own example scripts, each at its own release.

    python benchmarks/lint_silence.py CHECKOUT --package ms-swift [--tags 'v3*'] [--show 40]

CHECKOUT is a git repository with its release tags (a bare clone will do); nothing of it is run.
The files of each tag that is a release of the catalog are laid out in a folder of their own, and
each shell script, and each YAML of a framework that takes them, is linted with that version.
Official examples work, so an error is either a mistake of the example or of ours. The mistakes of
the examples are listed, with their proof, in `lint_silence.jsonl` and `unknown_flags.jsonl`; the
last line counts the errors no entry explains and the warnings per script: any such error, or more
than 0.3 warnings per script, is exit status 1.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from packaging.version import Version
from unknown_flags import Mistake, _files, _release, _tags

from trainrx.catalog.catalog import catalog, plain
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.find import find_launches
from trainrx.linter.check import Linter
from trainrx.linter.files import lint_files
from trainrx.linter.jobs import RunContext, config_launch
from trainrx.linter.run import groups, lint_file
from trainrx.linter.settings import Settings, chooser
from trainrx.model.findings import Finding
from trainrx.shell import read_script

Kind = TypeVar("Kind")
HERE = Path(__file__).parent
WANTED = (".sh", ".yaml", ".yml", ".json")
MOST_WARNINGS = 0.3


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding that is right: a mistake of upstream's example, with what shows it.

    `path` may hold `*`; it holds for the releases from `since` to `until`.
    """

    package: str
    rule: str
    path: str
    since: str
    until: str
    proof: str


class Said(NamedTuple):
    """One finding at one release."""

    release: str
    finding: Finding


def main() -> int:
    """Print the figures."""
    options = _options()
    start = time.perf_counter()
    known = set(catalog(options.package).releases)
    tags = [t for t in _tags(options.checkout) if fnmatch.fnmatch(t, options.tags)]
    tags = [tag for tag in tags if _release(tag) in known]
    said: list[Said] = []
    scripts = 0
    for tag in tags:
        release = str(_release(tag))
        count, found = _lint(options.checkout, tag, options.package, release)
        scripts += count
        said += (Said(release, item) for item in found)
    kinds = Counter(item.finding.severity for item in said)
    explained = _explained(options.package)
    errors = [s for s in said if s.finding.severity == "error" and not explained(s)]
    warnings = [s for s in said if s.finding.severity == "warning"]
    print(f"{options.package}: {len(tags)} releases, {scripts} scripts", end="")
    print(f", {time.perf_counter() - start:.1f} s")
    print(f"errors {kinds['error']}, warnings {kinds['warning']}, infos {kinds['info']}")
    _show("error", errors, options.show)
    _show("warning", warnings, options.show)
    rate = len(warnings) / max(scripts, 1)
    print(f"unexplained errors: {len(errors)}, warnings per script: {rate:.3f}")
    return int(bool(errors) or rate > MOST_WARNINGS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--package", required=True)
    parser.add_argument("--tags", default="*")
    parser.add_argument("--show", type=int, default=40)
    return parser.parse_args()


def _lint(checkout: Path, tag: str, package: str, release: str) -> tuple[int, list[Finding]]:
    """Lint the files of one release; give how many hold a launch, and what was found."""
    loaded = LoadedKnowledge()
    beside = RunContext(loaded, {package: release})
    linter = Linter(loaded.lint, chooser(Settings(), groups(loaded.lint)), "en")
    scripts = 0
    found: list[Finding] = []
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for path, text in _files(checkout, tag, WANTED).items():
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="")
        os.chdir(folder)
        try:
            for file in lint_files(["."], None, (), []):
                if file.kind == "script":
                    launches = find_launches(read_script(file.text, file.name))
                    mine = any(launch.framework == package for launch in launches)
                else:
                    launch = config_launch(file)
                    mine = launch is not None and launch.framework == package
                if mine:
                    scripts += 1
                    found += lint_file(file, linter, beside, [])[0]
        finally:
            os.chdir(home)
    return scripts, found


def _explained(package: str) -> Callable[[Said], bool]:
    flags = _read("unknown_flags.jsonl", Mistake)
    known = [item for item in _read("lint_silence.jsonl", Known) if item.package == package]

    def test(said: Said) -> bool:
        item, release = said.finding, Version(said.release)
        words = {plain(word.strip(":,")) for word in item.message.split()}
        by_name = any(
            flag.package == package
            and Version(flag.since) <= release <= Version(flag.until)
            and any(fnmatch.fnmatchcase(word, flag.name) for word in words)
            for flag in flags
        )
        return by_name or any(
            entry.rule == item.rule
            and fnmatch.fnmatchcase(item.file.removeprefix("./"), entry.path)
            and Version(entry.since) <= release <= Version(entry.until)
            for entry in known
        )

    return test


def _read(name: str, kind: type[Kind]) -> list[Kind]:
    path = HERE / name
    return msgspec.json.Decoder(kind).decode_lines(path.read_bytes()) if path.is_file() else []


def _show(word: str, said: list[Said], count: int) -> None:
    held: dict[tuple[str, str, str], list[str]] = {}
    for release, item in said:
        held.setdefault((item.rule, item.message, item.file), []).append(release)
    rules = Counter(s.finding.rule for s in said)
    print(f"{word}s by rule: " + ", ".join(f"{n} {rule}" for rule, n in rules.most_common()))
    for (rule, message, file), releases in sorted(held.items(), key=lambda r: -len(r[1]))[:count]:
        span = f"{min(releases, key=Version)}..{max(releases, key=Version)}"
        print(f"  {len(releases):4d} {span:16} {rule}: {message[:150]}  {file}")


if __name__ == "__main__":
    sys.exit(main())
