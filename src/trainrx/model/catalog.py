"""What one package's command line took at each of its releases: every name, type and default."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from typing import Any, Literal

import msgspec

from trainrx.model.text import Text

Value = bool | int | float | str | list[Any] | dict[str, Any] | None
"""A default as the source declares it; None is the declared None."""

Span = tuple[str, str | None]
"""First release of a stretch and the first one after it (None: still there)."""


class Option(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One name over the releases in which it behaves as one.

    The histories `types`, `defaults` and `choices` hold (since, value) pairs, oldest first. A
    default that is computed when the program starts is {"expr": source}, one that must be given is
    {"required": true}.

    A type is the annotation of a field (`Optional[List[str]]`, `int | None`; a Literal without its
    values, which are the choices). An option of argparse has the name of what converts one value
    (`int`, `str2bool`), `List[int]` when it takes several, `Optional[str]` when the value may be
    left out, `append[str]` when it is given several times; one without a value has the name of its
    action (`store_true`, `store_false`, `BooleanOptionalAction`). `aliases` are its other
    spellings without `--`; a short one keeps its dash.

    The key of a model inside another one is dotted; `*` stands for the number of an element of a
    list (`datasets.*.path`). A group of files hydra picks from is `group` or `group@package`.

    Outside the life of a command (see `Contents`) its options have no meaning: a stretch goes on
    over releases that lack all of its commands.
    """

    name: str
    commands: tuple[str, ...]
    spans: tuple[Span, ...]
    types: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, Value], ...] = ()
    choices: tuple[tuple[str, tuple[Value, ...] | None], ...] = ()
    aliases: tuple[str, ...] = ()


class Inherited(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments a command takes over from a class of another package, while the span lasts."""

    package: str
    command: str
    span: Span


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a catalog: the releases read, the life of each command, what it inherits.

    `references`: for each release of this package, the release of another one that was the newest
    allowed by its pins when it appeared (package to since-value pairs).
    """

    package: str
    releases: tuple[str, ...]
    commands: dict[str, tuple[Span, ...]]
    inherits: dict[str, tuple[Inherited, ...]] = {}
    references: dict[str, tuple[tuple[str, str], ...]] = {}


class Rename(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A name that was replaced: `old` until release `until`, `new` since then.

    `new` is empty when nothing replaces it. `inverted`: true became false. `values` maps old values
    to new ones. `commands` is empty when it concerns all.
    """

    package: str
    old: str
    new: str
    until: str = ""
    commands: tuple[str, ...] = ()
    inverted: bool = False
    values: dict[str, str] = {}
    source: str = ""


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration a package ships under a name; contents are (since, value) pairs."""

    name: str
    spans: tuple[Span, ...]
    contents: tuple[tuple[str, dict[str, Any]], ...]


class EnvironmentVariable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An environment variable a package reads.

    `models` are the model types whose own code reads it; empty: code for all models, or code of no
    registered model. A default only a run can tell is {"expr": ...}, a variable that must be set
    {"required": true}.
    """

    name: str
    spans: tuple[Span, ...]
    defaults: tuple[tuple[str, Value], ...]
    models: tuple[str, ...] = ()


class ModelTypeRename(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model type that exists from `since` until before `until`.

    `new` are the types under which release `until` knows its models (empty: none of them).
    """

    old: str
    since: str
    until: str
    new: tuple[str, ...] = ()


class Replacement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands for an argument since release `since`, where that is more than another name.

    With `back` it is the other way: what releases before `since` have for `old`. `when` are the
    values it is about (lower case; empty: any; `(0,1)`: a number between). `gives` are the
    arguments that say the same: `name={value}`, `name` a bare switch, `ENV:NAME=x` a variable,
    `name+=x` one more value of a list, `name#x` a number behind each data set of `name`. Nothing is
    given for what is `gone` without loss, or what has no counterpart: `note` then says what to do
    instead.
    """

    package: str
    old: str
    since: str
    commands: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    gone: bool = False
    back: bool = False
    note: Text | None = None
    source: str = ""


class OldName(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A name ms-swift 2.x has for a model, a template or a data set, or 3.x for a model type.

    `ms` and `hf` are the ids it stands for on ModelScope and Hugging Face, `now` the model type or
    template of 3.x and `now_template` the template that goes with it, `targets` the modules that
    got LoRA by default.
    """

    kind: Literal["model", "template", "data", "type"]
    name: str
    ms: str = ""
    hf: str = ""
    now: str = ""
    template: str = ""
    now_template: str = ""
    targets: tuple[str, ...] = ()


class Register(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Names a package looks up for the value of an argument; its parser does not list them.

    `package` is the one whose releases `held` and `known` speak of: where it knows a name, and
    where its register could be read (elsewhere any value passes). A name that ends in `*` is a
    beginning. `of` are the frameworks whose launches it concerns, at the releases `within`, and
    `commands` of theirs, with values of facts that are `only`.

    `opened_by` are arguments with which a launch brings names of its own. `split` stands between
    several names in one value. `json`: a file or JSON is taken as well. `adds`: the names stand
    beside those of another package's register, and decide nothing alone. `any_case`: capitals do
    not count. `ignored`: the releases that go on without a name they do not know.
    """

    package: str
    arguments: tuple[str, ...]
    known: tuple[Span, ...]
    held: msgspec.Raw
    of: tuple[str, ...]
    source: str
    within: str = ""
    commands: tuple[str, ...] = ()
    only: dict[str, tuple[str, ...]] = {}
    opened_by: tuple[str, ...] = ()
    split: str = ""
    json: bool = False
    adds: bool = False
    any_case: bool = False
    ignored: str = ""

    def names(self) -> tuple[tuple[tuple[Span, ...], tuple[str, ...]], ...]:
        """Give the names by the stretches in which they are known; read only when asked for."""
        return msgspec.json.decode(
            self.held, type=tuple[tuple[tuple[Span, ...], tuple[str, ...]], ...]
        )


class ParsedArgument(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An argument a package reads as JSON, or as a file that holds it.

    `strict`: what is neither ends the launch. `repaired`: JSON that is not well formed is mended
    first. Else only a text that begins with `{` is read.
    """

    name: str
    spans: tuple[Span, ...]
    strict: bool = False
    repaired: bool = False
