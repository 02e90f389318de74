"""What sets frameworks apart wherever a launch is read, spelled or edited: one line for each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

TRAITS: Mapping[str, str] = {
    "ms-swift": "trainer refuses",
    "llamafactory": "trainer refuses overrides omegaconf edits-assigned",
    "trl": "refuses",
    "transformers": "",
    "verl": "trainer overrides omegaconf assigned edits-assigned nested ranked",
    "openrlhf": "trainer refuses ranked",
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
unless told otherwise. omegaconf: `${a.b}` in a file stands for another key.
"""


def having(trait: str) -> frozenset[str]:
    """Give the frameworks of a trait."""
    return frozenset(name for name, traits in TRAITS.items() if trait in traits.split())


OTHERS = frozenset(
    {
        "areal",
        "miles",
        "open-instruct",
        "prime-rl",
        "skyrl",
        "slime",
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
