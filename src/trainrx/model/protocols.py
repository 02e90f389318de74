"""What to find out about a kind of failure that nobody can name yet: `kb/protocols`."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from typing import Literal

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.knowledge import Family
from trainrx.model.parts import Condition, Reference
from trainrx.model.text import Text

Effort = Literal["read", "look", "rerun"]
"""read: a file, or something its user knows; look: a command beside the running job, or on the
machine it ran on; rerun: the job has to be started again."""


class StepOutcome(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a step may show (`reads`), and what that means.

    `causes` show so, the likeliest first; `facts` are known then. `then` says it in words where
    neither does.
    """

    id: str
    reads: Text
    causes: tuple[str, ...] = ()
    facts: dict[str, Scalar] = {}
    then: Text | None = None


class ProtocolStep(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One thing to find out.

    Either a question of its own with its outcomes, or `ask`: one that has an id already (`launch`,
    `log`, `versions`, a fact, `symptom.ID`), which then stands at this place. It applies where
    `when` is true and `unless` is not. `answers` are the ids of other questions that its output
    answers as well.
    """

    id: str = ""
    ask: str = ""
    question: Text | None = None
    how: Text | None = None
    command: str = ""
    answer: Literal["yes_no", "value", "output"] = "output"
    effort: Effort = "look"
    outcomes: tuple[StepOutcome, ...] = ()
    answers: tuple[str, ...] = ()
    when: Condition | None = None
    unless: Condition | None = None
    ref: str = ""


class Protocol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The steps an expert takes when a job fails in one of some ways, in that order.

    `families` are the kinds of failure it is for. It applies where `when` is true and `unless` is
    not.
    """

    schema: Literal[1]
    id: str
    title: Text
    since: str
    updated: str
    families: tuple[Family, ...]
    steps: tuple[ProtocolStep, ...]
    references: tuple[Reference, ...]
    when: Condition | None = None
    unless: Condition | None = None
    aliases: tuple[str, ...] = ()

    def question(self, step: ProtocolStep) -> str:
        """Give the id of a step's question: one that stands elsewhere already, or its own."""
        return step.ask or f"{self.id}.{step.id}"

    @property
    def own(self) -> dict[str, ProtocolStep]:
        """Give the steps with a question of their own, by its id."""
        return {self.question(step): step for step in self.steps if not step.ask}
