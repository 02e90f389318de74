"""Where a thread stands, told by the frames of its stack: `kb/states`."""

# No postponed annotations: as texts they would be compiled one by one when a decoder is made.
from typing import Literal

import msgspec

from trainrx.model.knowledge import Samples
from trainrx.model.parts import Reference
from trainrx.model.text import Text

StateRole = Literal["waits-for-ranks", "waits-for-other", "works"]
"""waits-for-ranks: until other ranks come; waits-for-other: until something that is no rank of the
job answers; works: computes, or does what takes its time."""
ProcessKind = Literal["worker", "other"]
"""worker: of a rank, it loads data; other: no rank and no worker of one, such as a launcher."""


StatePhase = Literal["", "launch", "load", "tokenize", "train", "save", "rollout"]
"""The stage of a job in which threads stand so, in the words of `failure.phase`; "" for any."""


class FramePattern(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls by their function and file: regexes of the whole name and of the end of the path.

    A function's name goes with its class (`Event.wait`) or without; what
    has none (`<module>`) has to be named. `op` is the collective that is
    called, where the function is not called like it.
    """

    function: str = "[^<].*"
    file: str = ".+"
    op: str = ""


class ThreadState(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place at which threads are found.

    A thread stands there where one of its innermost `within` Python frames matches one of `frames`
    and one further out matches `under`. Without `frames` it is what is left. Of several the one
    with the innermost frame is meant, but a state goes before those it is `over`.

    Attributes:
        says: what a rank does there, behind its number: `rank 3 reads a file`.
        of: a process that stands there is no rank. `active`: whether it computes there.
        stopped: the process does not run, whatever its frames are.
        usual: each step of a healthy job comes by: to be seen there once says nothing.
        collective: the function is the collective the rank is in.
        phase: the stage of the job that this is.
        samples: stacks, the innermost frame first, `f (file.py:1) < g (other.py:2)`; `idle: `,
            `active: ` or `stopped: ` may stand before them.
    """

    schema: Literal[1]
    id: str
    title: Text
    says: Text
    since: str
    updated: str
    role: StateRole
    of: ProcessKind | None = None
    frames: tuple[FramePattern, ...] = ()
    under: FramePattern | None = None
    within: int = 6
    active: bool | None = None
    stopped: bool = False
    usual: bool = False
    phase: StatePhase = ""
    collective: bool = False
    over: tuple[str, ...] = ()
    samples: Samples
    references: tuple[Reference, ...]
    aliases: tuple[str, ...] = ()
