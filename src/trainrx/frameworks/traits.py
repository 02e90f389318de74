"""What sets frameworks apart wherever a launch is read, spelled or edited: one line for each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from trainrx.model.facts import Fact

T = TypeVar("T")

TRAITS: Mapping[str, str] = {
    "ms-swift": "trainer refuses",
    "llamafactory": "trainer refuses overrides omegaconf edits-assigned",
    "trl": "refuses",
    "transformers": "",
    "verl": "trainer overrides omegaconf assigned edits-assigned nested ranked hybrid",
    "easyr1": "trainer overrides omegaconf assigned edits-assigned nested nests ranked hybrid",
    "openrlhf": "trainer refuses ranked",
    "slime": "trainer",
    "miles": "trainer",
    "axolotl": "trainer nested nests",
    "nemo-automodel": "trainer nested nests sections ranked fsdp2",
    "nemo-rl": "trainer overrides omegaconf assigned edits-assigned nested nests sections ranked"
    " fsdp2",
}
"""trainer: installed for nothing but training; refuses: stops on an argument it does not know.

overrides: takes `name=value` without dashes; assigned: and nothing else; edits-assigned: behind a
file, what is added is written so. nested: its files are mappings of mappings, read by dotted names;
nests: and a change of them is written so. sections: `enabled: false` in a mapping turns it off.
ranked: trains LoRA when its rank is above 0, and everything otherwise. fsdp2: shards with FSDP2
unless told otherwise. omegaconf: `${a.b}` in a file stands for another key. hybrid: verl, and what
is made of it: actor, reference and engine take turns on the same cards, FSDP loads in fp32.
"""

_FRAMEWORK = "launch.framework"
FORKS: Mapping[str, str] = {"easyr1": "verl", "miles": "slime"}
"""What goes on from another framework: its logs and files show that one too."""
INSTALLED_AS: Mapping[str, str] = {"easyr1": "verl"}
"""What is installed under the name of another framework, as a fork is (setup.py of EasyR1)."""


def under_own_name(versions: Mapping[str, T], framework: str) -> dict[str, T]:
    """Give versions in which a fork is called by its own name, not by that of its origin.

    Its releases are no releases of the origin: verl 0.3.2 of EasyR1 is not verl.
    """
    named = dict(versions)
    origin = INSTALLED_AS.get(framework)
    if origin is not None and origin in named:
        own = named.pop(origin)
        named.setdefault(framework, own)
    return named


def without_origins(facts: Iterable[Fact], *named: str) -> Iterator[Fact]:
    """Leave out that a job is of a framework where something names a fork of it.

    A fork runs the files and workers of its origin, and so its logs show both.
    """
    held = tuple(facts)
    forks = {*named, *(item.value for item in held if item.kind == _FRAMEWORK)}
    origins = {origin for fork, origin in FORKS.items() if fork in forks}
    return (item for item in held if item.kind != _FRAMEWORK or item.value not in origins)


def having(trait: str) -> frozenset[str]:
    """Give the frameworks of a trait."""
    return frozenset(name for name, traits in TRAITS.items() if trait in traits.split())


OTHERS = frozenset(
    {
        "areal",
        "open-instruct",
        "prime-rl",
        "skyrl",
        "trinity-rft",
        "verl-omni",
    }
)
"""Programs people train with of which knowledge speaks by name; their arguments are not listed."""
OWNERS = having("trainer") | OTHERS | {"trl", "unsloth"}
"""Whose names mean nothing to the others; those of a library go wherever it is used."""
LENT = frozenset({"trl", "unsloth"})
"""Of these, what other frameworks install as a library: its release may matter to any."""
_STANDS_ON: Mapping[str, frozenset[str]] = {
    "miles": frozenset({"slime"}),  # a fork
    "transformers": frozenset({"trl"}),  # scripts of one's own use both
    "trinity-rft": frozenset({"verl"}),
    "unsloth": frozenset({"trl"}),
    "verl-omni": frozenset({"verl"}),
}
"""Frameworks that take the names of another one beside their own."""


def is_of_others(owners: Collection[str], running: Collection[str]) -> bool:
    """Tell whether all that know a name are other frameworks than the one that runs.

    Where that is not known, or where a library is among the owners, nothing is of others.
    """
    own = {name for run in running for name in (run, *_STANDS_ON.get(run, ()))}
    return bool(owners) and bool(running) and OWNERS.issuperset(owners) and own.isdisjoint(owners)
