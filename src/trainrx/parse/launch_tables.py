"""Options of wrappers and launchers, as far as reading past them needs."""

from __future__ import annotations

WRAPPERS: dict[str, frozenset[str]] = {
    "nohup": frozenset(),
    "time": frozenset({"-f", "-o", "--format", "--output"}),
    "setsid": frozenset(),
    "coproc": frozenset(),
    "unbuffer": frozenset(),
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "--user", "--group"}),
    "env": frozenset({"-u", "-C", "-S", "--unset", "--chdir"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n", "-p"}),
    "chrt": frozenset(),
    "taskset": frozenset(),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "numactl": frozenset({"-m", "-N", "-C", "-i", "-p"}),
    "flock": frozenset({"-w", "--timeout"}),
    "screen": frozenset({"-S", "-L"}),
    "conda": frozenset({"-n", "--name", "-p", "--prefix", "--cwd"}),
    "mamba": frozenset({"-n", "--name", "-p", "--prefix"}),
    "micromamba": frozenset({"-n", "--name", "-p", "--prefix"}),
    "uv": frozenset({"--with", "--python", "-p", "--extra", "--group", "--project", "--directory"}),
    "poetry": frozenset({"-C", "--directory"}),
    "pdm": frozenset({"-p"}),
    "pipenv": frozenset(),
    "rye": frozenset(),
    "pixi": frozenset({"-e", "--environment"}),
    "singularity": frozenset({"-B", "--bind", "--env", "--pwd", "-W", "-H", "--home"}),
    "apptainer": frozenset({"-B", "--bind", "--env", "--pwd", "-W", "-H", "--home"}),
    "docker": frozenset(
        {"--name", "-v", "--volume", "-e", "--env", "--gpus", "--shm-size", "-w", "--workdir"}
        | {"--ipc", "--network", "--net", "-u", "--user", "-p", "--mount", "--ulimit", "--runtime"}
    ),
    "nsys": frozenset({"-o", "-t", "-w", "-s", "--output", "--trace"}),
    "ncu": frozenset({"-o"}),
    "py-spy": frozenset({"-o", "-r", "-f"}),
    "strace": frozenset({"-o", "-e", "-p"}),
    "srun": frozenset(
        {"-n", "-N", "-p", "-w", "-J", "-c", "-t", "-A", "-G", "-o", "-e", "-q", "-x", "-D", "-C"}
        | {"--nodes", "--ntasks", "--ntasks-per-node", "--gres", "--gpus", "--gpus-per-node"}
        | {"--nodelist", "--partition", "--job-name", "--cpus-per-task", "--time", "--account"}
        | {"--output", "--error", "--qos", "--exclude", "--mem", "--jobid", "--container-image"}
        | {"--container-mounts", "--export", "--mpi", "--cpu-bind", "--chdir", "--constraint"}
    ),
    "mpirun": frozenset({"-np", "-n", "--np", "-H", "--host", "-host", "--hostfile", "-hostfile"}),
}
"""Wrapper and those of its options that take the next word."""

MPI_OPTIONS = frozenset({"--bind-to", "--map-by", "-x", "-machinefile", "-ppn", "-npernode"})
TWO_VALUES = frozenset({"--mca", "-mca", "-genv"})
ALIASES = {"mpiexec": "mpirun", "podman": "docker", "nerdctl": "docker", "gtime": "time"}
WITH_OPERAND = frozenset({"timeout", "taskset", "flock", "chrt"})
"""Wrappers with one operand of their own in front of the command."""

LAUNCHER_FLAGS: dict[str, frozenset[str]] = {
    "torchrun": frozenset({"standalone", "use_env", "no_python", "m", "module", "run_path"}),
    "accelerate": frozenset(
        {"m", "module", "no_python", "multi_gpu", "cpu", "mps", "tpu", "use_deepspeed", "use_fsdp"}
        | {"use_megatron_lm", "use_parallelism_config", "debug", "q", "quiet", "same_network"}
        | {"downcast_bf16", "use_xpu", "enable_cpu_affinity", "tpu_cluster", "no_tpu_cluster"}
        | {"ipex", "dynamo_use_fullgraph", "dynamo_use_dynamic", "use_cpu"}
    ),
    "deepspeed": frozenset(
        {"module", "no_python", "no_local_rank", "no_ssh", "no_ssh_check", "save_pid"}
        | {"force_multi", "elastic_training", "bind_cores_to_rank", "m"}
    ),
}
"""Options of launchers that take no value; all others take one."""

LAUNCHER_NAMES = {
    "num_nodes": "nnodes",
    "machine_rank": "node_rank",
    "main_process_ip": "master_addr",
    "main_process_port": "master_port",
    "i": "include",
    "e": "exclude",
    "H": "hostfile",
    "N": "nnodes",
    "nodes": "nnodes",
    "n": "ntasks",
    "np": "num_processes",
}
LAUNCHER_MODULES = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
    "torch.distributed.launcher": "torchrun",
}
