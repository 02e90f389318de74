"""Whether a plain restart helps: what the knowledge says of failures, and the answer."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.knowledge import Family
from trainrx.model.parts import Condition, Reference
from trainrx.model.result import FixOut, JobSummary, Tool
from trainrx.model.text import Lang, Text

RetryVerdict = Literal["transient", "deterministic", "bad-node", "unknown"]
"""transient: the same job may get through; deterministic: it fails again as it is; bad-node: it
fails wherever this machine or card takes part; unknown: nothing tells."""

EXIT: dict[RetryVerdict, int] = {"transient": 0, "deterministic": 10, "bad-node": 11, "unknown": 12}
"""Statuses for a requeue script: far from 1 and 2, which any program may end with."""


class RetryRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a restart does to some failures; of several rules the first that applies counts.

    `causes` and `families` are those of a ranked cause, `symptoms` and `symptom_families` count
    where no cause is supported. `when` must hold besides. `before` is what must happen first.
    """

    id: str
    verdict: RetryVerdict
    why: Text
    causes: tuple[str, ...] = ()
    families: tuple[Family, ...] = ()
    symptoms: tuple[str, ...] = ()
    symptom_families: tuple[Family, ...] = ()
    when: Condition | None = None
    before: Text | None = None
    references: tuple[Reference, ...] = ()


class RetryCause(msgspec.Struct, frozen=True, kw_only=True):
    """The cause the verdict rests on."""

    id: str
    title: str
    verdict: Literal["likely", "possible"]
    probability: float


class RetryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to start the same job again (schema_version 1).

    `exit_code` is the status of `diagnose retry`. `rule` names the entry of kb/retry.yaml that was
    applied, "" where none was. `ranks` are those the evidence names. `fix` is what to change before
    the next start, where that is known.
    """

    tool: Tool
    job: JobSummary
    verdict: RetryVerdict
    exit_code: int
    reason: str
    schema_version: Literal[1] = 1
    lang: Lang = "en"
    rule: str = ""
    cause: RetryCause | None = None
    before: str = ""
    ranks: tuple[int, ...] = ()
    evidence: tuple[Origin, ...] = ()
    fix: FixOut | None = None
    references: tuple[Reference, ...] = ()
    unread: tuple[Unread, ...] = ()
