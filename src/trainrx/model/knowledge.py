"""What `kb/` and `rules/` may say: one closed record per kind of entry."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from typing import Literal

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.parts import Condition, Reference, Relation, Safety
from trainrx.model.text import Text

Family = Literal[
    "oom",
    "host_oom",
    "init_hang",
    "hang",
    "growing_memory",
    "rank_imbalance",
    "version_conflict",
    "config_error",
    "nan_loss",
    "slow",
    "crash_other",
]
Role = Literal["failure", "echo", "context", "phase", "frame", "success", "observation"]
"""failure: something went wrong here; echo: only ever the consequence of another failure;
context: tells how the job was set up; phase: a stage of the run begins; frame: a traceback line
that says where; success: the run reached its end; observation: words of the user (`--note`)."""
CaptureType = Literal["int", "float", "gib", "seconds", "text"]


class LinePattern(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signature of one line: a literal that must stand on it and a regex with named groups.

    Where the regex has ways to match that share no literal, `needle` lists several: one of them
    stands on every line that matches.

    With `unless_negated` a match does not count where words before or within it deny it ("never
    runs out of memory", "没有卡住"): for what people write, not for what machines print. Trouble in
    a note never counts where the words before deny it, or where it is asked about, feared or over.
    """

    needle: str | tuple[str, ...]
    regex: str
    unless_negated: bool = False

    @property
    def needles(self) -> tuple[str, ...]:
        """Give the literals of which one stands on every line that matches."""
        return (self.needle,) if isinstance(self.needle, str) else self.needle


class Samples(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Lines a signature must match, and look-alikes it must not."""

    match: tuple[str, ...]
    near_miss: tuple[str, ...]


class EchoOf(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Symptoms (`by`) that another only follows from, and why.

    `at`: it stands after one of them, or since then (not before it); without it the order of lines
    says nothing. `rank` other: it is of another rank. `if` tests its own captured fields, `by_if`
    those of what it follows from. `refs` name references of its entry.
    """

    by: tuple[str, ...]
    why: Text
    at: Literal["after", "since"] | None = None
    rank: Literal["other"] | None = None
    if_: dict[str, Scalar | dict[str, Scalar]] = msgspec.field(default_factory=dict, name="if")
    by_if: dict[str, Scalar | dict[str, Scalar]] = {}
    refs: tuple[str, ...] = ()


class Symptom(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A log signature (or, with role observation, a phrase of the user).

    `types` says how a named group is read; `facts` names the facts the first hit gives: a constant
    or `$group`. `phase` is the stage that begins (role phase); `site` where a frame stands.
    `above` are captures read from the lines above a hit, of the nearest one that a regex matches.
    `codes` say more of a captured code: by group and value, what else a sighting then carries.
    `found_by` says how to find such a line where it does not stand in the job's own log (that of
    the kernel): not to see it then says nothing. `question` asks a person whether it was there. A
    `vague` one only says that something failed: it stands back where another says what. `echo_of`
    says of which failures it is only the echo.
    """

    schema: Literal[1]
    id: str
    role: Role
    title: Text
    since: str
    updated: str
    patterns: tuple[LinePattern, ...]
    samples: Samples
    family: Family | None = None
    summary: Text | None = None
    above: dict[str, str] = {}
    codes: dict[str, dict[str, dict[str, str]]] = {}
    types: dict[str, CaptureType] = {}
    facts: dict[str, Scalar] = {}
    phase: str = ""
    site: str = ""
    found_by: Text | None = None
    question: Text | None = None
    vague: bool = False
    echo_of: tuple[EchoOf, ...] = ()
    references: tuple[Reference, ...] = ()
    aliases: tuple[str, ...] = ()

    def meaning(self, group: str, value: Scalar) -> dict[str, str]:
        """Say more of a captured code."""
        return self.codes.get(group, {}).get(str(value), {})

    @property
    def shows_in_log(self) -> bool:
        """Tell whether a log without it says that it did not happen."""
        return self.role != "observation" and self.found_by is None

    @property
    def is_failure(self) -> bool:
        """Tell whether it says that something went wrong ("2.x works" does not)."""
        if self.role == "observation":
            return self.family is not None
        return self.role in ("failure", "echo")


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test that speaks for or against a cause; `weight` in nats of log-odds, always positive.

    Evidence of one `group` is correlated: only its strongest vote counts. `alone`: it holds only
    while nothing speaks for another cause, as what is left when all else is ruled out. `computed`:
    what stands in the launch contradicts itself or is refused for sure, though no fact says so by
    its name; that is worth an observation (`reason/certainty.py`).
    """

    id: str
    weight: float
    when: Condition
    why: Text
    ref: str = ""
    group: str = ""
    alone: bool = False
    computed: bool = False


class EvidenceSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What supports and what contradicts a cause."""

    supports: tuple[Evidence, ...] = ()
    contradicts: tuple[Evidence, ...] = ()


class Amount(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """How a fix computes a value: from the present one (`times`, `plus`) or from a fact.

    The result is clamped to [at_least, at_most]; with `whole` (the default) numbers stay integers.
    `unless_at_most`/`unless_at_least`: the present value is already right when within that bound.
    """

    times: float | None = None
    plus: float | None = None
    fact: str | None = None
    value: Scalar | None = None
    at_least: float | None = None
    at_most: float | None = None
    whole: bool = True
    right_if_at_most: float | None = None
    right_if_at_least: float | None = None


FORMER = "former"
"""As the range of a package: the release that ran before; its user knows which that was."""


class PackageChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A version to install: `spec` is a PEP 440 range the package must satisfy afterwards.

    `$fact.name` is the range that a fact tells; where it is unknown the change is left out.
    `former` (`FORMER`) is the release that ran before.
    """

    name: str
    spec: str

    @property
    def shown(self) -> str:
        """Write it as the pages of an entry do."""
        spec = f"${self.spec}" if self.spec == FORMER else self.spec
        return f"{self.name}{spec.replace('$', ': ')}"


class Measure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change no parameter of kb/params stands for: in code, data, hardware, or a file.

    `param` is the term people search for: an API, a file, a resource. `to` is the value in the
    words of a shell or a program, "" where there is none to name. `$fact.name` at the end of
    either stands for the text of a fact; where it is unknown the measure is left out. `<words>` in
    `to` are to be filled in, by the job where it tells them. `of` are the
    frameworks whose name `param` is: where another one runs, the measure is left out. A library
    (megatron-core) may stand there too: its names go wherever it is used. `command` is the other
    command of the job whose argument it is (the trainer beside a server).
    """

    kind: Literal["code", "data", "hardware", "config_file", "env", "arg"]
    param: str
    action: Literal["set", "lower", "raise", "add", "remove", "upgrade", "downgrade", "switch"]
    to: str = ""
    of: tuple[str, ...] = ()
    command: str = ""


class Destruction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a remedy deletes or ends: the target, commands that show it, commands that do it.

    None of the latter stands among the commands of the remedy, so no plan and no patch runs one.
    """

    target: Text
    look_first: tuple[str, ...]
    commands: tuple[str, ...] = ()


class Fix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A remedy: parameter changes, package changes, other measures or steps for a person.

    `set` maps canonical parameters (kb/params) to their new value. A fix whose values all hold
    already is reported as already right, not proposed. `respell` translates the arguments that only
    other versions of the framework know. `consistent_set` works out versions that fit together.
    """

    id: str
    title: Text
    safety: Safety
    cost: Text
    set: dict[str, Scalar | Amount] = {}
    unset: tuple[str, ...] = ()
    respell: bool = False
    packages: tuple[PackageChange, ...] = ()
    consistent_set: bool = False
    measures: tuple[Measure, ...] = ()
    steps: Text | None = None
    commands: tuple[str, ...] = ()
    destroys: Destruction | None = None
    only_if: Condition | None = None
    ref: str = ""


class PriorCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prior that holds for some jobs (by size, phase, task); the first that is true wins."""

    when: Condition
    prior: float


class Cause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why jobs fail: what it explains, what speaks for and against it, and what to change.

    `requires` must not be false; while it is unknown the cause is possible at most. `foreseeable`:
    may be reported from a launch alone, before anything failed. A `generic` one fits any failure of
    its kind: it stands behind every other that something speaks for.
    """

    schema: Literal[1]
    id: str
    family: Family
    title: Text
    summary: Text
    since: str
    updated: str
    severity: Literal["fatal", "degraded", "notice"]
    explains: tuple[str, ...]
    prior: float
    evidence: EvidenceSet
    fixes: tuple[Fix, ...]
    references: tuple[Reference, ...]
    priors: tuple[PriorCase, ...] = ()
    applies_to: dict[str, str] = {}
    requires: Condition | None = None
    foreseeable: bool = False
    generic: bool = False
    confusable_with: dict[str, Text] = {}
    aliases: tuple[str, ...] = ()


class FactEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fact that is not a parameter: its meaning, unit, and how a user can supply it.

    `relation` is what it is made of, where it compares others. `question` asks for it, `ask` says
    how to find it.
    """

    schema: Literal[1]
    id: str
    type: Literal["int", "float", "bool", "text"]
    title: Text
    unit: str = ""
    values: tuple[str, ...] = ()
    ask: Text | None = None
    question: Text | None = None
    relation: Relation | None = None


class FactClause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fact pattern of a rule: a symptom or a plain fact, its field tests, and an alias.

    A test is a constant, `{op: constant}`, or `{op: $alias.field}` (a join with another clause).
    """

    symptom: str | None = None
    fact: str | None = None
    as_: str = msgspec.field(default="", name="as")
    absent: bool = False
    if_: dict[str, Scalar | dict[str, Scalar]] = msgspec.field(default_factory=dict, name="if")


class NewFact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fact a rule concludes; a text value `$alias.field` copies a matched field."""

    name: str
    value: Scalar


class Suggestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A vote of a rule for (weight > 0) or against (weight < 0) a cause, in nats."""

    cause: str
    weight: float
    why: Text
    group: str = ""


class Explanation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`effect` is a consequence of `by`: both `$alias` of symptom clauses, or both cause ids."""

    effect: str
    by: str


class Action(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One conclusion of a rule: exactly one of the closed vocabulary."""

    fact: NewFact | None = None
    suggest: Suggestion | None = None
    explain: Explanation | None = None
    ask: str | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reason across facts; compiled to the inference engine."""

    schema: Literal[1]
    id: str
    title: Text
    stage: Literal["derive", "suggest", "explain"]
    since: str
    why: Text
    when: tuple[FactClause, ...]
    then: tuple[Action, ...]
    references: tuple[Reference, ...] = ()
