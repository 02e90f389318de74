"""What is known of versions: ranges of one package, and what releases need of each other."""

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
