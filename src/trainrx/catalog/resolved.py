"""What a launch comes to: effective settings, plain facts, and what could not be used."""

from __future__ import annotations

import msgspec

from trainrx.model.facts import Fact, How
from trainrx.model.findings import Unread
from trainrx.model.job import Argument, RawArg, Setting


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """A launch with every value typed and named canonically.

    `version` is as given ("3.2.1", "3.x") or, when `version_how` is "derived", the range in which
    all names of the launch exist; None when nothing is known. `arguments` are all arguments of the
    framework's command at this version by their own name, given ones and defaults; `settings` are
    what is known of them by canonical name. `shadowed` are settings that stand
    in an input but do not take effect. `unknown_flags` are arguments no entry knows (most are
    perfectly valid) or that this version does not take.
    """

    framework: str
    version: str | None = None
    version_how: How | None = None
    arguments: dict[str, Argument] = {}
    settings: dict[str, Setting] = {}
    facts: tuple[Fact, ...] = ()
    shadowed: tuple[Setting, ...] = ()
    unknown_flags: tuple[RawArg, ...] = ()
    problems: tuple[tuple[RawArg, str], ...] = ()
    unread: tuple[Unread, ...] = ()
