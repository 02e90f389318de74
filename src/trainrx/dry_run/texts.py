"""Which texts of rows reach the model: rows as they stand in files beside what was encoded."""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

ROLES = ("role", "from")
LEAST, LEAST_CJK = 12, 5
"""Characters from which a text is taken for one of its own: in letters, and in Chinese ones."""
BEGINS, ENDS = 60, 40
"""Characters of a text by which it is found, and by which its end is."""
MOST_DEPTH = 12
MOST_HELD = 1 << 20
_TAG = re.compile(r"<[^<>\n]{1,60}>")
_DROPPED = re.compile(r"[\s\\\"'`]+")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_CJK = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")
BETWEEN = "\x00"


class Leaf(NamedTuple):
    """A text of a row: where it stands (`messages[assistant].content`), its beginning, its end."""

    column: str
    begins: str
    ends: str
    shown: str


def bare(text: str) -> str:
    """Leave out what templates and writers of JSON change: blanks, quotes, escapes."""
    if "\\u" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return _DROPPED.sub("", text.replace("\\n", " ").replace("\\t", " "))


def leaves(row: Mapping[str, object]) -> Iterator[Leaf]:
    """Give the texts of a row that are long enough to be found again."""
    for column, value in row.items():
        yield from _leaves(str(column), value, 0)


def _leaves(path: str, value: object, depth: int) -> Iterator[Leaf]:
    if depth > MOST_DEPTH:
        return
    if isinstance(value, Mapping):
        role = next((value[key] for key in ROLES if isinstance(value.get(key), str)), None)
        own = path if role is None else f"{path.removesuffix('[]')}[{role}]"
        for key, item in value.items():
            if key not in ROLES:
                yield from _leaves(f"{own}.{key}", item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(f"{path}[]", item, depth + 1)
    elif isinstance(value, str):
        held = _held(value)
        if held is not None:
            yield from _leaves(path, held, depth + 1)
            return
        found = _leaf(path, value)
        if found is not None:
            yield found


def _held(text: str) -> object:
    """Give what a text holds that is JSON, or as Python writes lists; None for others."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text[:MOST_HELD])
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        return found if isinstance(found, (dict, list)) else None
    return None


def _leaf(path: str, text: str) -> Leaf | None:
    # tags of images become tokens, and thoughts of earlier turns are left out: the last part counts
    parts = [bare(part) for part in _TAG.split(text)]
    enough = [part for part in parts if _is_own(part)]
    if not enough:
        return None
    part = enough[-1]
    return Leaf(path, part[:BEGINS], part[-ENDS:], text.strip()[:60])


def _is_own(text: str) -> bool:
    return len(text) >= (LEAST_CJK if _CJK.search(text) else LEAST)


class Encoded:
    """The texts of all samples: what is read, and what of it is learnt from."""

    def __init__(self, samples: Sequence[Mapping[str, object]]) -> None:
        read = [bare(str(item.get("read") or "")) for item in samples]
        learnt = [item.get("learnt") for item in samples]
        self._read = BETWEEN.join(read)
        self._ends = [*accumulate(len(text) + 1 for text in read)]
        self.knows_learnt = any(isinstance(text, str) for text in learnt)
        self._learnt = BETWEEN.join(bare(str(text)) for text in learnt if isinstance(text, str))

    def begins(self, leaf: Leaf) -> bool:
        """Tell whether a text is read, as far as its beginning goes."""
        return leaf.begins in self._read

    def whole(self, leaf: Leaf) -> bool:
        """Tell whether the end of a text is read too."""
        return leaf.ends in self._read

    def learnt(self, leaf: Leaf) -> bool:
        """Tell whether a text is learnt from."""
        return leaf.begins in self._learnt or leaf.ends in self._learnt

    def sample(self, leaf: Leaf) -> int | None:
        """Give the number of the first sample with a text."""
        at = self._read.find(leaf.begins)
        return None if at < 0 else bisect_right(self._ends, at)


def are_packed(rows: Iterable[Sequence[Leaf]], encoded: Encoded) -> bool:
    """Tell whether samples are made of several rows: half of them at least hold texts of two.

    A question that stands within another one is no such text.
    """
    seen: dict[str, int] = {}
    kept = list(rows)
    for number, row in enumerate(kept):
        for leaf in row:
            seen[leaf.begins] = number if leaf.begins not in seen else -1
    held: dict[int, set[int]] = defaultdict(set)
    for number, row in enumerate(kept):
        for leaf in row:
            at = encoded.sample(leaf) if seen[leaf.begins] == number else None
            if at is not None:
                held[at].add(number)
    several = sum(len(numbers) > 1 for numbers in held.values())
    return 0 < len(held) <= 2 * several
