"""Regular expressions that are compiled when they are first tried: most answers need few."""

from __future__ import annotations

import re
from typing import cast


class _Late:
    """Stands for a compiled pattern; its methods are the pattern's own after the first use."""

    def __init__(self, text: str, flags: int) -> None:
        self._source = (text, flags)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):  # nothing of a pattern; copying asks for such names
            raise AttributeError(name)
        found = getattr(re.compile(*self._source), name)
        setattr(self, name, found)
        return found


class _Needled(_Late):
    """A late pattern that is only tried where one of its words is."""

    def __init__(self, text: str, needles: tuple[str, ...]) -> None:
        super().__init__(text, 0)
        self._needles = needles

    def search(self, text: str) -> re.Match[str] | None:
        return re.compile(*self._source).search(text) if self._may_match(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        return re.compile(*self._source).match(text) if self._may_match(text) else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return re.compile(*self._source).fullmatch(text) if self._may_match(text) else None

    def _may_match(self, text: str) -> bool:
        return any(needle in text for needle in self._needles)


def needled(text: str, *needles: str) -> re.Pattern[str]:
    """Give a pattern of which each match holds one of some words; it cannot find them all at once.

    To look for the words takes no compiled pattern; most names hold none.
    """
    return cast("re.Pattern[str]", _Needled(text, needles))


def late(text: str, flags: int = 0) -> re.Pattern[str]:
    """Give a pattern for its methods; functions of `re` do not take it.

    Compiling all patterns of this program takes longer than most answers.
    """
    return cast("re.Pattern[str]", _Late(text, flags))
