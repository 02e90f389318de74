"""Which releases of a package have a module, a name, an attribute, an argument."""

from __future__ import annotations

from typing import Literal

import msgspec

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
