"""The changes of each framework's own code, found by the words of what was seen (Okapi BM25).

Of what a change was described with only its words are kept, each once and in no order, beside the
names of the functions it touched. `tools/repairs` writes them (`NAME.jsonl`, `NAME.words`); the
index of the words (`NAME.terms`) is made of them when the wheel is built, in a checkout on first
use. The formula is that of `trainrx.knowledge.words`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import msgspec

from trainrx.knowledge.cache import cache_file, keep
from trainrx.knowledge.places import data_folder, held_in
from trainrx.knowledge.words import HUNDREDTHS, STOPWORDS
from trainrx.model.errors import KnowledgeError
from trainrx.model.packages import Repair, Repairs

FOLDER = "repairs"
CHANGES, WORDS, INDEX = ".jsonl", ".words", ".terms"
SATURATION = 1.2
"""BM25's k1."""
LENGTH = 0.3
"""BM25's b."""
_USUALLY = (
    "add bug bugfix chore ci class def doc docs error false feat feature file fix fixed fixes"
    " import misc model new none pr refactor return self support test train trainer training true"
    " update"
)
_USUAL = frozenset(_USUALLY.split())
"""What nearly every change is described with."""
_ENDINGS = ("ing", "ed", "es", "s")
_SHORTEST = 4
_ONE, _SHORT = 2, 9
"""Humps and letters of a name that is one word to people."""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*")
_NAME = re.compile(r"[A-Za-z]\w*_\w+|[A-Za-z]+[a-z][A-Z]\w+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT = re.compile(r"[._-]")
_DIGIT = re.compile(r"\d")


_Line = TypeVar("_Line", Repair, Repairs)


def words_in(text: str) -> set[str]:
    """Cut a text into stems; of the names of models the parts are joined ("=qwen3vl") as well."""
    found: set[str] = set()
    for word in _WORD.findall(text):
        pieces = [piece for piece in _JOINT.split(word) if piece]
        whole = [piece.lower() for piece in pieces]
        parts = {part.lower() for piece in pieces for part in _parts(piece)}
        found.update(
            _stem(part)
            for part in parts
            if len(part) > 1 and part not in STOPWORDS and part not in _USUAL
        )
        if len(whole) == 1 and _DIGIT.search(whole[0]):
            found.add(f"={whole[0]}")
        found.update(
            f"={before}{after}"
            for before, after in pairwise(whole)
            if _DIGIT.search(before[-1]) or _DIGIT.match(after)
        )
    return found


def names_in(text: str) -> set[str]:
    """Give the names of a program in a text: with an underscore, or a capital inside."""
    return {name_term(name) for name in _NAME.findall(text)}


def name_term(name: str) -> str:
    """Give the term that stands for a name as a whole."""
    return f"#{name.lower()}"


def _parts(piece: str) -> list[str]:
    """Cut a name at its humps, but for short ones that people write as one: DeepSpeed."""
    parts = _HUMP.split(piece)
    return parts if len(parts) > _ONE or len(piece) > _SHORT else [piece]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST and not stem.endswith("e"):
            return stem
    return word


def rarity(holders: int, count: int) -> float:
    """Say how much a term tells that some of all changes hold, in nats."""
    return math.log(1 + (count - holders + 0.5) / (holders + 0.5))


class RepairTable:
    """The changes of one package; a line is decoded when it is asked for."""

    def __init__(self, path: str, changes: bytes, terms: bytes) -> None:
        self._path = path
        self._lines = changes.splitlines()
        self._terms = terms.splitlines()
        self.head = self._decode(0, Repairs)
        if len(self._lines) != self.head.count + 1:
            told = f"{self.head.count} changes are announced, {len(self._lines) - 1} follow"
            raise KnowledgeError(path, "line 1", told)

    def find(self, term: str) -> tuple[tuple[int, float], ...]:
        """Give the changes that hold a term, each with the weight it has there, in nats."""
        sign = f"{term}\t".encode()
        at = bisect_left(self._terms, sign)  # they are sorted, and no term holds what sorts so low
        if at == len(self._terms) or not self._terms[at].startswith(sign):
            return ()
        try:
            numbers = [int(text) for text in self._terms[at].removeprefix(sign).split()]
        except ValueError as error:
            raise KnowledgeError(self._path, "", f"{term}: {error}") from error
        pairs = zip(numbers[::2], numbers[1::2], strict=False)
        return tuple((place, weight / HUNDREDTHS) for place, weight in pairs)

    def repair(self, place: int) -> Repair:
        """Give a change by its place, from 0."""
        return self._decode(place + 1, Repair)

    def _decode(self, line: int, kind: type[_Line]) -> _Line:
        try:
            return msgspec.json.decode(self._lines[line], type=kind)
        except (msgspec.DecodeError, msgspec.ValidationError, IndexError) as error:
            raise KnowledgeError(self._path, f"line {line + 1}", str(error)) from error


def index_text(words: str) -> str:
    """Write one line per term: the places of the changes that hold it, each with its weight.

    Weights are those of BM25 in hundredths of a nat.

    Args:
        words: a line of `words_line` for each change.
    """
    held = [dict(_weighed(line)) for line in words.splitlines()]
    lengths = [math.fsum(terms.values()) for terms in held]
    mean = math.fsum(lengths) / max(1, len(held))
    long = [length / mean for length in lengths]
    places: dict[str, list[int]] = defaultdict(list)
    for place, terms in enumerate(held):
        for term in terms:
            places[term].append(place)
    lines = []
    for term, at in sorted(places.items()):
        rare = rarity(len(at), len(held))
        pairs = (
            f"{place} {round(HUNDREDTHS * rare * _damped(held[place][term], long[place]))}"
            for place in at
        )
        lines.append(f"{term}\t{' '.join(pairs)}\n")
    return "".join(lines)


def words_line(terms: Mapping[str, float]) -> str:
    """Write the terms of one change, those of the same weight together, the heaviest first."""
    alike: dict[float, list[str]] = defaultdict(list)
    for term in sorted(terms):
        alike[round(terms[term], 1)].append(term)
    groups = sorted(alike.items(), reverse=True)
    return "\t".join(f"{weight:g} {' '.join(group)}" for weight, group in groups)


def _weighed(line: str) -> Iterator[tuple[str, float]]:
    for group in line.split("\t") if line else ():
        weight, *terms = group.split(" ")
        for term in terms:
            yield term, float(weight)


def _damped(count: float, length: float) -> float:
    return count * (SATURATION + 1) / (count + SATURATION * (1 - LENGTH + LENGTH * length))


@lru_cache(maxsize=8)
def open_repairs(package: str, root: Path | None = None) -> RepairTable | None:
    """Open what is known of a package's changes; None where its history was not read."""
    folder = root or data_folder(FOLDER)
    path = f"{folder}/{package}{CHANGES}"
    changes = held_in(path)
    if changes is None:
        return None
    index = held_in(f"{folder}/{package}{INDEX}")
    return RepairTable(path, changes, _index(f"{folder}/{package}{WORDS}", package, index))


def _index(words: str, package: str, built: bytes | None) -> bytes:
    """Give the index an installed copy carries, else the one kept of the words as they are now."""
    if built is not None:
        return built
    cache = cache_file([words], f"repairs_{package.replace('-', '_')}")
    kept = held_in(cache)
    if kept is None:
        kept = index_text(Path(words).read_text(encoding="utf-8")).encode()
        keep(cache, kept)
    return kept
