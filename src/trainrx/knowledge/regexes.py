"""Whether a regular expression takes time in proportion to the text, whatever that is.

Two repeats within each other, or beside each other over the same characters, are found in its
syntax. Whether a search is quadratic is measured: on texts made of what the expression itself
repeats, which grow while the time is watched.
"""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import cast

# The parser of `re` moved in 3.11 and has no public name; its tree is stable across 3.10-3.14.
sre = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

UNBOUNDED = 1000
"""Turns from which on a repeat counts as endless."""
FORBIDDEN = {"GROUPREF", "GROUPREF_EXISTS", "ASSERT", "ASSERT_NOT"}
SIZES = (2_000, 4_000, 8_000)
"""Characters of the texts that are tried."""
SWIFT = 0.002
"""Seconds for the shortest of them below which no longer one is tried."""
GROWTH = 9.0
"""How much more the longest may take than the shortest: 4 is linear, 16 quadratic."""
LONGEST = 0.4
"""Seconds after which a trial is broken off."""
MOST_TEXTS = 24
MOST_SAMPLES = 3

Tree = Iterable[tuple[object, object]]
_CLASSES = {
    "CATEGORY_DIGIT": "1",
    "CATEGORY_NOT_DIGIT": "a",
    "CATEGORY_SPACE": " \n",
    "CATEGORY_NOT_SPACE": "a-",
    "CATEGORY_WORD": "a1",
    "CATEGORY_NOT_WORD": "- ",
}
_PLAIN = "a1 -_.:/=\"'(,A\n\t"


class _OverdueError(Exception):
    """A trial took too long."""


def unbounded(regex: str) -> list[str]:
    """List what in the syntax of an expression makes its time grow beyond all measure.

    Raises:
        re.error: it is no regular expression.
    """
    tree = list(sre.parse(regex))
    found = _walk(tree, inside=False)
    if tree and _is_endless(*tree[0]):
        found.insert(0, "starts with an unbounded repeat: quadratic on long lines")
    return found


def _is_endless(code: object, argument: object) -> bool:
    name = str(code)
    return name.endswith("_REPEAT") and int(cast("tuple[int, int, Tree]", argument)[1]) >= UNBOUNDED


def _walk(tree: Tree, *, inside: bool) -> list[str]:
    found: list[str] = []
    for code, argument in tree:
        name = str(code)
        if name in FORBIDDEN:
            found.append(f"{name.lower()} (lookaround, back reference) is not linear")
            continue
        endless = _is_endless(code, argument)
        if endless and inside:
            found.append("nested unbounded repeats: exponential")
        parts = _parts(name, argument)
        if name.endswith("_REPEAT"):
            parts = [cast("tuple[int, int, Tree]", argument)[2]]
        for part in parts:
            found += _walk(part, inside=inside or endless)
    return found


def slowness(regex: str, flags: int = 0, *, anchored: bool = False) -> str:
    """Say why an expression may take more than its share of time; "" where it does not.

    Args:
        regex: the expression, which can be compiled.
        flags: those of `re`.
        anchored: it is only matched at the start of a text, never searched for.
    """
    compiled = re.compile(regex, flags)
    tried = compiled.match if anchored else compiled.search
    texts = dict.fromkeys(_texts(list(sre.parse(regex, flags)), ""))
    for text in list(texts)[:MOST_TEXTS]:
        if said := _measured(tried, *text):
            return said
    return ""


def _measured(tried: Callable[[str], object], front: str, turn: str, end: str) -> str:
    taken: list[float] = []
    for size in SIZES:
        text = front + turn * (size // len(turn)) + end
        taken.append(_seconds(tried, text))
        if taken[0] < SWIFT:
            return ""
        if taken[-1] >= LONGEST:
            break
    if taken[-1] >= LONGEST or min(_seconds(tried, text), taken[-1]) > GROWTH * taken[0]:
        return f"takes {taken[-1]:.2f} s for {size} characters of {front[:20] + turn[:20]!r}"
    return ""


def _seconds(tried: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    try:
        with _limited():
            tried(text)
    except _OverdueError:
        return LONGEST
    return time.thread_time() - start


@contextmanager
def _limited() -> Iterator[None]:
    """Break off what takes too long; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def overdue(*_: object) -> None:
        raise _OverdueError

    before = signal.signal(signal.SIGVTALRM, overdue)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _texts(tree: Tree, front: str) -> Iterator[tuple[str, str, str]]:
    """Give fronts, turns and ends of texts on which repeats of a sequence may meet again."""
    before = front
    for code, argument in tree:
        name = str(code)
        if name.endswith("_REPEAT"):
            low, high, body = cast("tuple[int, int, Tree]", argument)
            if int(high) >= 64:
                for turn in _samples(body):
                    for end in ("\0", ""):
                        yield before, turn, end
                        yield "", before + turn, end
            yield from _texts(body, before)
            before += next(iter(_samples(body)), "") * min(int(low), 8)
            continue
        for part in _parts(name, argument):
            yield from _texts(part, before)
        before += next(iter(_samples([(code, argument)])), "")


def _parts(name: str, argument: object) -> list[Tree]:
    if name == "SUBPATTERN":
        return [cast("tuple[object, ...]", argument)[3]]  # type: ignore[list-item]
    if name == "BRANCH":
        return list(cast("tuple[None, list[Tree]]", argument)[1])
    if name in ("ASSERT", "ATOMIC_GROUP"):
        return [argument[1] if isinstance(argument, tuple) else argument]  # type: ignore[list-item]
    return []


def _samples(tree: Tree) -> list[str]:
    """Give some short texts that a sequence matches."""
    found = [""]
    for code, argument in tree:
        choices = _choices(str(code), argument)
        wide = found if len(found) > 1 else found * len(choices)
        found = [text + choices[at % len(choices)] for at, text in enumerate(wide)][:MOST_SAMPLES]
    return [text for text in found if text]


def _choices(name: str, argument: object) -> list[str]:
    """Give texts that one item of a sequence may be; [""] where it takes no text."""
    if name == "LITERAL":
        return [chr(cast("int", argument))]
    if name in ("ANY", "NOT_LITERAL"):
        return [c for c in _PLAIN if c != "\n" and ord(c) != argument][:MOST_SAMPLES]
    if name == "IN":
        return _of_set(cast("list[tuple[object, object]]", argument)) or ["a"]
    if name.endswith("_REPEAT"):
        low, _, body = cast("tuple[int, int, Tree]", argument)
        return [text * max(1, min(int(low), 8)) for text in _samples(body)] or [""]
    inner = [text for part in _parts(name, argument) for text in _samples(part)]
    return inner[:MOST_SAMPLES] or [""]


def _of_set(members: list[tuple[object, object]]) -> list[str]:
    found: list[str] = []
    negated = str(members[0][0]) == "NEGATE"
    for code, value in members:
        kind = str(code)
        if kind == "LITERAL":
            found.append(chr(cast("int", value)))
        elif kind == "RANGE":
            found.append(chr(cast("tuple[int, int]", value)[0]))
        elif kind == "CATEGORY":
            found += _CLASSES.get(str(value), "a")
    if not negated:
        return found[:MOST_SAMPLES]
    wide = "".join(found)
    return [c for c in _PLAIN if c not in wide][:MOST_SAMPLES]
