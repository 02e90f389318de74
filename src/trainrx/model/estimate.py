"""What `diagnose estimate` answers; `--format json` prints it field for field (version 1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.inspection import ConfigUsed
from trainrx.model.memory import (
    Assumption,
    Figure,
    HostUse,
    Length,
    Phase,
    PhaseUse,
    Prediction,
    Refusal,
    Verdict,
)
from trainrx.model.result import JobSummary, Tool
from trainrx.model.text import Lang

Fit = Verdict


class CardFit(msgspec.Struct, frozen=True, kw_only=True):
    """One card asked about, and whether the job fits on it.

    `name` as known here, else as given; `gib` what torch reports as its total, None when the name
    leaves it open. `card` is what the job takes of it, GiB: it depends on the card where an engine
    is given a share of it. `refusal` says why there is no figure.
    """

    name: str
    gib: float | None = None
    verdict: Fit | None = None
    card: Figure | None = None
    refusal: Refusal | None = None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of the closed form beside the counted one, GiB per GPU; None: it has none."""

    name: str
    closed: float | None = None
    counted: float | None = None


class ExactCount(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of the real model class without weights or GPU counted.

    `allocated` compares tensors alive at the peak, `parts` what they are in the counted peak's
    phase, `phases` the height of each. `seconds` is what the run took. `left_out` names what it
    cannot see. `refusal`: why nothing was counted; all else is empty then.
    """

    allocated: Compared | None = None
    peak: Phase | None = None
    phases: tuple[Compared, ...] = ()
    parts: tuple[Compared, ...] = ()
    model_class: str = ""
    torch: str = ""
    transformers: str = ""
    seconds: float = 0.0
    assumptions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    refusal: Refusal | None = None


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Peak memory per GPU of one job, term by term, in GiB rounded to 0.01.

    `verdict` compares `card` with the first card asked about; None when no card of known size is
    given, or when there is no prediction: then `refusal` says why and all figures are None.
    `allocated` are tensors (`torch.cuda.max_memory_allocated`), `reserved` what torch's allocator
    holds (`max_memory_reserved`), `card` what nvidia-smi shows. `peak` is the phase that needs
    most, `phases` what lies on the card at the height of each, in the order they run. `length` is
    what was taken for the tokens of one sample. `host` is the memory of one machine. `cards` holds
    one entry for each card asked about. `place` is the line of the launch, `configs` are its
    configuration files, the decisive last. `assumptions` name what the launch does not say.
    """

    tool: Tool
    job: JobSummary
    schema_version: Literal[1] = 1
    lang: Lang = "en"
    place: Origin | None = None
    configs: tuple[ConfigUsed, ...] = ()
    verdict: Fit | None = None
    limit_gib: float | None = None
    allocated: Figure | None = None
    reserved: Figure | None = None
    card: Figure | None = None
    peak: Phase | None = None
    phases: tuple[PhaseUse, ...] = ()
    host: HostUse | None = None
    length: Length | None = None
    cards: tuple[CardFit, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    refusal: Refusal | None = None
    counted: ExactCount | None = None
    unread: tuple[Unread, ...] = ()

    @property
    def prediction(self) -> Prediction | None:
        """Give the figures as one record, None when there are none."""
        if self.allocated is None or self.reserved is None or self.card is None:
            return None
        if self.peak is None or self.host is None:
            return None
        return Prediction(
            allocated=self.allocated,
            reserved=self.reserved,
            card=self.card,
            peak=self.peak,
            phases=self.phases,
            host=self.host,
            verdict=self.verdict,
            limit_gib=self.limit_gib,
            assumptions=self.assumptions,
        )
