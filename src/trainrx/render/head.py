"""The job in one line."""

from __future__ import annotations

from trainrx.model.result import JobSummary
from trainrx.model.text import Lang
from trainrx.render import words
from trainrx.render.layout import clean


def job_text(job: JobSummary, lang: Lang) -> str:
    """Say in one line what is known of the job."""
    framework = " ".join(part for part in (job.framework, job.framework_version) if part)
    cards = (f"{job.gpus} x {job.gpu}" if job.gpu else f"{job.gpus} GPU") if job.gpus else job.gpu
    nodes = ""
    if job.nodes is not None:
        nodes = words.ONE_NODE.in_(lang) if job.nodes == 1 else words.NODES.in_(lang)
    parts = (framework, job.task, job.model, cards, nodes.format(n=job.nodes))
    return clean(" · ".join(part for part in parts if part))
