"""What sets frameworks apart wherever a launch is read, spelled or edited: one line for each."""

from __future__ import annotations

from collections.abc import Mapping

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
