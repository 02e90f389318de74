"""Options of wrappers and launchers, as far as reading past them needs."""

from __future__ import annotations

WRAPPERS: dict[str, frozenset[str]] = {
    "nohup": frozenset(),
    "time": frozenset({"-f", "-o", "--format", "--output"}),
    "setsid": frozenset(),
    "coproc": frozenset(),
    "unbuffer": frozenset(),
    "exec": frozenset({"-a"}),
    "command": frozenset(),
    "builtin": frozenset(),
    "sudo": frozenset(
        {"-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "--user", "--group"} | {"--chdir"}
    ),
    "env": frozenset({"-u", "-C", "-S", "--unset", "--chdir", "--split-string"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n", "-p"}),
    "chrt": frozenset(),
    "taskset": frozenset(),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "numactl": frozenset(
        {"-m", "-N", "-C", "-i", "-p", "-w", "--membind", "--cpunodebind", "--physcpubind"}
        | {"--interleave", "--preferred", "--localalloc"}
    ),
    "flock": frozenset({"-w", "--timeout", "-E"}),
    "screen": frozenset({"-S", "-L", "-Logfile", "-p", "-t", "-c"}),
    "conda": frozenset({"-n", "--name", "-p", "--prefix", "--cwd"}),
    "mamba": frozenset({"-n", "--name", "-p", "--prefix"}),
    "micromamba": frozenset({"-n", "--name", "-p", "--prefix", "-r"}),
    "uv": frozenset(
        {"--with", "--with-requirements", "--with-editable", "--python", "-p", "--extra", "--group"}
        | {"--project", "--directory", "--package", "--env-file", "--index-url", "--no-group"}
    ),
    "poetry": frozenset({"-C", "--directory", "-P", "--project"}),
    "pdm": frozenset({"-p"}),
    "pipenv": frozenset(),
    "rye": frozenset(),
    "hatch": frozenset({"-e", "--env"}),
    "pixi": frozenset({"-e", "--environment", "--manifest-path"}),
    "nsys": frozenset(
        {"-o", "-t", "-w", "-s", "-b", "-c", "-y", "-d", "--output", "--trace", "--delay"}
        | {
            "--duration",
            "--sample",
            "--capture-range",
            "--capture-range-end",
            "--gpu-metrics-device",
        }
    ),
    "ncu": frozenset({"-o", "-k", "-c", "-s", "--export", "--set", "--section", "--metrics"}),
    "rocprof": frozenset({"-i", "-o"}),
    "py-spy": frozenset({"-o", "-r", "-f", "-d", "--output", "--rate", "--format", "--duration"}),
    "viztracer": frozenset({"-o", "--output_file", "--tracer_entries"}),
    "memray": frozenset({"-o", "--output"}),
    "scalene": frozenset({"--outfile"}),
    "strace": frozenset({"-o", "-e", "-p"}),
    "gdb": frozenset({"-ex", "--ex", "-x"}),
    "compute-sanitizer": frozenset({"--tool", "--log-file"}),
    "xvfb-run": frozenset({"-n", "-s", "--server-args"}),
    "xargs": frozenset({"-n", "-P", "-I", "-L", "-d", "-a", "-s"}),
    "watch": frozenset({"-n", "--interval"}),
}
"""Wrapper and those of its options that take the next word."""

FOLDERS = {
    "env": ("C", "chdir"),
    "sudo": ("D", "chdir"),
    "uv": ("directory",),
    "poetry": ("C", "directory"),
    "conda": ("cwd",),
}
"""Options of wrappers that name the folder a program is started in."""
SUB_COMMANDS = {
    "conda": "run",
    "mamba": "run",
    "micromamba": "run",
    "uv": "run",
    "poetry": "run",
    "pdm": "run",
    "pipenv": "run",
    "rye": "run",
    "hatch": "run",
    "pixi": "run",
    "nsys": "profile",
    "py-spy": "record",
    "memray": "run",
}
"""Wrappers that start a program by a sub-command of theirs only."""

ALIASES = {
    "mpiexec": "mpirun",
    "horovodrun": "mpirun",
    "podman": "docker",
    "nerdctl": "docker",
    "nvidia-docker": "docker",
    "apptainer": "singularity",
    "oc": "kubectl",
    "gtime": "time",
    "doas": "sudo",
}
WITH_OPERAND = frozenset({"timeout", "taskset", "flock", "chrt"})
"""Wrappers with one operand of their own in front of the command."""

MODULE_WRAPPERS: dict[str, frozenset[str]] = {
    "cProfile": frozenset({"-o", "-s"}),
    "profile": frozenset({"-o", "-s"}),
    "pdb": frozenset({"-c"}),
    "debugpy": frozenset({"--listen", "--connect", "--log-to"}),
    "viztracer": frozenset({"-o"}),
    "scalene": frozenset({"--outfile"}),
    "memray": frozenset({"-o", "--output"}),
    "coverage": frozenset({"--rcfile", "--source"}),
    "torch.utils.bottleneck": frozenset(),
    "torch.backends.xeon.run_cpu": frozenset({"--ninstances", "--rank", "--ncores-per-instance"}),
}
"""Python modules that run another script, with their options that take the next word."""

LAUNCHER_FLAGS: dict[str, frozenset[str]] = {
    "torchrun": frozenset(
        {"standalone", "use_env", "no_python", "m", "module", "run_path", "virtual_local_rank"}
    ),
    "accelerate": frozenset(
        {"m", "module", "no_python", "multi_gpu", "cpu", "mps", "tpu", "use_deepspeed", "use_fsdp"}
        | {"use_megatron_lm", "use_parallelism_config", "debug", "q", "quiet", "same_network"}
        | {"downcast_bf16", "use_xpu", "enable_cpu_affinity", "tpu_cluster", "no_tpu_cluster"}
        | {"ipex", "dynamo_use_fullgraph", "dynamo_use_dynamic", "use_cpu", "use_mps_device"}
        | {"dynamo_use_regional_compilation", "tpu_use_sudo", "fp8_use_autocast_during_eval"}
        | {"fp16"}
    ),
    "deepspeed": frozenset(
        {"module", "no_python", "no_local_rank", "no_ssh", "no_ssh_check", "save_pid", "q", "quiet"}
        | {"force_multi", "elastic_training", "bind_cores_to_rank", "m"}
    ),
}
"""Options of launchers that take no value; all others take one."""

LAUNCHER_NAMES = {
    "num_nodes": "nnodes",
    "machine_rank": "node_rank",
    "main_process_ip": "master_addr",
    "main_process_port": "master_port",
    "num_accelerators": "num_gpus",
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
    "torch.distributed.launcher": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
    "deepspeed": "deepspeed",
}
