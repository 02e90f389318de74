"""The answer: what `--format json` prints, field for field (contract, schema_version 1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Facts, Origin, Scalar
from trainrx.model.findings import Finding, Unread
from trainrx.model.job import InputKind, LineRepair
from trainrx.model.knowledge import Family
from trainrx.model.parts import Safety

Verdict = Literal[
    "diagnosed",
    "suspected",
    "unknown",
    "healthy",
    "will_fail",
    "will_not_fit",
    "at_risk",
    "no_problem_foreseen",
]
"""The first four are of a job that left a log or of which somebody told something; the others of a
launch alone: something refuses it, its memory is predicted to exceed the card, something foreseen
is possible, or nothing is."""
AnswerKind = Literal["yes_no", "value", "output"]
"""How a question is answered: yes or no, a value, or what the suggested command printed."""
Kind = Literal["arg", "env", "package", "config_file", "code", "data", "hardware"]
ChangeAction = Literal["set", "lower", "raise", "add", "remove", "upgrade", "downgrade", "switch"]


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """Who answered: versions of the tool and its knowledge, and the engine that really ran."""

    name: str
    version: str
    kb: str
    engine: str


class JobSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The job as understood; None is unknown."""

    framework: str | None = None
    framework_version: str | None = None
    task: str | None = None
    model: str | None = None
    gpu: str | None = None
    gpus: int | None = None
    nodes: int | None = None


def job_summary(facts: Facts) -> JobSummary:
    """Give the job in a few words."""
    gpus, nodes = facts.number("hardware.gpus"), facts.number("hardware.nodes")
    memory = facts.number("hardware.gpu_gib")
    return JobSummary(
        framework=facts.text("launch.framework") or None,
        framework_version=facts.text("launch.framework_version"),
        task=facts.text("launch.task"),
        model=facts.text("model.name"),
        gpu=facts.text("hardware.gpu") or (f"{memory:g} GiB" if memory else None),
        gpus=int(gpus) if gpus else None,
        nodes=int(nodes) if nodes else None,
    )


class SymptomSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A signature that was seen; `echo_of` names the symptom it only follows from."""

    id: str
    title: str
    family: Family | None
    evidence: tuple[Origin, ...]
    count: int = 1
    ranks: tuple[int, ...] = ()
    phase: str | None = None
    echo_of: str | None = None


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One vote. `holds`: true counts, false is tested and not so, None is unknown."""

    id: str
    text: str
    weight: float
    holds: bool | None
    evidence: tuple[Origin, ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """One edit in the user's own spelling; `at`: where it stands.

    `from` is None when it was not set, or when nobody can tell: `now` says which of them.
    """

    kind: Kind
    param: str
    canonical: str
    action: ChangeAction
    to: str | None
    spelled: str
    from_: str | None = None
    now: Literal["set", "unset", "unknown"] = "unset"
    at: Origin | None = None


class Predicted(msgspec.Struct, frozen=True, kw_only=True):
    """Peak memory per GPU before and after, GiB."""

    before_gib: float
    after_gib: float
    limit_gib: float
    low_gib: float
    high_gib: float


class DestructiveStep(msgspec.Struct, frozen=True, kw_only=True):
    """What of a remedy deletes or ends something: for a person, after a look at the target.

    `confirm` says what to be sure of before `commands` are typed; nothing runs them.
    """

    target: str
    look_first: tuple[str, ...]
    confirm: str
    commands: tuple[str, ...] = ()


class FixOut(msgspec.Struct, frozen=True, kw_only=True):
    """A remedy in the spelling of this framework and version."""

    id: str
    title: str
    safety: Safety
    cost: str
    changes: tuple[Change, ...] = ()
    steps: str = ""
    commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    destroys: DestructiveStep | None = None
    predicted: Predicted | None = None


class AlreadyRight(msgspec.Struct, frozen=True, kw_only=True):
    """A remedy that is in place already, with where it stands."""

    id: str
    title: str
    spelled: str
    canonical: tuple[str, ...] = ()
    evidence: tuple[Origin, ...] = ()


class NotOffered(msgspec.Struct, frozen=True, kw_only=True):
    """A remedy that is not for this job, and why: the clause that fails with the job's values."""

    id: str
    title: str
    why: str


class ReferenceOut(msgspec.Struct, frozen=True, kw_only=True):
    """A source the cause rests on."""

    url: str
    says: str


class CauseOut(msgspec.Struct, frozen=True, kw_only=True):
    """A ranked cause. `score` in nats of log-odds; `probability` its logistic."""

    id: str
    title: str
    summary: str
    family: Family
    verdict: Literal["likely", "possible"]
    score: float
    probability: float
    prior: float
    reasons: tuple[Reason, ...] = ()
    effects: tuple[str, ...] = ()
    fixes: tuple[FixOut, ...] = ()
    already_right: tuple[AlreadyRight, ...] = ()
    not_offered: tuple[NotOffered, ...] = ()
    references: tuple[ReferenceOut, ...] = ()


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A question whose answer would change the ranking, and how to find it out.

    `id` is what `--answer ID=VALUE` takes. `command` is what to run, "" where there is nothing to
    run; `reading` says what its output means. `values` are the answers there are, where they are
    few: one for each line of `reading` where it is the step of a protocol. `splits` are causes that
    stand close together now and that the answer would tell apart.
    """

    id: str
    what: str
    how: str
    command: str = ""
    answer: AnswerKind = "output"
    reading: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()


class DifferentialItem(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that explains what was seen of a failure nobody can name yet.

    `probability` is its share of such failures of a job of this size and phase, what little speaks
    for it counted in. `confirm` and `rule_out` say what would; "" where nothing is known to.
    """

    id: str
    title: str
    probability: float
    confirm: str = ""
    rule_out: str = ""


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """An entry written in the words of what was seen: something to read, no cause and no fix."""

    id: str
    title: str
    words: tuple[str, ...] = ()


class ProvedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The changes that together are predicted to work, as `diagnose fix` proves them.

    `proved`: every check passed on an edited copy, and all it rests on is known from the job; else
    `lacks` says what is not. `fits`: whether the predicted memory fits the
    card, None where that is not known. `assumes` is what that takes for granted and nobody knows:
    such a plan is not proved. `reason` says why no changes are proposed, "" where some
    are. `title` says in words what is to be done. `command` prints or applies them.
    """

    title: str = ""
    changes: tuple[Change, ...] = ()
    commands: tuple[str, ...] = ()
    steps: str = ""
    destroys: DestructiveStep | None = None
    predicted: Predicted | None = None
    proved: bool = False
    fits: bool | None = None
    assumes: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    safety: Safety | None = None
    cost: str = ""
    reason: str = ""
    command: str = ""


class InputRead(msgspec.Struct, frozen=True, kw_only=True):
    """What was read as what: an input, and the lines of its source at which it stands.

    `spans` are first and last lines, () for the whole; `text` is how it begins.
    """

    kind: InputKind
    source: str
    spans: tuple[tuple[int, int], ...] = ()
    text: str = ""
    repairs: tuple[LineRepair, ...] = ()


class RankPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a rank stands: the innermost frame of the user's or a framework's code.

    `state` says in words what it does there, `id` names the entry of that state. `op` is the
    collective it is in. `role`: the others wait for it, or it waits; "" where neither is known.
    `rank` None: nothing tells which rank the process `pid` is.
    """

    rank: int | None
    frame: str
    state: str
    id: str
    role: Literal["culprit", "waiting", ""] = ""
    pid: int | None = None
    op: str = ""
    evidence: tuple[Origin, ...] = ()


class RankTreeLine(msgspec.Struct, frozen=True, kw_only=True):
    """A call in the merged stacks: the ranks in it (`0-2,4`), how deep below where they part."""

    ranks: str
    frame: str
    depth: int


class RankCollective(msgspec.Struct, frozen=True, kw_only=True):
    """What tells the ranks apart in a collective, as recorders, watchdogs or NCCL itself say.

    `verdict`: matched, op-differs, size-differs, dtype-differs, state-differs, behind, missing,
    not-started. `seq` numbers the call in its group; `says` puts the verdict in words. `frame` is
    where it was called: by a rank the others wait for, or else by those that wait.
    """

    verdict: str
    op: str
    says: str
    frame: str = ""
    seq: int | None = None
    group: str = ""
    evidence: tuple[Origin, ...] = ()


class RankReport(msgspec.Struct, frozen=True, kw_only=True):
    """Where the ranks of a job were seen, and which ones the others wait for.

    `stuck`: the job stands still; None where one look at it cannot tell. `tree` merges the stacks
    of all ranks, the outermost calls first.
    """

    world_size: int | None = None
    first_failed: int | None = None
    culprits: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    stuck: bool | None = None
    collective: RankCollective | None = None
    places: tuple[RankPlace, ...] = ()
    tree: tuple[RankTreeLine, ...] = ()


class SolvedBy(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter people say they changed after a failure: how often that helped, and did not.

    `param` is "" where they do not say which; `value` is the one that helped most often.
    """

    param: str
    value: str = ""
    worked: int = 0
    failed: int = 0


class Recurrence(msgspec.Struct, frozen=True, kw_only=True):
    """How often a history has the same failure: of how many other jobs, and what helped them.

    `fingerprint` names the failure: cause, framework and place. `first`, `last` and `now`, when it
    was looked up, are seconds since the epoch. `solved`: what helped most often first.
    """

    fingerprint: str
    count: int
    first: float
    last: float
    now: float
    solved: tuple[SolvedBy, ...] = ()


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer, best first everywhere; `history` is there where one was looked up."""

    tool: Tool
    verdict: Verdict
    job: JobSummary
    lang: Literal["en", "zh"] = "en"
    schema_version: Literal[1] = 1
    symptoms: tuple[SymptomSeen, ...] = ()
    ranks: RankReport | None = None
    causes: tuple[CauseOut, ...] = ()
    plan: ProvedPlan | None = None
    differential: tuple[DifferentialItem, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    asks: tuple[Ask, ...] = ()
    findings: tuple[Finding, ...] = ()
    unread: tuple[Unread, ...] = ()
    inputs: tuple[InputRead, ...] = ()
    facts: dict[str, Scalar] = {}
    warnings: tuple[str, ...] = ()
    history: Recurrence | msgspec.UnsetType = msgspec.UNSET
