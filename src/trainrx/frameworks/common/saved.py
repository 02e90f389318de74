"""Arguments a run wrote down beside what it trained, and what a later run takes back of them."""

from __future__ import annotations

import msgspec

from trainrx.model.job import RawArg

FILES = ("args.json", "sft_args.json")
"""Where they lie in the folder of a run."""


class Loaded(msgspec.Struct, frozen=True):
    """Arguments taken back: those that overrule the launch, and those that fill its gaps."""

    forced: tuple[RawArg, ...] = ()
    filled: tuple[RawArg, ...] = ()
