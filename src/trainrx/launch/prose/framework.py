"""The framework a post is about, where neither a launch nor a log names it.

People name what they train with in a title or a sentence, or only list its version. Of several the
one that is built on the others counts: who uses ms-swift lists trl and transformers as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from trainrx.catalog.framework_choice import FrameworkChoice, framework_named, is_library
from trainrx.knowledge.packages import read_requirements
from trainrx.launch.prose.clauses import LONGEST
from trainrx.model.facts import MAX_QUOTE, Origin
from trainrx.model.job import Input
from trainrx.model.pattern import late

_WORD = late(r"(?<![A-Za-z0-9_-])[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*(?![A-Za-z0-9_])")
_IDENTIFIER = late(r"(?<![A-Za-z0-9_-])[A-Za-z][A-Za-z0-9]*(?=_[A-Za-z0-9])")
"""What a variable or a module is called after (`UNSLOTH_COMPILE_DISABLE`, `unsloth_zoo`)."""


def framework_meant(notes: Sequence[Input], versions: Mapping[str, str]) -> FrameworkChoice | None:
    """Say which framework notes and a listing of versions are about; None where that is open.

    Args:
        notes: what people wrote.
        versions: of packages, by name, as they were listed.
    """
    listed = [
        (name, Origin(source=name, text=f"{name} {version}"))
        for name, version in versions.items()
        if framework_named(name) == name
    ]
    for mentions in (list(_named(notes, _WORD)), listed, list(_named(notes, _IDENTIFIER))):
        top = _top({name for name, _ in mentions})
        counted = Counter(name for name, _ in mentions if name in top).most_common(2)
        if not counted or (len(counted) > 1 and counted[0][1] == counted[1][1]):
            continue
        name = counted[0][0]
        origin = next(at for other, at in mentions if other == name)
        version = versions.get(name, "")
        is_listed = mentions is listed
        return FrameworkChoice(name=name, version=version, origin=origin, listed=is_listed)
    return None


def _named(notes: Iterable[Input], pattern: re.Pattern[str]) -> Iterator[tuple[str, Origin]]:
    for note in notes:
        for number, line in enumerate((note.text or "")[:LONGEST].split("\n"), start=1):
            for found in pattern.finditer(line):
                name = framework_named(found[0])
                if name is not None:
                    text = line.strip()[:MAX_QUOTE]
                    yield name, Origin(source=note.name, line=number, text=text)


def _top(names: set[str]) -> set[str]:
    """Give those that none of the others is built on."""
    # what others train with counts where nothing else is named
    above = {name for name in names if not is_library(name)} or names
    below = {need for name in above for need in _needs().get(name, ())}
    return above - below or above


@lru_cache(maxsize=1)
def _needs() -> dict[str, frozenset[str]]:
    needs = read_requirements().needs
    return {name: frozenset(one.needs for one in own) for name, own in needs.items()}
