"""What `diagnose inspect` and `diagnose diff` answer: launches resolved, and two of them compared.

`--format json` prints these records field for field (schema_version 1).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.catalog import Value
from trainrx.model.facts import How, Origin
from trainrx.model.findings import Unread
from trainrx.model.job import Defect
from trainrx.model.result import Tool
from trainrx.model.text import Lang

Topic = Literal[
    "model",
    "data",
    "tuner",
    "batch",
    "memory",
    "parallel",
    "rlhf",
    "vision",
    "optimizer",
    "saving",
    "environment",
    "other",
]
"""What an argument is about; memory: precision, attention and what saves memory; rlhf: also vLLM
and rollout; saving: also evaluation and logging."""
Via = Literal[
    "arg", "config", "env", "launcher", "log", "default", "computed", "derived", "container"
]
"""Where a value comes from. default: declared by the framework; computed: by the framework from
other arguments; derived: by this tool; container: told to docker, kubectl, apptainer or srun."""
Side = Literal["good", "bad"]


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a job.

    `name` is the framework's own (a variable, a fact id), `given_as` how the launch spells it when
    that differs. `value` means nothing when not `known`: then `why` says why, and `alternatives`
    are the texts it may have. `origins` are the places it stands at; a declared default has none
    and names its `package`. `sources` are the names it follows from. `title` says a fact in words.
    """

    topic: Topic
    name: str
    via: Via
    how: How
    value: Value = None
    known: bool = True
    text: str = ""
    given_as: str = ""
    canonical: str = ""
    package: str = ""
    origins: tuple[Origin, ...] = ()
    sources: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    why: str = ""
    title: str = ""

    @property
    def given(self) -> bool:
        """Tell whether somebody set it, in whatever place."""
        return self.via in ("arg", "config", "env", "launcher", "log", "container")


class Stranger(msgspec.Struct, frozen=True, kw_only=True):
    """A name this version does not take.

    `instead` is the name it has here; `takers` are the releases that take it, as a range. Where the
    catalog lists none, `documented` are those for which `kb/params` has it all the same.
    """

    name: str
    values: tuple[str, ...] | None
    origin: Origin
    instead: str = ""
    takers: str = ""
    documented: str = ""


class ConfigUsed(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration file of a job: as the launch names it, and where it was found.

    `found` is "" where it is not at hand, and the script itself where that writes it. `package` is
    the place Hydra gives its keys. `guess`: it was found by its name, and may be another file: the
    command is started in a folder that is not at hand.
    """

    name: str
    found: str = ""
    package: str = ""
    guess: bool = False


class InspectedJob(msgspec.Struct, frozen=True, kw_only=True):
    """One launch, resolved.

    `version` may be a range: then `version_how` is "derived", it is where all names of the launch
    exist. `place` is the launch's line. `nodes` are the lines of the same job on other machines.
    `arguments` are all of the framework's command, given ones first; `settings` are the canonical
    values they and the environment come to; `facts` what follows by arithmetic. `shadowed` stand
    in an input and do not take effect. `configs` are its configuration files, the decisive last.
    """

    place: Origin
    framework: str | None
    command: str
    version: str | None = None
    version_how: How | None = None
    task: str | None = None
    model: str | None = None
    role: str = ""
    perhaps: bool = False
    complete: bool = True
    nodes: tuple[Origin, ...] = ()
    configs: tuple[ConfigUsed, ...] = ()
    arguments: tuple[Item, ...] = ()
    settings: tuple[Item, ...] = ()
    facts: tuple[Item, ...] = ()
    env: tuple[Item, ...] = ()
    strangers: tuple[Stranger, ...] = ()
    shadowed: tuple[Item, ...] = ()
    defects: tuple[Defect, ...] = ()
    unread: tuple[Unread, ...] = ()


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """Every launch of the inputs, in the order they stand."""

    tool: Tool
    schema_version: Literal[1] = 1
    lang: Lang = "en"
    jobs: tuple[InspectedJob, ...] = ()
    unread: tuple[Unread, ...] = ()


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The same setting on both sides; None: that side does not have it.

    `matters`: it can change memory, speed or the result. `name` is the bad side's spelling when it
    has one, else the good side's.
    """

    topic: Topic
    name: str
    canonical: str = ""
    matters: bool = True
    good: Item | None = None
    bad: Item | None = None


class Sided(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two launches, without its values (`inspect` shows them)."""

    place: Origin
    framework: str | None
    command: str
    version: str | None = None
    version_how: How | None = None
    task: str | None = None
    model: str | None = None
    further: int = 0


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between two launches once both are resolved, what matters first.

    `changes` have an effective value on both sides, or are set on one and at rest on the other;
    `facts` are derived values that differ; `lone` were given on one side and the other has no such
    argument; `open` differ or not, nobody can tell; `renamed` come to the same under another name;
    `defaults` exist on one side only and nobody gave them; `same` counts what is equal.
    """

    tool: Tool
    verdict: Literal["same", "differs"]
    good: Sided
    bad: Sided
    schema_version: Literal[1] = 1
    lang: Lang = "en"
    changes: tuple[Pair, ...] = ()
    facts: tuple[Pair, ...] = ()
    lone: tuple[Pair, ...] = ()
    open: tuple[Pair, ...] = ()
    renamed: tuple[Pair, ...] = ()
    defaults: tuple[Pair, ...] = ()
    same: int = 0
    unread: tuple[Unread, ...] = ()
