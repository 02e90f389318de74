"""What PBS, LSF and SGE are asked for by the directives of a batch script.

https://nasa.github.io/cape-doc/2.2/common/json/BatchPBS.html
https://www.ibm.com/docs/en/SSWRJV_10.1.0/lsf_gpu/lsf_gpu_submit_jobs.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainrx.model.pattern import late

PREFIXES = {"#PBS": "pbs_", "#BSUB": "lsf_", "#$": "sge_"}
"""How a directive begins, and what the names of what it asks for begin with."""
_PBS: Mapping[str, str] = {
    "select": "nnodes",
    "nodes": "nnodes",
    "ngpus": "gpus_per_node",
    "gpus": "gpus_per_node",
    "mem": "mem",
}
_LSF_GPUS = late(r"[\"']?(?:.{0,80}[: ])?num=(\d{1,4})(?!/task|\d).{0,120}")
_SGE_GPUS = late(r"(?:.{0,120},)?(?:gpu|ngpus|num_gpu)=(\d{1,4})(?:,.{0,120})?")


def asked_of(sign: str, name: str, value: str) -> Iterator[tuple[str, str]]:
    """Give what a directive asks for, under the names of sbatch, as name and value."""
    if sign == "#PBS" and name == "l":
        yield from _pbs(value)
    elif sign == "#BSUB" and name == "gpu" and (found := _LSF_GPUS.fullmatch(value)) is not None:
        yield "gpus_per_node", found[1]
    elif sign == "#BSUB" and name == "nnodes":
        yield "nnodes", value
    elif sign == "#$" and name == "l" and (found := _SGE_GPUS.fullmatch(value)) is not None:
        yield "gpus_per_node", found[1]


def _pbs(value: str) -> Iterator[tuple[str, str]]:
    """Read `select=2:ncpus=64:ngpus=8:mem=500gb` and `nodes=2:ppn=8:gpus=4`; one chunk only."""
    if "+" in value:  # chunks that differ
        return
    for part in value.replace(",", ":").split(":"):
        name, _, amount = part.partition("=")
        if name in _PBS and amount:
            yield _PBS[name], amount
