"""What says how cards are linked and whether they are well, and what a Ray cluster lacks.

Samples: NVIDIA/nccl issue 933 and noonghunna/club-3090 issue 1229 (topo -m), NVIDIA/go-dcgm issue
52 and NVIDIA/DCGM issue 253 (dcgmi diag; a failure put in), NVIDIA/dcgm-exporter issue 317,
gpustack issue 5509 and ray-project/ray issue 42683 (ray status).
"""

from __future__ import annotations

import pytest

from trainrx.evidence.readers import Source, as_evidence, read_evidence, readers
from trainrx.model.facts import Facts
from trainrx.model.job import Input

NVLINK = """\
        GPU0    GPU1    NIC0    NIC1    CPU Affinity    NUMA Affinity
GPU0     X      NV8     NODE    SYS     0-47,96-143     0
GPU1    NV8      X      NODE    SYS     0-47,96-143     0
NIC0    NODE    NODE     X      SYS
NIC1    SYS     SYS     SYS      X

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes
"""
BRIDGE = """\
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID
GPU0\t X \tPHB\t0-63\t0\t\tN/A
GPU1\tPHB\t X \t0-63\t0\t\tN/A
"""
SOCKETS = NVLINK.replace("GPU1    NV8 ", "GPU1    SYS ").replace("X      NV8", "X      SYS")
RULE = "+---------------------------+------------------------------------------------+\n"
DIAG = (
    RULE
    + """\
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 4.2.3                                          |
|-----  Deployment  --------+------------------------------------------------|
| Persistence Mode          | Fail                                           |
+-----  Hardware  ----------+------------------------------------------------+
| memory                    | {memory}                                           |
|                           | GPU0: {memory}                                     |
| Warning: GPU0             | a test word Fail stands here                   |
"""
    + RULE
)
HEALTH = """\
+---------------------------+----------------------------------------------------------+
| Health Monitor Report                                                                |
+===========================+==========================================================+
| Overall Health            | {}                                                  |
"""
EXPORTER = """\
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{{gpu="0",UUID="GPU-b9f9e81b",device="nvidia0",modelName="NVIDIA A30"}} {}
"""
RAY = """\
======== Autoscaler status: 2026-06-07 18:12:41.350749 ========
Node status
---------------------------------------------------------------
Active:
 1 node_2e3ec40e7fbb6c864ff45c8a2e1e5c98c2003d31f952721b788c874b
Pending:
 (no pending nodes)

Resources
---------------------------------------------------------------
Total Usage:
 0.0/34.0 CPU
 {used} GPU
 0B/136.89GiB memory

From request_resources:
 (none)
Pending Demands:
 {demand}
"""


def said(text: str, name: str = "out.txt") -> dict[str, object]:
    found = read_evidence([Input(kind="log", name=name, text=text)])
    return {item.kind: item.value for item in Facts(found.facts)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NVLINK, {"gpu.slowest_link": "NVLink"}),
        (BRIDGE, {"gpu.slowest_link": "PHB"}),
        (SOCKETS, {"gpu.slowest_link": "SYS"}),
        (DIAG.format(memory="Fail"), {"gpu.diagnostic_failed": "memory"}),
        (DIAG.format(memory="Pass"), {}),
        (HEALTH.format("Failure"), {"gpu.diagnostic_failed": "health"}),
        (HEALTH.format("Healthy"), {}),
        (EXPORTER.format(79), {"gpu.last_xid": 79}),
        (EXPORTER.format(0), {}),
        (
            RAY.format(
                used="0.0/1.0", demand="{'GPU': 1.0} * 2 (PACK): 1+ pending placement groups"
            ),
            {"ray.gpus_lacking": 1.0},
        ),
        (
            RAY.format(
                used="0.9999999999999999/4.0",
                demand="{'GPU': 0.9}: 1+ pending tasks/actors (1+ using placement groups)",
            ),
            {},
        ),
        (
            RAY.format(
                used="0.0/16.0",
                demand="{'GPU': 8.0, 'CPU': 64.0} * 3 (STRICT_SPREAD): 1+ pending placement groups",
            ),
            {"ray.gpus_lacking": 8.0},
        ),
        (RAY.format(used="8.0/8.0", demand="(no resource demands)"), {}),
        ("NUMA and CPU Affinity are set for GPU0 by SYS\n", {}),
        ("| Overall Health of the cluster | Failure |\n", {}),
    ],
)
def test_what_is_printed_becomes_facts_of_its_lines(text: str, expected: dict[str, object]) -> None:
    assert said(text) == expected
    assert said("step 1 loss 2.0\n" * 50 + text + "done\n") == expected


def test_a_fact_cites_the_line_that_shows_it() -> None:
    (found,) = read_evidence([Input(kind="log", name="o", text="a\n" + SOCKETS)]).facts

    assert found.origins[0].line == 3
    assert found.origins[0].text.startswith("GPU0")


SAMPLES = (NVLINK, DIAG, HEALTH, EXPORTER, RAY)


@pytest.mark.parametrize("text", SAMPLES)
def test_cut_or_garbled_samples_are_read_without_an_error(text: str) -> None:
    data = text.encode()
    for end in range(0, len(data), 37):
        garbled = data[:end] + b"\xff\x00" + data[end + 3 :]
        for piece in (data[:end], garbled):
            as_evidence(Input(kind="log", name="x", data=piece))
            for reader in readers().values():
                reader.read(piece, Source("x"))
