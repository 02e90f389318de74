"""What is found in an input, and what of it could not be read (contract, as in `result`)."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.parts import Safety

NO_IMAGE = "an image cannot be read: paste what stands in it"
NO_LINK = "what a link leads to is not fetched: paste it, or give the file"
ASIDE = frozenset({NO_IMAGE, NO_LINK})
"""Reasons of what stands beside what was pasted: nobody need mind it."""


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was at hand but could not be used, and why."""

    source: str
    reason: str
    line: int | None = None
    text: str = ""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """A replacement of text in a file, lines and columns from 1."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class FindingFix(msgspec.Struct, frozen=True, kw_only=True):
    """What a lint finding proposes."""

    safety: Safety
    edits: tuple[Edit, ...] = ()


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A lint finding: a defect of the launch itself.

    Lines and columns count from 1; `end_column` is the one behind the last character. `todo` says
    what a person is to do where no edit is known, "" where nobody wrote it down.
    """

    rule: str
    severity: Literal["error", "warning", "info"]
    message: str
    todo: str = ""
    file: str
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    fix: FindingFix | None = None
