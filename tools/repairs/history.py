"""Read the changes of a program from its repository: what each touched, and its first release."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

_START, _NEXT, _END = "\x01", "\x02", "\x03"
_FORMAT = f"{_START}%H{_NEXT}%cs{_NEXT}%s{_NEXT}%b{_END}"
_DEFINED = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")
_PULL = re.compile(r"(?:\(|\bMerge pull request )#(\d+)\b")
_MERGE = re.compile(r"Merge (?:pull request #\d+|branch) ")
_PASSED_OVER = re.compile(
    r"(?:^|/)(?:tests?|docs?|examples?|benchmarks?|studio)/|(?:^|/)_?version\.py$"
)
"""What ships with a program without being it."""
_NEW_MODEL = re.compile(
    r"\W*(?:\[\w+\])*\W*(?:support|add|adapt)\w*\b(?=.*[A-Za-z]\d)"
    r"(?!.*(?:fix|bug|error|crash|compat|hang|oom|patch))",
    re.IGNORECASE,
)
"""Of a model that is new its name is told, which each failure with that model has in common."""
_MOST_FILES = 40
"""A change of more files moves or formats code rather than repairing it."""


class Commit(NamedTuple):
    """One change.

    `touched` are functions and classes by file, `lines` those it wrote or took away, `pull` the
    number of the pull request it merged.
    """

    digest: str
    date: str
    pull: int | None
    subject: str
    body: str
    touched: dict[str, tuple[str, ...]]
    lines: tuple[str, ...]


def read_commits(clone: Path, folders: Sequence[str]) -> Iterator[Commit]:
    """Give the changes of the main branch that touch the program, the oldest first.

    Raises:
        subprocess.CalledProcessError: git cannot read the clone.
    """
    with TemporaryDirectory() as aside:
        # so that git names the function a piece of a patch stands in
        attributes = Path(aside) / "attributes"
        attributes.write_text("*.py diff=python\n", encoding="utf-8")
        history = _git(
            clone, "-c", f"core.attributesFile={attributes}",
            "log", "--first-parent", "--reverse", "-m", "-p", "-U0", f"--format={_FORMAT}",
            "HEAD", "--", *(f"{folder}*.py" for folder in folders),
        )  # fmt: skip
    for part in history.split(_START)[1:]:
        head, _, patch = part.partition(_END)
        digest, date, subject, body = head.split(_NEXT, 3)
        pull = _PULL.findall(subject)
        if _MERGE.match(subject):
            # the title of what is merged stands below
            subject, _, body = body.strip().partition("\n")
        touched, lines = _of_patch(patch)
        if touched and len(touched) <= _MOST_FILES and not _NEW_MODEL.match(subject):
            yield Commit(
                digest, date, int(pull[-1]) if pull else None, subject, body, touched, lines
            )


def _of_patch(patch: str) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    touched: dict[str, dict[str, None]] = {}
    lines: list[str] = []
    path = ""
    for line in patch.split("\n"):
        if line.startswith(("--- ", "+++ ")):
            path = line[6:].strip() if line[4:6] in ("a/", "b/") else path
            if _PASSED_OVER.search(path):
                path = ""
            elif path:
                touched.setdefault(path, {})
        elif not path:
            continue
        elif line.startswith("@@"):
            _note(touched[path], line.split("@@", 2)[-1])
        elif line[:1] in "+-":
            lines.append(line[1:])
            _note(touched[path], line[1:])
    return {path: tuple(names) for path, names in touched.items()}, tuple(lines)


def _note(names: dict[str, None], text: str) -> None:
    defined = _DEFINED.match(text.strip())
    if defined is not None:
        names[defined[1]] = None


def first_releases(clone: Path, tags: str) -> dict[str, str]:
    """Give the first release that has each change, by commit and by pull request ("#123").

    A change that was picked onto a branch of releases is another commit there, of the same pull
    request.
    """
    found: dict[str, str] = {}
    before: list[str] = []
    for version, tag in _releases(clone, tags):
        new = _git(clone, "log", f"--format=%H{_NEXT}%s", tag, "--not", *before)
        for line in new.splitlines():
            digest, _, subject = line.partition(_NEXT)
            found.setdefault(digest, str(version))
            for number in _PULL.findall(subject)[-1:]:
                found.setdefault(f"#{number}", str(version))
        before.append(tag)
    return found


def _releases(clone: Path, prefix: str) -> list[tuple[Version, str]]:
    found = []
    for tag in _git(clone, "tag").split():
        try:
            version = Version(tag.removeprefix(prefix))
        except InvalidVersion:
            continue
        if not version.is_prerelease:
            found.append((version, tag))
    return sorted(found)


def _git(clone: Path, *words: str) -> str:
    done = subprocess.run(  # noqa: S603  # its own arguments
        ["git", "-C", str(clone), *words],  # noqa: S607
        check=True,
        capture_output=True,
    )
    return done.stdout.decode("utf-8", "replace")
