"""What commands that show a machine, its cards, its scheduler print is read as facts."""

from __future__ import annotations

import pytest

from trainrx.evidence.readers import read_evidence
from trainrx.inputs.recognise import recognise
from trainrx.model.facts import Facts, Scalar
from trainrx.model.job import Input, InputKind

FREE = """              total        used        free      shared  buff/cache   available
Mem:{}{}           1           2           3{}
Swap:             0           0           0
"""
DF = """Filesystem      Size  Used Avail Use% Mounted on
overlay         1.8T  1.1T  700G  62% /
/dev/loop4       64M   64M     0 100% /snap/core20/2318
tmpfs            64M   64M     0 100% /dev/shm
/dev/nvme0n1    3.5T  3.5T     0 100% /data
"""
DF_BLOCKS = """Filesystem     1K-blocks      Used Available Use% Mounted on
tmpfs           16777216   1677722  15099494  10% /dev/shm
"""
DF_INODES = """Filesystem        Inodes   IUsed IFree IUse% Mounted on
/dev/nvme0n1p1  23437312 23437312    0  100% /home
"""
ULIMIT = """core file size          (blocks, -c) 0
max locked memory       (kbytes, -l) 64
open files                      (-n) 1024
max user processes              (-u) 4096
virtual memory          (kbytes, -v) unlimited
"""
PROC_LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max processes             63000                63000                processes
Max open files            1048576              1048576              files
Max locked memory         67108864             67108864             bytes
Max address space         unlimited            unlimited            bytes
"""
SACCT = """\
JobID           JobName  Partition    Account  AllocCPUS      State ExitCode     MaxRSS     ReqMem
------------ ---------- ---------- ---------- ---------- ---------- -------- ---------- ----------
712233          sft-72b        gpu       team        128 OUT_OF_ME+    0:125                  500G
712233.batch      batch                  team        128 OUT_OF_ME+    0:125 523000000K
712233.0       torchrun                  team        128 OUT_OF_ME+    0:125 120000000K
"""
SACCT_PIPES = """JobID|JobName|State|ExitCode|MaxRSS|ReqMem|AllocCPUS
712233|sft|FAILED|1:0||4Gc|8
712233.batch|batch|FAILED|1:0|16G||8
"""
SEVERAL_JOBS = SACCT_PIPES + "712240|sft|FAILED|2:0||8G|8\n"
SCONTROL = """JobId=712233 JobName=sft-72b
   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:9
   MinCPUsNode=4 MinMemoryNode=500G MinTmpDiskNode=0
   Command=/home/u/run.sh
"""
POD = """Name:             train-worker-0
Containers:
  pytorch:
    State:          Running
      Started:      Thu, 20 Nov 2025 10:10:10 +0000
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Restart Count:  3
    Limits:
      memory:          64Gi
      nvidia.com/gpu:  8
    Requests:
      memory:          32Gi
    Mounts:
      /dev/shm from dshm (rw)
Volumes:
  cache:
    Type:        EmptyDir
    Medium:      Memory
    SizeLimit:   2Gi
  dshm:
    Type:        EmptyDir
    Medium:      Memory
    SizeLimit:   16Gi
"""
SMI = """| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|=========================================+========================+======================|
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |
| N/A   34C    P0             68W /  400W |   71403MiB /  81920MiB |    100%      Default |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:0A:00.0 Off |                    2 |
| N/A   34C    P0             68W /  400W |   61403MiB /  81920MiB |      0%      Default |
+-----------------------------------------+------------------------+----------------------+
|   2  NVIDIA A100-SXM4-80GB          On  |   00000000:0B:00.0 Off |                 ERR! |
| ERR!  ERR!   ERR!          N/A /  N/A   |   61403MiB /  81920MiB |    100%      Default |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|    0   N/A  N/A      2342      C   python                                      41000MiB |
|    0   N/A  N/A      2399      C   VLLM::EngineCore                            30000MiB |
|    1   N/A  N/A      2343      C   python                                      61400MiB |
"""
SMI_QUERY = """==============NVSMI LOG==============
Attached GPUs                             : 1
GPU 00000000:07:00.0
    FB Memory Usage
        Used                              : 71403 MiB
    Utilization
        Gpu                               : 100 %
    ECC Errors
        Volatile
            DRAM Correctable              : 7
            DRAM Uncorrectable            : 2
        Aggregate
            DRAM Uncorrectable            : 9
    Remapped Rows
        Pending                           : Yes
        Remapping Failure Occurred        : No
"""
SMI_CSV = """index, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%]
0, NVIDIA A100-SXM4-80GB, 71403 MiB, 81920 MiB, 100 %
1, NVIDIA A100-SXM4-80GB, 61403 MiB, 81920 MiB, 0 %
2, NVIDIA A100-SXM4-80GB, 3 MiB, 81920 MiB, 0 %
"""


NPU = """\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 92.4        46                0    / 0             |
| 0                         | 0000:C1:00.0  | 95          0    / 0          53390/ 65536         |
+===========================+===============+====================================================+
| 1     910B3               | OK            | 92.4        46                0    / 0             |
| 0                         | 0000:01:00.0  | 0           0    / 0          43390/ 65536         |
+===========================+===============+====================================================+
| 2     910B3               | Critical      | 92.4        46                0    / 0             |
| 0                         | 0000:C2:00.0  | 0           0    / 0          3 / 65536            |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 1234          | python                   | 50000                   |
| 0       0                 | 1250          | python                   | 3390                    |
| 1       0                 | 1235          | python                   | 43390                   |
"""
ROCM = """\
Device  Node  IDs              Temp        Power     Partitions    SCLK    Fan  PwrCap  VRAM%  GPU%
              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)
==================================================================================================
0       2     0x74a1,   28851  45.0°C      140.0W    NPS1, SPX, 0  132Mhz  0%   750.0W  80%    100%
1       3     0x74a1,   51499  42.0°C      139.0W    NPS1, SPX, 0  132Mhz  0%   750.0W  71%    0%
2       4     0x74a1,   51500  42.0°C      139.0W    NPS1, SPX, 0  132Mhz  0%   750.0W  0%     0%
==================================================================================================
"""


RECOVERY = """==============NVSMI LOG==============
Attached GPUs                             : 1
GPU 00000000:07:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    GPU Reset Status
        Reset Required                    : {required}
        Drain and Reset Recommended       : No
    GPU Recovery Action                   : {action}
    Retired Pages
        Single Bit ECC                    : 0
        Double Bit ECC                    : 1
        Pending Page Blacklist            : {pending}
"""


@pytest.mark.parametrize(
    ("required", "action", "pending", "expected"),
    [
        ("No", "None", "No", {}),
        ("N/A", "Reboot", "N/A", {"gpu.recovery_action": "Reboot"}),
        ("Yes", "None", "No", {"gpu.recovery_action": "Reset"}),
        ("No", "None", "Yes", {"gpu.memory_needs_reset": True}),
    ],
)
def test_a_query_says_what_recovers_a_card(
    required: str, action: str, pending: str, expected: dict[str, object]
) -> None:
    assert said(RECOVERY.format(required=required, action=action, pending=pending)) == expected


def said(text: str, kind: InputKind = "log") -> dict[str, Scalar | None]:
    found = read_evidence([Input(kind=kind, name="out.txt", text=text)])

    return {item.kind: item.value for item in Facts(found.facts)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            FREE.format("     527433728", "   500000000", "    3145728"),
            {"hardware.host_ram_gib": 503.0, "host.available_gib": 3.0},
        ),
        (
            FREE.format("     503Gi", "   480Gi", "    512Mi"),
            {"hardware.host_ram_gib": 503.0, "host.available_gib": 0.5},
        ),
        (
            FREE.format("     503", "   480", "    3"),
            {"hardware.host_ram_gib": 503.0, "host.available_gib": 3.0},
        ),
        (
            "MemTotal:       527433728 kB\nMemFree: 1 kB\nMemAvailable:    3145728 kB\n",
            {"hardware.host_ram_gib": 503.0, "host.available_gib": 3.0},
        ),
        ("low 0\nhigh 0\nmax 12034\noom 3\noom_kill 2\n", {"cgroup.oom_kills": 2}),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.\n", {}),
        (DF, {"hardware.shm_gib": 0.062, "shm.used_share": 1.0, "disk.full": "/data"}),
        (DF_BLOCKS, {"hardware.shm_gib": 16.0, "shm.used_share": 0.1}),
        (DF_INODES, {"disk.full": "/home"}),
        (
            ULIMIT,
            {
                "limit.locked_memory_gib": 0.000061,
                "limit.open_files": 1024,
                "limit.processes": 4096,
                "limit.address_space_gib": 1048576.0,
            },
        ),
        (
            PROC_LIMITS,
            {
                "limit.processes": 63000,
                "limit.open_files": 1048576,
                "limit.locked_memory_gib": 0.0625,
                "limit.address_space_gib": 1048576.0,
            },
        ),
        (
            SACCT,
            {
                "slurm.max_rss_gib": 498.77,
                "slurm.memory_share": 0.998,
                "cgroup.limit_gib": 500.0,
            },
        ),
        (
            SACCT_PIPES,
            {
                "slurm.max_rss_gib": 16.0,
                "slurm.memory_share": 0.5,
                "cgroup.limit_gib": 32.0,
                "exit.code": 1,
            },
        ),
        (SEVERAL_JOBS, {}),
        (SCONTROL, {"exit.code": -9, "cgroup.limit_gib": 500.0}),
        (POD, {"exit.code": 137, "cgroup.limit_gib": 64.0, "hardware.shm_gib": 16.0}),
        (
            SMI,
            {
                "gpu.uncorrected_errors": 2,
                "gpu.unreadable": "2",
                "gpu.idle_among_busy": "1",
                "gpu.processes_on_a_card": 2,
            },
        ),
        (SMI_QUERY, {"gpu.uncorrected_errors": 2, "gpu.memory_needs_reset": True}),
        (SMI_CSV, {"gpu.idle_among_busy": "1"}),
        (
            NPU,
            {
                "gpu.unreadable": "2",
                "gpu.idle_among_busy": "1",
                "gpu.processes_on_a_card": 2,
            },
        ),
        (ROCM, {"gpu.idle_among_busy": "1"}),
    ],
)
def test_what_a_command_prints_becomes_facts(text: str, expected: dict[str, Scalar]) -> None:
    assert said(text) == expected
    assert said("step 1 loss 2.0\n" * 100 + text) == expected


def test_of_a_command_that_is_repeated_the_last_counts() -> None:
    before, after = (SMI_CSV.replace("61403", size) for size in ("3", "61403"))

    assert said(before) == {}
    assert said(before + after) == {"gpu.idle_among_busy": "1"}
    assert said("max 1\noom_kill 0\n" + "step 1\n" + "max 9\noom_kill 4\n") == {
        "cgroup.oom_kills": 4
    }


def test_a_fact_cites_the_line_that_shows_it() -> None:
    found = read_evidence([Input(kind="log", name="out.txt", text="start\n" + DF)])

    cited = {item.kind: item.origins[0].line for item in found.facts}
    assert cited == {"hardware.shm_gib": 5, "shm.used_share": 5, "disk.full": 6}


def test_the_table_of_cards_is_read_where_it_was_given_for_its_versions() -> None:
    assert recognise(SMI) == "versions"
    assert said(SMI, "versions")["gpu.idle_among_busy"] == "1"


def test_what_scontrol_shows_is_no_list_of_variables() -> None:
    assert recognise(SCONTROL) == "log"
