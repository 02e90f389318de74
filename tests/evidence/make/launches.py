"""How each small job is started: by torchrun, or rank for rank where torchrun would not do it."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
RANKS = 3
TIMEOUT = 45
"""Seconds after which a collective is given up."""
MEMORY = Path("/sys/fs/cgroup/memory/small-job")
LIMITS = {"loader-memory-grows": 1600 << 20, "host-memory-used-up": 1600 << 20}
"""Bytes of memory a job is given, by a control group."""
RANK_BY_RANK = {
    "rank-never-starts": ("export MASTER_ADDR=127.0.0.1 MASTER_PORT={port} WORLD_SIZE=4", ""),
    "wrong-port": (
        "export MASTER_ADDR=127.0.0.1 WORLD_SIZE=3",
        "[ $RANK = 2 ] && export MASTER_PORT={other} || export MASTER_PORT={port}",
    ),
    "wrong-address": (
        "export MASTER_PORT={port} WORLD_SIZE=3",
        "[ $RANK = 2 ] && export MASTER_ADDR=node-0.train.local || export MASTER_ADDR=127.0.0.1",
    ),
}
ALL_IN_ONE = "torchrun --nproc-per-node 3 --tee 3 --log-dir logs{more} train.py > train.log 2>&1"
APART = (
    "torchrun --nproc-per-node 3 --redirects 3 --log-dir logs{more} train.py > torchrun.log 2>&1"
)
ONE_BY_ONE = """{shared}
mkdir -p logs
for RANK in 0 1 2; do
  export RANK LOCAL_RANK=$RANK
  {each}
  python train.py > logs/rank$RANK.log 2>&1 &
done
wait
"""


DETAIL = ("shape-differs", "other-collective")
"""Jobs whose ranks compare their calls, as PyTorch does when it is asked to."""


class Launch(NamedTuple):
    """The script that starts a job, as its user would write it."""

    text: str
    port: int


def launch_of(name: str, *, apart: bool) -> Launch:
    """Write the script of a job; `apart`: what ranks print goes into files of their own."""
    port = free_port()
    if name in RANK_BY_RANK:
        shared, each = (text.format(port=port, other=port + 1) for text in RANK_BY_RANK[name])
        body = ONE_BY_ONE.format(shared=shared, each=each).replace("  \n", "")
    else:
        more = f" --master-port {port}" if name == "port-taken" else ""
        body = (APART if apart else ALL_IN_ONE).format(more=more) + "\n"
    # with both, ranks of torch 2.13 over gloo end in a segmentation fault
    watched = f"TORCH_FR_BUFFER_SIZE={0 if name in DETAIL else 2000}"
    watched += " TORCH_DISTRIBUTED_DEBUG=DETAIL" if name in DETAIL else ""
    head = f"#!/bin/bash\nexport OMP_NUM_THREADS=1 {watched}\n"
    return Launch(head + body, port)


def start(name: str, launch: Launch, python: str, home: Path) -> subprocess.Popen[bytes]:
    """Start a job in a folder of its own."""
    (home / "launch.sh").write_text(launch.text)
    real = home / "run.sh"
    text = launch.text.replace("torchrun ", f"{python} -m torch.distributed.run ")
    text = text.replace("python train.py", f"{python} train.py").replace(
        "train.py", str(HERE / "train.py")
    )
    group = f"echo $$ > {_limited(LIMITS[name])}/cgroup.procs\n" if name in LIMITS else ""
    real.write_text(text.replace("#!/bin/bash\n", f"#!/bin/bash\n{group}"))
    env = {**os.environ, "STUCK_HOME": str(home), "STUCK_AS": name, "HF_HOME": str(home)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["STUCK_TIMEOUT"] = str(TIMEOUT)
    return subprocess.Popen(
        ["bash", str(real)],
        cwd=home,
        env=env,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def _limited(most: int) -> Path:
    MEMORY.mkdir(exist_ok=True)
    (MEMORY / "memory.limit_in_bytes").write_text(str(most))
    return MEMORY


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
