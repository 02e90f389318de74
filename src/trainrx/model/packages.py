"""What is known of packages: what their releases need of each other, have, and changed."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.knowledge import PackageChange
from trainrx.model.parts import Condition, Reference
from trainrx.model.text import Text


class OsvRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stretch of releases, as OSV writes it: from `introduced` on, up to before `fixed`.

    `last_affected` is the last release of the stretch instead. Without an end it is open.
    """

    introduced: str = "0"
    fixed: str = ""
    last_affected: str = ""

    @property
    def spec(self) -> str:
        """Give the stretch as a PEP 440 range."""
        parts = [f">={self.introduced}"]
        parts += [f"<{self.fixed}"] if self.fixed else []
        parts += [f"<={self.last_affected}"] if self.last_affected else []
        return ",".join(parts)


class VersionRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Releases with which something goes wrong, which cause that is, and what cures it.

    It is a vote of `weight` nats for `cause` where an affected release is installed and `when`
    holds. `pin` is the range of this package that cures it, `pins` that of others; a pin that only
    lets pip choose nothing worse than before is left out. `group`: as in `Evidence`.
    """

    id: str
    title: Text
    affected: tuple[OsvRange, ...]
    cause: str
    weight: float
    why: Text
    references: tuple[Reference, ...]
    when: Condition | None = None
    pin: str = ""
    pins: dict[str, str] = {}
    cost: Text | None = None
    group: str = ""


class RangeEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One range with the package it is about: what `explain` and `kb list` show."""

    package: str
    range: VersionRange
    updated: str

    @property
    def id(self) -> str:
        """Give the id of the range."""
        return self.range.id

    @property
    def title(self) -> Text:
        """Give what goes wrong."""
        return self.range.title

    @property
    def pins(self) -> tuple[PackageChange, ...]:
        """Give the versions that cure it, its own package first."""
        own = {self.package: self.range.pin} if self.range.pin else {}
        wanted = {**own, **self.range.pins}
        return tuple(PackageChange(name=name, spec=spec) for name, spec in wanted.items())


class PackageEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All known ranges of one package; the file is named like it."""

    schema: Literal[1]
    package: str
    updated: str
    ranges: tuple[VersionRange, ...]


Kind = Literal["requires", "extra", "check"]
"""requires: pip installs it so; extra: only with an optional feature; check: the program itself
compares versions when it starts."""


class Need(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Releases of `package` from `since` to before `until` ("": the newest) need a range."""

    package: str
    needs: str
    spec: str
    since: str
    until: str = ""
    kind: Kind = "requires"


class Releases(msgspec.Struct, frozen=True, kw_only=True):
    """The published releases of a package, ascending; pre-releases are left out."""

    package: str
    releases: tuple[str, ...]


class ModelNeed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What it takes to load a model type; `by` is whose name the type is ("": transformers)."""

    type: str
    needs: str
    spec: str
    by: str = ""


SymbolKind = Literal["module", "class", "call"]


class Symbols(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came or went in one module, class or function of a package.

    `releases` are those that have it at all, "" all that are known. `names` and `required` map
    ranges of releases to names, with spaces between: what a module exports, a class has as
    attribute, a function takes, and what it cannot do without. What is the same wherever the thing
    itself is there stands in none of them. `|` stands between ranges where something went and came
    back.

    `parts` are the modules below one that came and went with it, `moved` maps modules to the names
    that went there. `askers` maps packages to the ranges of their releases that import names
    whenever they are imported ("." the module itself). `also` are packages with a class or function
    of the same name, `bases` what a class derives from inside its package.
    """

    of: str
    kind: SymbolKind
    releases: str = ""
    names: dict[str, str] = {}
    required: dict[str, str] = {}
    parts: str = ""
    moved: dict[str, str] = {}
    bases: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    askers: dict[str, dict[str, str]] = {}


class Repair(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change of a program.

    `pull` is the number of its pull request (None: `commit` alone tells it), `release` the first
    one that has it ("": none yet, or nobody can tell), `date` the day it was merged. `files` are
    the ones it touched, `names` the functions and classes in them.
    """

    commit: str
    date: str
    pull: int | None = None
    release: str = ""
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Repairs(msgspec.Struct, frozen=True, kw_only=True):
    """Where the changes of one package are: the head of its file.

    `count` is how many there are, `until` the day up to which its history was read.
    """

    package: str
    url: str
    until: str
    count: int
    releases: bool
