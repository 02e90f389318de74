"""The command that has to run beside a job: an engine on the GPUs its processes leave."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import NamedTuple

from trainrx.fix.changes import Target
from trainrx.model.facts import Facts, Scalar
from trainrx.model.levers import Lever
from trainrx.versions.ranges import in_range

PROCESSES = "parallel.processes_per_node"


class Apart(NamedTuple):
    """A command beside the job, and the devices that stay with the job."""

    command: str
    devices: str


def beside_of(lever: Lever, values: Mapping[str, Scalar], job: Target) -> Apart | None:
    """Write down the command a step needs beside the job; None where it cannot be.

    Args:
        lever: what is pulled.
        values: canonical parameters as the step sets them.
        job: whose framework, version, model and cards they are.
    """
    command = next(
        (
            item.command
            for item in lever.beside
            if item.framework == job.framework and in_range(job.version or "", item.versions)
        ),
        None,
    )
    model, processes = job.facts.text("model.name"), values.get(PROCESSES)
    devices = _devices(job.facts)
    if command is None or not model or not isinstance(processes, int) or devices is None:
        return None
    left = devices[processes:]
    named = {"gpus": ",".join(left), "count": str(len(left)), "model": shlex.quote(model)}
    for name, text in named.items():
        command = command.replace("{" + name + "}", text)
    return Apart(command, ",".join(devices[:processes])) if left and processes else None


def _devices(facts: Facts) -> list[str] | None:
    """List the devices of a machine as CUDA_VISIBLE_DEVICES has them, else by number."""
    visible = facts.text("parallel.visible_gpus")
    count = facts.number("hardware.gpus_per_node")
    if visible:
        return [part.strip() for part in visible.split(",") if part.strip()]
    return None if count is None else [str(number) for number in range(int(count))]
