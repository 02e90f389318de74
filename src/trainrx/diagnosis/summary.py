"""The job as one line of an answer."""

from __future__ import annotations

from trainrx.model.facts import Facts
from trainrx.model.result import JobSummary


def job_summary(facts: Facts) -> JobSummary:
    """Give the job in a few words."""
    gpus, nodes = facts.number("hardware.gpus"), facts.number("hardware.nodes")
    memory = facts.number("hardware.gpu_gib")
    return JobSummary(
        framework=facts.text("launch.framework") or None,
        framework_version=facts.text("launch.framework_version"),
        task=facts.text("launch.task"),
        model=facts.text("model.name"),
        gpu=facts.text("hardware.gpu") or (f"{memory:g} GiB" if memory else None),
        gpus=int(gpus) if gpus else None,
        nodes=int(nodes) if nodes else None,
    )
