"""What `diagnose fix` and `retry` answer; `--format json` prints it field for field (version 1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.knowledge import Family
from trainrx.model.memory import Refusal
from trainrx.model.parts import Condition, Reference, Safety
from trainrx.model.planning import Aim, Patched, ProofCheck, Standing
from trainrx.model.result import Change, DestructiveStep, FixOut, JobSummary, Predicted, Tool
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


FixVerdict = Literal[
    "proved", "checked", "not-enough", "manual", "nothing-proved", "nothing-to-fix", "unknown"
]
"""proved: a change passed its checks, and all it rests on is known from the job; checked: it passed
them, and `lacks` or `assumes` of the proposal say what is not known; not-enough: the change does
its part, but something else still stops the launch; manual: what is to be done is not in these
files; nothing-proved: all that was tried failed a check; nothing-to-fix: no cause was found and the
job fits; unknown: no cause was found, and whether the job fits cannot be told (`no_plan` says
why)."""


class FixedCause(msgspec.Struct, frozen=True, kw_only=True):
    """The cause that is fixed."""

    id: str
    title: str
    family: Family
    verdict: Literal["likely", "possible"]
    probability: float


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is said of a proposal, and the source it rests on ("" is plain reasoning)."""

    text: str
    source: str = ""


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """A package that changes need and that no list of versions shows, with the line for it."""

    package: str
    command: str


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """The effective batch in samples; None is unknown."""

    before: int | None = None
    after: int | None = None


class TermChange(msgspec.Struct, frozen=True, kw_only=True):
    """A term of the memory of a card at the peak before and after, GiB: weights, logits, ..."""

    name: str
    before_gib: float = 0.0
    after_gib: float = 0.0


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One way out that passed its checks.

    `kind` plan: found on the memory model, `id` is its aim; fix: a remedy of the cause, `id` is the
    remedy's. `number` counts from 1, as `--plan N` takes it. `terms` are what `predicted` is made
    of, the largest first. `slowdown`: factors on the time of a
    step, None where nothing tells. `quality` 0 (same result) to 3 (another model is trained).
    `assumes` is what its figure takes for granted and decides whether it fits. `lacks` is
    what keeps it from being proved, though it passed its checks: a value nobody told, a cause that
    is not sure.
    `refused` is what still stops the launch with these changes. `commands` of a plan have to run
    beside the job.
    """

    number: int
    kind: Literal["plan", "fix"]
    id: str
    title: str
    safety: Safety
    also: tuple[Aim, ...] = ()
    cause: str = ""
    changes: tuple[Change, ...] = ()
    claims: tuple[Claim, ...] = ()
    cost: str = ""
    steps: str = ""
    commands: tuple[str, ...] = ()
    destroys: DestructiveStep | None = None
    needs: tuple[Needed, ...] = ()
    notes: tuple[str, ...] = ()
    predicted: Predicted | None = None
    assumes: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    terms: tuple[TermChange, ...] = ()
    batch: Batch = Batch()
    slowdown: tuple[float, float] | None = None
    quality: int = 0
    checks: tuple[ProofCheck, ...] = ()
    refused: tuple[Standing, ...] = ()
    patched: Patched = Patched()
    diff: str = ""


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was tried and is not offered: the checks it failed, or why it is no change."""

    id: str
    title: str
    spelled: str
    failed: tuple[ProofCheck, ...] = ()


class FixAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What to change, best first (schema_version 1).

    `chosen` is the proposal that is shown or written, 0 where there is none. `no_plan` says why
    nothing was searched on the memory model. `refused` is what stops the launch as it is. `written`
    are the files that were changed, `backups` what holds their former text.
    """

    tool: Tool
    job: JobSummary
    verdict: FixVerdict
    schema_version: Literal[1] = 1
    lang: Lang = "en"
    cause: FixedCause | None = None
    chosen: int = 0
    proposals: tuple[Proposal, ...] = ()
    manual: tuple[Proposal, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    no_plan: Refusal | None = None
    refused: tuple[Standing, ...] = ()
    written: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
