"""What an answer must not show is masked in all its texts alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from trainrx.sanitizer import MASK, Level
from trainrx.sanitizer.assignments import looks_random
from trainrx.sanitizer.controls import visible
from trainrx.sanitizer.secrets import Finder, SecretSpan, joined

_LEAST_LEARNT = 10
"""Characters of a secret that is looked for where nothing says that it is one."""


class Redactor:
    """Masks the texts of one answer.

    A secret that one text names as such is masked in the others, too; with `strict` the same host
    or folder has the same placeholder throughout.

    Args:
        level: what is masked.
        texts: all there is in the answer; what is not met in them costs nothing later.
        secrets: what is known to be one.
    """

    def __init__(
        self, level: Level, texts: Iterable[str] | None = None, secrets: Iterable[str] = ()
    ) -> None:
        self.level = level
        self._finder = Finder()
        self._known: dict[str, list[SecretSpan]] = {}
        self._learnt: tuple[str, ...] = ()
        self._apart = True
        self._places = Placeholders() if level == "strict" else None
        if texts is not None and level != "none":
            self._read(tuple(dict.fromkeys(texts)), set(secrets))

    @property
    def idle(self) -> bool:
        """Tell that nothing in the texts is to be masked."""
        nothing = self._finder.idle and not self._learnt
        return self.level == "none" or (self.level == "secrets" and nothing)

    def text(self, text: str, *, in_place: bool = False) -> str:
        """Mask a text; `in_place`: every character that is shown keeps its column."""
        if self.idle:
            return text
        shown = visible(text) if self._apart else text
        found = self.spans(shown)
        if not found:
            return text
        if in_place and len(shown) != len(text):
            return "*" * len(text)
        return _masked(shown, found, in_place=in_place)

    def spans(self, text: str) -> list[SecretSpan]:
        """Give the stretches of a text that must not be shown, in order, apart from each other."""
        found = self._known.get(text)
        if found is None:
            found = self._finder.spans(text)
        if self._learnt:
            found = joined([*found, *self._named(text)])
        return found if self._places is None else self._places.beside(found, text)

    def _named(self, text: str) -> Iterator[SecretSpan]:
        for value in self._learnt:
            at = text.find(value)
            while at >= 0:
                yield SecretSpan(at, at + len(value))
                at = text.find(value, at + len(value))

    def _read(self, texts: tuple[str, ...], secrets: set[str]) -> None:
        """Find out which kinds of secrets there are, and learn those that may stand elsewhere."""
        page = "\n".join(texts)
        seen = visible(page)
        self._apart = page != seen
        self._finder = Finder(seen)
        shown = [visible(text) for text in texts] if self._apart else texts
        if not self._finder.idle:
            self._known = {text: found for text in shown if (found := self._finder.spans(text))}
            for text, found in self._known.items():
                secrets |= {text[start:end] for start, end, _ in found}
        self._learnt = tuple(sorted(filter(_is_telling, secrets), key=len, reverse=True))
        if self._places is not None:
            self._places.read(shown)


class Placeholders:
    """Names for hosts, addresses, users and folders that say nothing of them: `<host-1>`."""

    def __init__(self) -> None:
        from trainrx.sanitizer.identities import identities, telling

        self._identities, self._telling = identities, telling
        self._counts: Counter[str] = Counter()
        self._given: dict[tuple[str, str], str] = {}
        self._learnt: re.Pattern[str] | None = None
        self._kinds: dict[str, str] = {}

    def read(self, texts: Iterable[str]) -> None:
        """Name what stands in some texts, and learn what to look for in all."""
        for text in texts:
            for found in self._identities(text):
                self._placeholder(found.kind, found.name)
                if self._telling(found):
                    self._kinds[found.name] = found.kind
        names = sorted(self._kinds, key=len, reverse=True)
        if names:
            either = "|".join(map(re.escape, names))
            self._learnt = re.compile(rf"(?<![\w-])(?:{either})(?![\w-])")

    def beside(self, secrets: list[SecretSpan], text: str) -> list[SecretSpan]:
        """Add stretches that name somebody to those of secrets, which go first."""
        found = [
            SecretSpan(i.start, i.end, self._placeholder(i.kind, i.name))
            for i in self._identities(text)
        ]
        if self._learnt is not None:
            found += (
                SecretSpan(m.start(), m.end(), self._placeholder(self._kinds[m[0]], m[0]))
                for m in self._learnt.finditer(text)
            )
        kept: list[SecretSpan] = []
        for span in sorted([*secrets, *found], key=lambda span: (span.start, -span.end)):
            last = kept[-1].end if kept else 0
            if span.start >= last:
                kept.append(span)
            elif span.end > last:  # what is behind the other is hidden, too
                kept.append(SecretSpan(last, span.end))
        return kept

    def _placeholder(self, kind: str, name: str) -> str:
        given = self._given.get((kind, name))
        if given is None:
            self._counts[kind] += 1
            given = self._given[kind, name] = f"<{kind}-{self._counts[kind]}>"
        return given


def _masked(text: str, found: Iterable[SecretSpan], *, in_place: bool) -> str:
    """Put masks in the place of stretches, line by line."""
    out, at = "", 0
    for start, end, shown in found:
        hidden = text[start:end].split("\n")
        out += text[at:start]
        out += "\n".join("*" * len(part) if in_place else part and shown for part in hidden)
        at = end
    return out + text[at:]


def _is_telling(value: str) -> bool:
    """Tell a secret that is no word of the language by chance."""
    if len(value) < _LEAST_LEARNT or "\n" in value or value.startswith(MASK):
        return False
    return looks_random(value) or any(char.isdigit() for char in value)
