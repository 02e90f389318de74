"""What entries of `kb/` and `rules/` have in common, as far as lint takes it too."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from typing import Literal

import msgspec

from trainrx.model.facts import Scalar
from trainrx.model.text import Text

Safety = Literal["safe", "costs", "changes-results", "manual", "destructive"]
"""safe: same training result, nothing is lost, little is paid; costs: it takes time or money;
changes-results: another model comes out; manual: a person decides what it means; destructive:
something is deleted or ended, which no patch ever does. `kb/safety.yaml` says what is what."""


class Reference(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source of a claim and what it says.

    `checked` is the date it was last opened and compared; without one it is cited at second hand.
    """

    id: str
    kind: Literal["doc", "issue", "source", "report", "run", "paper"]
    url: str = ""
    says: str = ""
    checked: str = ""


class Condition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A three-valued test on facts: exactly one of fact, symptom, package, all, any, not.

    `fact` takes one of eq, ne, lt, le, gt, ge, one_of, known. `symptom` takes `seen` (default
    true) and `if`, tests on the captured fields. `package` takes `versions`, a PEP 440 range; with
    `known` it asks whether it is known that the package lies in it or not.
    """

    fact: str | None = None
    eq: Scalar | None = None
    ne: Scalar | None = None
    lt: float | None = None
    le: float | None = None
    gt: float | None = None
    ge: float | None = None
    one_of: tuple[Scalar, ...] | None = None
    known: bool | None = None
    symptom: str | None = None
    seen: bool = True
    if_: dict[str, Scalar | dict[str, Scalar]] | None = msgspec.field(default=None, name="if")
    package: str | None = None
    versions: str | None = None
    all: "tuple[Condition, ...] | None" = None
    any: "tuple[Condition, ...] | None" = None
    not_: "Condition | None" = msgspec.field(default=None, name="not")


RelationKind = Literal["divides", "at-most", "equal", "sums-to", "sum-at-most", "whole-above-one"]


class Relation(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A fact that says whether two groups of whole numbers, facts by name, stand in a relation.

    divides: the product of `left` divides that of `right`; at-most and equal compare the products;
    sums-to: the sum of `left` is the product of `right`; sum-at-most: it is not above it.
    whole-above-one: the one of `left`, a share of all steps up to 1 and a count above, is a count.
    """

    kind: RelationKind
    left: tuple[str, ...]
    right: tuple[str, ...] = ()


class Spelling(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """How one framework writes a parameter in a range of its versions, and its default there.

    Exactly one of `arg` (command line or config key) and `env`. `values` maps canonical values to
    their spelling; `inverted` is a boolean whose spelling says the opposite, `closed` says that no
    value but those of `values` is taken. `default` is absent where the framework has none or
    computes it. `also` are other accepted names (only read), `reads` other accepted words in lower
    case and the canonical value each means. `commands` limits the spelling to some sub-commands
    (sft, rlhf, train); empty means all.
    """

    versions: str = ""
    arg: str = ""
    env: str = ""
    default: Scalar | None = None
    values: dict[str, str] = {}
    reads: dict[str, str] = {}
    inverted: bool = False
    closed: bool = False
    also: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    source: str = ""


class Param(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One meaning, its spelling per framework and version range; best spelling first.

    `needs` are packages some canonical values need beside the framework.
    """

    schema: Literal[1]
    id: str
    type: Literal["int", "float", "bool", "text"]
    title: Text
    spelled: dict[str, tuple[Spelling, ...]]
    needs: dict[str, str] = {}
    ask: Text | None = None
    question: Text | None = None
