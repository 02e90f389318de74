"""Rules for states of threads: each is told apart from all others by its samples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainrx.entries.check_common import KnownNames, head_problems, text_problems
from trainrx.entries.problem import Problem, error
from trainrx.evidence.ranks.states import stack_of, state_of
from trainrx.model.states import FramePattern, ThreadState

MIN_SAMPLES = 2


def state_problems(
    entry: ThreadState, stem: str, states: Sequence[ThreadState], names: KnownNames
) -> Iterator[Problem]:
    """List what is wrong with a state that lies in `states/<stem>.yaml`, beside all others."""
    yield from head_problems(entry, stem, names)
    yield from text_problems(("says", entry.says))
    known = {state.id for state in states}
    for name in entry.over:
        if name not in known or name == entry.id:
            yield error("over", f"no other state {name!r}")
    patterns = {f"frames[{at}]": pattern for at, pattern in enumerate(entry.frames)}
    if entry.under is not None:
        patterns["under"] = entry.under
    sound = True
    for key, pattern in patterns.items():
        for problem in _pattern(key, pattern):
            sound = False
            yield problem
    if sound:
        yield from _samples(entry, states)


def _pattern(key: str, pattern: FramePattern) -> Iterator[Problem]:
    if pattern == FramePattern(op=pattern.op):
        yield error(key, "matches every frame: name a function or a file")
    for name, regex in (("function", pattern.function), ("file", pattern.file)):
        if refused := _refused(regex):
            yield error(f"{key}.{name}", f"is not a regex: {refused}")


def _refused(regex: str) -> str:
    try:
        re.compile(regex)
    except re.error as refused:
        return str(refused)
    return ""


def _samples(entry: ThreadState, states: Sequence[ThreadState]) -> Iterator[Problem]:
    for key, texts in (("match", entry.samples.match), ("near_miss", entry.samples.near_miss)):
        if len(texts) < MIN_SAMPLES:
            yield error(f"samples.{key}", f"has {len(texts)} stacks; {MIN_SAMPLES} are needed")
        for at, text in enumerate(texts):
            found = state_of(stack_of(text), states)
            ident = None if found is None else found.state.id
            if (ident == entry.id) != (key == "match"):
                yield error(f"samples.{key}[{at}]", f"stands in {ident}: {text[:80]!r}")
