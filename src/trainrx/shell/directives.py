"""What Slurm will set for a script, as far as its own `#SBATCH` lines ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainrx.model.pattern import late

_SHORT = {"N": "nodes", "n": "ntasks", "c": "cpus-per-task", "J": "job-name", "p": "partition"}
_SET: Mapping[str, tuple[str, ...]] = {
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "cpus-per-task": ("SLURM_CPUS_PER_TASK",),
    "gpus-per-node": ("SLURM_GPUS_PER_NODE",),
    "gpus": ("SLURM_GPUS",),
    "job-name": ("SLURM_JOB_NAME",),
    "partition": ("SLURM_JOB_PARTITION",),
}
"""Options and the variables that hold their value: sbatch(1), OUTPUT ENVIRONMENT VARIABLES.
https://slurm.schedmd.com/sbatch.html"""
_WORDS = frozenset({"job-name", "partition"})
_COUNT = late(r"[0-9]{1,6}")
_GPUS = late(r"(?:gres/)?gpu(?::[A-Za-z][\w.-]{0,40})?[:=]([0-9]{1,4})")


def allotted(directives: Iterable[tuple[str, str, int]]) -> dict[str, str]:
    """Give the variables whose value follows from the directives; a range (`2-4`) tells none."""
    found: dict[str, str] = {}
    for name, value, _ in directives:
        option = _SHORT.get(name, name)
        text = value.strip().strip("\"'")
        if option == "gres" and (match := _GPUS.fullmatch(text)) is not None:
            found["SLURM_GPUS_ON_NODE"] = match[1]
        elif (option in _WORDS and "%" not in text) or _COUNT.fullmatch(text):
            found.update(dict.fromkeys(_SET.get(option, ()), text))
    return found
