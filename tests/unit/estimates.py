"""Estimates as records, for the pages, their JSON and the plot."""

from __future__ import annotations

import msgspec

from trainrx.model.estimate import CardFit, Compared, Estimate, ExactCount
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.memory import (
    Assumption,
    Figure,
    HostUse,
    Length,
    PhaseUse,
    Refusal,
    Term,
)
from trainrx.model.result import JobSummary, Tool

TOOL = Tool(name="trainrx", version="0.1.0", kb="0123456789ab", engine="")
JOB = JobSummary(
    framework="ms-swift",
    framework_version="3.2.1",
    task="sft",
    model="Qwen/Qwen2.5-VL-7B-Instruct",
    gpu="A100-SXM4-80GB",
    gpus=8,
    nodes=1,
)
RESIDENT = (
    Term(name="weights", gib=15.45, source="2 B a parameter (bf16)"),
    Term(name="adapters", gib=0.3),
    Term(name="optimizer", gib=0.6, source="two fp32 moments (AdamW, arXiv 1711.05101)"),
)


def phase(name: str, *terms: Term) -> PhaseUse:
    return PhaseUse(phase=name, gib=round(sum(term.gib for term in terms), 2), terms=terms)


def figure(gib: float, low: float, high: float) -> Figure:
    return Figure(gib=gib, low=low, high=high)


PHASES = (
    phase("load", RESIDENT[0]),
    phase(
        "loss",
        *RESIDENT,
        Term(name="checkpoints", gib=3.5),
        Term(name="tower", gib=9.1),
        Term(name="logits", gib=18.45, source="14.75 B a logit, forward and backward"),
    ),
    phase("backward", *RESIDENT, Term(name="checkpoints", gib=3.5), Term(name="live", gib=4.25)),
    phase("step", *RESIDENT, Term(name="gradients", gib=0.3), Term(name="step", gib=0.3)),
)


def estimate(**more: object) -> Estimate:
    """A job that fits an 80 GB card."""
    made = Estimate(
        tool=TOOL,
        job=JOB,
        verdict="fits",
        limit_gib=79.33,
        allocated=figure(47.4, 44.1, 50.2),
        reserved=figure(52.3, 48.0, 57.9),
        card=figure(54.1, 49.8, 60.05),
        peak="loss",
        phases=PHASES,
        host=HostUse(resident=0.0, peak=16.2, terms=(Term(name="weights", gib=16.2),)),
        length=Length(low=300, typical=2048, high=4096, how="cap"),
        cards=(
            CardFit(
                name="A100-SXM4-80GB",
                gib=79.33,
                verdict="fits",
                card=figure(54.1, 49.8, 60.05),
            ),
        ),
        assumptions=(
            Assumption(
                id="length-cap",
                text="Every sample is as long as the limit, 4096 tokens.",
                param="--data",
            ),
            Assumption(id="pixels", text="Images have 1003520 pixels.", param="MAX_PIXELS"),
        ),
    )
    return msgspec.structs.replace(made, **more)


def too_large() -> Estimate:
    """The same job on a 48 GB card, where it does not fit, and on a larger one."""
    return estimate(
        verdict="does-not-fit",
        limit_gib=47.4,
        job=msgspec.structs.replace(JOB, gpu="RTX A6000"),
        cards=(
            CardFit(
                name="RTX A6000", gib=47.4, verdict="does-not-fit", card=figure(54.1, 49.8, 60.05)
            ),
            CardFit(name="A100", card=figure(54.1, 49.8, 60.05)),
            CardFit(name="H20", gib=95.6, verdict="fits", card=figure(54.1, 49.8, 60.05)),
        ),
        counted=ExactCount(
            allocated=Compared(name="allocated", closed=47.4, counted=45.9),
            peak="loss",
            parts=(
                Compared(name="parameters", closed=15.75, counted=15.8),
                Compared(name="logits", closed=18.45, counted=15.1),
                Compared(name="other", closed=9.1),
            ),
            model_class="Qwen2_5_VLForConditionalGeneration",
            torch="2.5.1",
            transformers="4.51.3",
            seconds=9.0,
            left_out=("Triton kernels",),
        ),
        unread=(Unread(source="ds.json", reason="is not at hand: add it with --config"),),
    )


def refused(kind: str = "unknown") -> Estimate:
    """A job whose model is not known."""
    return Estimate(
        tool=TOOL,
        job=msgspec.structs.replace(JOB, model="./my-model"),
        refusal=Refusal(
            kind=kind,
            id="model-shape",
            reason="the shape of ./my-model is not known",
            asks=("--model-config ./my-model/config.json", "the hub id of the model (--model)"),
            evidence=(Origin(source="launch.sh", line=3, text="  --model ./my-model \\"),),
        ),
    )
