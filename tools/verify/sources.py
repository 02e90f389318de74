"""Read files of repositories at their tags, from clones and unpacked packages that are at hand."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from packaging.version import Version

from repairs.history import first_releases
from verify.claims import FILE, LEAST

MOVED = {
    "hiyouga/LLaMA-Factory": "hiyouga/LlamaFactory",
    "volcengine/verl": "verl-project/verl",
    "microsoft/DeepSpeed": "deepspeedai/DeepSpeed",
}
"""Repositories that have another name today, which old addresses lead to."""
TAGS = {"NVIDIA/Megatron-LM": "core_v"}
"""How tags of releases begin where it is not `v`."""
_HOLE = "\x00"
_FORMAT = re.compile(r"%(?:\(\w+\))?[-+ #0]*[\d.*]*(?:ll|l|z)?[sdrifxupgeEc]|\{[^{}]*\}")
_STRINGS = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_JOINED = re.compile(r'"\s*\n?\s*"')


class Sources:
    """What lies in some folders: clones as `owner+name[/repo]`, packages as `name-version`."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def text(self, url: str) -> str | None:
        """Give the file behind an address; "" where the tag lacks it, None where it is not here."""
        match = FILE.match(url)
        if match is None:
            return None
        repo, at, path = match["repo"], match["at"], match["path"]
        return _read(tuple(self._folders), MOVED.get(repo, repo), at, path)

    def releases(self, repo: str) -> dict[str, str]:
        """Give the first release of each change of a repository, by `#number` and by commit."""
        repo = MOVED.get(repo, repo)
        clone = _clone(tuple(self._folders), repo)
        return _first(clone, TAGS.get(repo, "v")) if clone is not None else {}

    def tags(self, repo: str) -> dict[Version, str]:
        """Give the tags of the releases of a repository; none where it is not here."""
        clone = _clone(tuple(self._folders), MOVED.get(repo, repo))
        begin = TAGS.get(repo, "v")
        told = _git(clone, "tag").split() if clone is not None else self._unpacked(repo, begin)
        return {
            Version(tag.removeprefix(begin)): tag
            for tag in told
            if re.fullmatch(r"\d+(?:\.\d+)+(?:\.post\d+)?", tag.removeprefix(begin))
        }

    def _unpacked(self, repo: str, begin: str) -> list[str]:
        """Give the tags of the releases that lie unpacked."""
        name = repo.partition("/")[2].lower()
        found = (place for folder in self._folders for place in folder.glob(f"{name}-*"))
        return [begin + place.name.removeprefix(f"{name}-") for place in found if place.is_dir()]

    def holds(self, repo: str, tag: str, texts: Sequence[str]) -> bool:
        """Tell whether a Python file of a repository holds one of some texts at a tag."""
        clone = _clone(tuple(self._folders), MOVED.get(repo, repo))
        asked = [part for text in texts for part in ("-e", text)]
        if clone is not None:
            return bool(_git(clone, "grep", "-lF", *asked, tag, "--", "*.py").strip())
        name = f"{repo.partition('/')[2].lower()}-{tag.removeprefix(TAGS.get(repo, 'v'))}"
        sought = [text.encode() for text in texts]
        files = (file for folder in self._folders for file in (folder / name).rglob("*.py"))
        return any(text in data for data in map(Path.read_bytes, files) for text in sought)


@cache
def _first(clone: Path, tags: str) -> dict[str, str]:
    return first_releases(clone, tags)


@cache
def _clone(folders: tuple[Path, ...], repo: str) -> Path | None:
    name = repo.replace("/", "+")
    places = [folder / name / end for folder in folders for end in ("repo", ".")]
    return next((place for place in places if (place / "HEAD").is_file()), None)


@lru_cache(maxsize=512)
def _read(folders: tuple[Path, ...], repo: str, at: str, path: str) -> str | None:
    name = repo.partition("/")[2].lower()
    for folder in folders:
        package = folder / f"{name}-{at.removeprefix('v')}"
        if package.is_dir():
            file = package / path.removeprefix("src/")
            return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    clone = _clone(folders, repo)
    if clone is None or not _shown(clone, f"{at}^{{commit}}", "-t"):
        return None
    # a folder is shown as the names in it
    return _shown(clone, f"{at}:{path.rstrip('/')}", "-p")


def _shown(clone: Path, named: str, how: str) -> str:
    return _git(clone, "cat-file", how, named)


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  # its own arguments
        ["git", "-C", str(clone), *arguments],  # noqa: S607
        check=False,
        capture_output=True,
    )
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def prints(source: str, lines: Sequence[str]) -> bool:
    """Tell whether a source holds a text that comes out as one of some lines, or part of one.

    Placeholders of a text stand for anything; of what is left, enough must stand on the line.
    """
    plain = " ".join(source.split())
    return any(" ".join(line.split()) in plain for line in lines) or any(
        _fits(template, line) for template in _templates(source) for line in lines
    )


def _fits(template: str, line: str) -> bool:
    pieces = [" ".join(piece.split()) for piece in template.split(_HOLE)]
    pieces = [piece for piece in pieces if piece]
    if sum(map(len, pieces)) < LEAST:
        return False
    at, line = 0, " ".join(line.split())
    for piece in pieces:
        found = line.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


@lru_cache(maxsize=256)
def _templates(source: str) -> tuple[str, ...]:
    """Give the texts of a source line by line, placeholders as one character."""
    return tuple(
        _FORMAT.sub(_HOLE, line)
        for text in _texts(source)
        for line in text.splitlines()
        if len(line.strip()) >= LEAST
    )


def _texts(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        for text in _STRINGS.findall(_JOINED.sub("", source)):
            yield text.replace('\\"', '"').replace("\\n", "\n")
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)):
            yield _text(node)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else _HOLE
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return _HOLE
