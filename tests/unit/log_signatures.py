"""Signatures and logs for the tests of the detectors."""

from __future__ import annotations

from trainrx.evidence.detector import Detector, Engine
from trainrx.model.facts import Scalar
from trainrx.model.job import Detection, Input
from trainrx.model.knowledge import CaptureType, Family, LinePattern, Role, Samples, Symptom
from trainrx.model.text import Text

OOM = (
    r"Tried to allocate (?P<asked>[\d.]+ [KMGT]iB)(?:\. GPU (?P<gpu>\d+) has a total capacity of "
    r"(?P<card>[\d.]+ [KMGT]iB))?(?:.{0,300}Of the allocated memory (?P<allocated>[\d.]+ [KMGT]iB) "
    r"is allocated by PyTorch, and (?P<unused>[\d.]+ [KMGT]iB) is reserved)?"
)
OOM_LINE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU {gpu} has a total"
    " capacity of 80.00 GiB of which 5.76 GiB is free. Including non-PyTorch memory, this process"
    " has 73.30 GiB memory in use. Of the allocated memory 60.00 GiB is allocated by PyTorch, and"
    " 8.00 GiB is reserved by PyTorch but unallocated."
)


def signature(
    name: str,
    *patterns: tuple[str, str],
    role: Role = "failure",
    family: Family | None = "crash_other",
    types: dict[str, CaptureType] | None = None,
    facts: dict[str, Scalar] | None = None,
    phase: str = "",
    site: str = "",
) -> Symptom:
    """Make a signature; `patterns` are pairs of needle and regex."""
    return Symptom(
        schema=1,
        id=name,
        role=role,
        family=family if role == "failure" else None,
        title=Text(en=name, zh=name),
        since="0.1.0",
        updated="2026-11-21",
        patterns=tuple(LinePattern(needle=needle, regex=regex) for needle, regex in patterns),
        samples=Samples(match=(), near_miss=()),
        types=types or {},
        facts=facts or {},
        phase=phase,
        site=site,
    )


def cuda_oom() -> Symptom:
    """Give the signature of CUDA running out of memory."""
    return signature(
        "cuda-oom",
        ("Tried to allocate", OOM),
        ("out of memory", "CUDA error: out of memory"),
        family="oom",
        types={"asked": "gib", "card": "gib", "allocated": "gib", "unused": "gib", "gpu": "int"},
        facts={
            "oom.asked_gib": "$asked",
            "oom.card_gib": "$card",
            "oom.gpu": "$gpu",
            "oom.allocated_gib": "$allocated",
            "oom.reserved_unused_gib": "$unused",
        },
    )


def scan(text: str, *symptoms: Symptom, engine: Engine = "auto", name: str = "t.log") -> Detection:
    """Scan one log."""
    return Detector(symptoms, engine=engine).detect([Input(kind="log", name=name, text=text)])


def values(found: Detection) -> dict[str, Scalar | None]:
    """Give the facts of a detection by name."""
    return {item.kind: item.value for item in found.facts}
