"""What `diagnose translate` answers: a launch in the words of another version of its framework.

`--format json` prints `Translation` field for field (schema_version 1).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.catalog import Value
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.inspection import Topic
from trainrx.model.planning import FilePatch
from trainrx.model.result import Change, Tool
from trainrx.model.text import Lang

Outcome = Literal["kept", "renamed", "value", "moved", "replaced", "dropped", "missing", "stranger"]
"""kept: same word; renamed: another name; value: same name, another value; moved: between argument
and environment; replaced: other arguments say the same; dropped: needs no word there, the result
is the same; missing: has no counterpart; stranger: the version it comes from does not take it."""


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """One argument or variable of the launch and what becomes of it.

    `given` is as written (`--sft_type lora`), `name` the framework's own name of it, `now` what
    stands for it in the target version, `changes` the edits. `why` says what to know, for a
    missing one why it has no counterpart and what to do instead. `source` backs it.
    """

    given: str
    name: str
    outcome: Outcome
    now: tuple[str, ...] = ()
    canonical: str = ""
    why: str = ""
    source: str = ""
    origin: Origin
    changes: tuple[Change, ...] = ()


class DefaultChange(msgspec.Struct, frozen=True, kw_only=True):
    """A default the launch relies on that is another one in the target version.

    `keep` is the line that keeps the old behaviour, "" where it cannot be written.
    """

    name: str
    now: str
    before: Value
    after: Value
    keep: str = ""
    topic: Topic = "other"
    canonical: str = ""
    note: str = ""


class RejectedArgument(msgspec.Struct, frozen=True, kw_only=True):
    """Something in the translated launch that the target version would not take."""

    given: str
    reason: str


class Translated(msgspec.Struct, frozen=True, kw_only=True):
    """One launch translated.

    `version` is the one it is written for, a range where it is derived from its names. `command`
    and `command_now` are sub-commands. `text` is the command in the target version on one line per
    argument. `refused` is empty when the catalog of the target version takes every argument.
    """

    place: Origin
    framework: str
    version: str
    version_how: Literal["given", "derived", "unknown"]
    target: str
    command: str
    command_now: str
    arguments: tuple[Carried, ...] = ()
    defaults: tuple[DefaultChange, ...] = ()
    refused: tuple[RejectedArgument, ...] = ()
    text: str = ""

    @property
    def complete(self) -> bool:
        """Tell whether nothing is left for a person to decide."""
        open_ones = any(item.outcome in ("missing", "stranger") for item in self.arguments)
        return not open_ones and not self.refused


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """Every launch of the inputs translated, and the files that edits would change."""

    tool: Tool
    lang: Lang
    schema_version: Literal[1] = 1
    launches: tuple[Translated, ...] = ()
    files: tuple[FilePatch, ...] = ()
    by_hand: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
