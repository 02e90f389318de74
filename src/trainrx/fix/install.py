"""How a release is installed: from the package index, or from a checkout of its source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Checkout(NamedTuple):
    """Where the source of a program is, and what installs it again after a pull."""

    url: str
    again: str


CHECKOUTS: Mapping[str, Checkout] = {
    "easyr1": Checkout("https://github.com/hiyouga/EasyR1", "pip install -e ."),
    "slime": Checkout("https://github.com/THUDM/slime", "pip install -e . --no-deps"),
    "miles": Checkout("https://github.com/radixark/miles", "pip install -e . --no-deps"),
    "nemo-rl": Checkout(
        "https://github.com/NVIDIA-NeMo/RL", "git submodule update --init --recursive"
    ),
}
"""Programs that run from their source (the README of each). The package index does not have them,
or under their name an empty package 0.0.0 (slime, nemo-rl)."""


def install(name: str, spec: str, *, newest: bool = False) -> str:
    """Give the command that brings a package into a range; `newest`: to its newest release.

    Of a program that runs from its source, the command that brings the checkout up to date; where
    an older one is wanted, it says of which range the tag is to be.
    """
    source = CHECKOUTS.get(name)
    if source is None:
        return f'pip install {"-U " if newest else ""}"{name}{spec}"'
    if "<" in spec:
        return f"git checkout TAG && {source.again}  # a tag of {name}{spec}"
    return f"git pull && {source.again}  # in the checkout of {name}{spec}"
