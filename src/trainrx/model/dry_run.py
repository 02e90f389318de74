"""What a dry run found: how far the job came, and what of its data reached the model."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.findings import Finding
from trainrx.model.result import Diagnosis, Tool

DryRunVerdict = Literal["stops", "loses", "runs", "unfinished"]
"""stops: it ended in an error; loses: it trains, and not on all of the data as it stands there;
runs: nothing was found; unfinished: it did not come to training."""
DryRunKind = Literal[
    "stopped-at-row",
    "row-lost",
    "text-lost",
    "text-cut",
    "not-learnt",
    "nothing-learnt",
    "column-lost",
    "rows-fewer",
    "odd-value",
]
"""stopped-at-row: the error comes from this row; row-lost: nothing of a row reaches the model;
text-lost, text-cut: a text does not, or only its beginning; not-learnt: the last text of a
column is read, but not learnt from; nothing-learnt: a sample without a token to learn; column-
lost: of a column the format has no text at all arrives; rows-fewer: so many are gone, which is
not known. odd-value: where it stopped, a value of another kind than in most rows."""


class DataLoss(msgspec.Struct, frozen=True, kw_only=True):
    """Something of the data that does not arrive as it stands in its file.

    `rows` are the first of them, counted from 1, `lines` where they begin in a file that has lines;
    `count` is how many there are. `column` is the path of a text: `messages[assistant].content`.
    `shown` is how the text begins, or what the error said.
    """

    kind: DryRunKind
    file: str = ""
    column: str = ""
    rows: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()
    count: int = 0
    of: int = 0
    shown: str = ""


class ColumnUse(msgspec.Struct, frozen=True, kw_only=True):
    """In how many rows a text of a column is read by the model, and learnt from.

    `learnt` None: what is learnt from was not seen.
    """

    file: str
    column: str
    rows: int
    read: int
    learnt: int | None = None


class DryRunAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A job started small, on the CPU, by its own framework.

    `taken` of `rows` were used; `seconds` is how long it took. `reached` is the last stage: loads,
    prepares, batches, steps; `time_up`: it ran longer than allowed. `left_out` names what one
    process on a CPU does without. `error` is the last line of what it printed where it stopped,
    `diagnosis` what is known of that; `said` are errors that it printed and went on, `findings`
    what lint finds in the data.
    """

    tool: Tool
    verdict: DryRunVerdict
    framework: str
    release: str = ""
    python: str = ""
    command: str = ""
    seconds: float = 0.0
    rows: int = 0
    taken: int = 0
    reached: str = ""
    time_up: bool = False
    error: str = ""
    said: tuple[str, ...] = ()
    all_seen: bool = False
    losses: tuple[DataLoss, ...] = ()
    findings: tuple[Finding, ...] = ()
    uses: tuple[ColumnUse, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    log: str = ""
    diagnosis: Diagnosis | None = None
