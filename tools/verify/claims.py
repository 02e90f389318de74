"""What an entry claims that a program can look up: names, messages, sources, releases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from trainrx.knowledge.conditions import ARGUMENT, arguments_of
from trainrx.model.knowledge import FORMER, Cause, Fix, Symptom
from trainrx.model.levers import Guard, Lever
from trainrx.model.packages import RangeEntry, VersionRange
from trainrx.model.parts import Param, Reference
from verify.ends import ends_of

Kind = Literal["name", "message", "source", "release", "end", "param"]
Verified = Cause | Symptom | Guard | Lever | RangeEntry | Param


class Claim(NamedTuple):
    """One thing that can be looked up.

    name: `text` is an argument of `where` (a package, `versions` of it). message: one of `texts`
    is printed by a file at `where` or `others`
    (of the package `text`, whose own message it is). source: the file at `where` holds all `texts`.
    release: the change at `where` came with a release that bounds `versions` of the package
    `text`, or, with `partly`, one within them, as a repair in several steps does. end: the package
    `where` gained or lost the name `text` with the release that `versions` begins or ends with.
    param: the spellings of the parameter `text` are those of each release of the package `where`.
    """

    kind: Kind
    where: str
    text: str = ""
    texts: tuple[str, ...] = ()
    versions: str = ""
    others: tuple[str, ...] = ()
    partly: bool = False


FILE = re.compile(
    r"https://github\.com/(?P<repo>[^/]+/[^/]+)/(?:blob|tree)/(?P<at>[^/]+)/(?P<path>[^#?]+)"
)
LEAST = 10
"""Characters of a message below which it proves nothing."""
CHANGE = re.compile(
    r"https://github\.com/(?P<repo>[^/]+/[^/]+)/(?:pull/(?P<pull>\d+)|commit/(?P<commit>[0-9a-f]+))"
)
OR = " | "
"""Between ranges of which any is meant."""
_IDENTIFIER = re.compile(
    r"(?<![\w./-])(?:--)?([A-Za-z]\w*(?:_\w+)+"
    r"|[A-Z]\w*[a-z](?:Error|Config|Arguments|Trainer|Mixin|Callback|Template))(?![\w./-])"
)
"""A name nobody writes in plain words."""
_DENIAL = re.compile(
    r"\b(?:gone|no|not|none|nor|never|without|drop\w*|remov\w*|lack\w*|before|until|"
    r"renamed|replaced?|called|instead|unlike|has only|older|earlier)\b|n't\b",
    re.IGNORECASE,
)
"""Words of a sentence that may speak of what a file lacks."""
_PRINTED = ("failure", "echo", "phase")
"""Roles of lines a program prints."""
_BOUND = re.compile(r"(==|>=|<=|<|>|~=|!=)\s*([\w.]+)")


def claims_of(entry: Verified) -> Iterator[Claim]:
    """Give what can be looked up of an entry."""
    yield from _names(entry)
    references = entry.range.references if isinstance(entry, RangeEntry) else ()
    references = references or getattr(entry, "references", ())
    yield from _sources(references)
    if isinstance(entry, Guard) or (isinstance(entry, Symptom) and entry.role in _PRINTED):
        sources = (ref.url for ref in references if ref.kind == "source" and FILE.match(ref.url))
        yield from _messages(entry, tuple(sources))
    if isinstance(entry, (Cause, Guard)):
        yield from _releases(entry.fixes, references)
        for where, name, spec in (end for fix in entry.fixes for end in ends_of(fix)):
            yield Claim("end", where, name, versions=spec)
    elif isinstance(entry, Param):
        yield from (Claim("param", package, entry.id) for package in entry.spelled)
    elif isinstance(entry, RangeEntry):
        yield from _range_releases(entry.package, entry.range)


def _names(entry: Verified) -> Iterator[Claim]:
    if isinstance(entry, Guard):
        names = set(arguments_of(entry.when)) if entry.when is not None else set()
        names |= {name for fix in entry.fixes for name in (*fix.set, *fix.unset)}
        for name in sorted(name for name in names if name.startswith(ARGUMENT)):
            yield Claim(
                "name", entry.package, name.removeprefix(ARGUMENT), versions=OR.join(entry.versions)
            )
    elif isinstance(entry, Cause):
        for fix in entry.fixes:
            for measure in fix.measures:
                for owner in measure.of if measure.kind == "arg" else ():
                    spec = entry.applies_to.get(owner, "")
                    if "$" not in measure.param:
                        yield Claim("name", owner, measure.param, versions=spec)


def _messages(entry: Symptom | Guard, files: tuple[str, ...]) -> Iterator[Claim]:
    if entry.samples is not None and files:
        needles = (needle for pattern in entry.patterns for needle in pattern.needles)
        lines = (*entry.samples.match, *(text for text in needles if len(text) >= LEAST))
        owner = entry.package if isinstance(entry, Guard) else ""
        yield Claim("message", files[0], owner, lines, others=files[1:])


def _sources(references: Iterable[Reference]) -> Iterator[Claim]:
    for ref in references:
        if FILE.match(ref.url):
            yield Claim("source", ref.url, texts=identifiers(ref.says))


def identifiers(text: str) -> tuple[str, ...]:
    """Give the names of code that a sentence says to be there, each once."""
    if _DENIAL.search(text):
        return ()
    return tuple(dict.fromkeys(match[1] for match in _IDENTIFIER.finditer(text)))


def _releases(fixes: Sequence[Fix], references: Iterable[Reference]) -> Iterator[Claim]:
    changes = {ref.id: ref.url for ref in references if CHANGE.match(ref.url)}
    for fix in fixes:
        for package in fix.packages if fix.ref in changes else ():
            if package.spec != FORMER and "$" not in package.spec:
                yield Claim("release", changes[fix.ref], package.name, versions=package.spec)


def _range_releases(package: str, entry: VersionRange) -> Iterator[Claim]:
    spec = ",".join((*(span.spec for span in entry.affected), *filter(None, [entry.pin])))
    for ref in entry.references:
        if CHANGE.match(ref.url):
            yield Claim(
                "release", ref.url, package, versions=spec, partly=len(entry.references) > 1
            )


def bounds(spec: str) -> tuple[Version, ...]:
    """Give the releases at the ends of a range."""
    SpecifierSet(spec)
    return tuple(Version(text.removesuffix(".*")) for _, text in _BOUND.findall(spec))
