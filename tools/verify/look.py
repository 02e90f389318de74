"""Look claims up, and keep what was found so that it can be told again without the sources."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import msgspec
from packaging.version import Version

from repairs.packages import PARTS
from verify.claims import CHANGE, FILE, Claim, bounds
from verify.ends import off
from verify.names import missing
from verify.params import unlike
from verify.sources import MOVED, Sources, prints

State = Literal["holds", "fails", "unseen"]
REPOSITORIES = {name: part.url.removeprefix("https://github.com/") for name, part in PARTS.items()}
"""Where the changes of a package are merged; a change of another repository dates no release."""

_IN_CATALOGS: dict[str, Callable[[str, str, str], str | None]] = {
    "name": missing,
    "end": off,
    "param": unlike,
}
"""What tells of a claim without any source."""

MOVING = ("main", "master", "develop", "dev", "HEAD")
"""Names under which other files stand tomorrow."""


class Outcome(NamedTuple):
    """What became of a claim; `said` tells what was found instead."""

    claim: Claim
    state: State
    said: str = ""


class Seen(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an address showed: of texts (by checksum) whether they stand there, or a release."""

    url: str
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    release: str = ""


class Looker:
    """Looks claims up in the sources at hand, else in what was seen before."""

    def __init__(self, sources: Sources, seen: Iterable[Seen] = ()) -> None:
        self._sources = sources
        self._before = {one.url: one for one in seen}
        self._texts: dict[str, dict[str, bool]] = {}
        self._dates: dict[str, str] = {}

    def outcome(self, claim: Claim) -> Outcome:
        """Look one claim up."""
        if claim.kind in _IN_CATALOGS:
            said = _IN_CATALOGS[claim.kind](claim.where, claim.text, claim.versions)
            return Outcome(
                claim, "unseen" if said is None else "fails" if said else "holds", said or ""
            )
        if claim.kind == "release":
            return self._release(claim)
        return self._message(claim) if claim.kind == "message" else self._source(claim)

    def seen(self) -> tuple[Seen, ...]:
        """Give what was asked for, to be kept."""
        urls = sorted({*self._texts, *self._dates})
        return tuple(
            Seen(
                url=url,
                holds=tuple(sorted(k for k, there in self._texts.get(url, {}).items() if there)),
                lacks=tuple(
                    sorted(k for k, there in self._texts.get(url, {}).items() if not there)
                ),
                release=self._dates.get(url, ""),
            )
            for url in urls
        )

    def _message(self, claim: Claim) -> Outcome:
        asked = "\n".join(claim.texts)
        found = {
            self._asked(url, asked, lambda text: prints(text, claim.texts))
            for url in (claim.where, *claim.others)
        }
        if True in found:
            return Outcome(claim, "holds")
        if None in found:
            return Outcome(claim, "unseen", "its source is not at hand")
        # what Python or another library prints is shown where it comes from, not where it stands
        own = claim.text != ""
        return Outcome(claim, "fails" if own else "unseen", "is not printed there")

    def _source(self, claim: Claim) -> Outcome:
        here = self._asked(claim.where, "", bool)
        if here is None:
            return Outcome(claim, "unseen", "its source is not at hand")
        if not here:
            return Outcome(claim, "fails", "there is no such file at that tag")
        found = {name: self._asked(claim.where, name, _holds(name)) for name in claim.texts}
        lost = ", ".join(name for name, there in found.items() if there is False)
        if lost:
            return Outcome(claim, "fails", f"lacks {lost}")
        return Outcome(claim, "unseen" if None in found.values() else "holds")

    def _asked(self, url: str, text: str, there: Callable[[str], bool]) -> bool | None:
        key = f"{zlib.crc32(text.encode()):08x}"
        match = FILE.match(url)
        if match is None or match["at"] in MOVING:
            return None
        mine = self._texts.setdefault(url, {})
        if key not in mine:
            source = self._sources.text(url)
            before = self._before.get(url, Seen(url=url))
            if source is not None:
                mine[key] = there(source)
            elif key in (*before.holds, *before.lacks):
                mine[key] = key in before.holds
        return mine.get(key)

    def _release(self, claim: Claim) -> Outcome:
        match = CHANGE.match(claim.where)
        home = REPOSITORIES.get(claim.text, "")
        if match is None or MOVED.get(match["repo"], match["repo"]) != MOVED.get(home, home):
            return Outcome(claim, "unseen", "is a change of another repository")
        first = self._first(claim.where, home)
        if not first:
            return Outcome(claim, "unseen", "no release is known to have it")
        return dated(claim, Version(first))

    def _first(self, url: str, home: str) -> str:
        if url not in self._dates:
            match = CHANGE.match(url)
            releases = self._sources.releases(home)
            key = "" if match is None else f"#{match['pull']}" if match["pull"] else match["commit"]
            told = releases.get(key) or next(
                (release for name, release in releases.items() if key and name.startswith(key)), ""
            )
            before = self._before.get(url)
            self._dates[url] = told or (before.release if before is not None else "")
        return self._dates[url]


def dated(claim: Claim, first: Version) -> Outcome:
    """Judge a range by the first release that has a change."""
    ends = bounds(claim.versions)
    if first in ends:
        return Outcome(claim, "holds")
    if claim.partly and min(ends) <= first <= max(ends):
        return Outcome(claim, "holds", f"a part of it, which came with {first}")
    asks_newer = ">" in claim.versions
    apart = [end for end in ends if (end < first) == asks_newer]
    if apart:
        return Outcome(claim, "fails", f"the change came with {first}, not {apart[0]}")
    return Outcome(claim, "holds", f"the change came with {first} already")


def _holds(name: str) -> Callable[[str], bool]:
    return lambda text: name in text
