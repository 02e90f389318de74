"""What starts a program on several machines: srun, sbatch, mpirun, Ray jobs.

https://slurm.schedmd.com/srun.html
https://slurm.schedmd.com/gres.html
https://docs.ray.io/en/latest/cluster/running-applications/job-submission/cli.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from trainrx.launchers.allocation import SLURM
from trainrx.launchers.batch import PREFIXES, asked_of
from trainrx.launchers.front import Front, LauncherOption, read_options
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg, RawLaunch, Word
from trainrx.model.pattern import late

_SRUN = frozenset(
    {
        "-A", "-B", "-C", "-D", "-G", "-J", "-L", "-M", "-N", "-S", "-T", "-W", "-c", "-d", "-e",
        "-i", "-m", "-n", "-o", "-p", "-q", "-r", "-t", "-w", "-x", "-a",
        "--account", "--array", "--begin", "--chdir", "--cluster-constraint", "--clusters",
        "--comment", "--constraint", "--container", "--container-env", "--container-image",
        "--container-mount-home", "--container-mounts", "--container-name", "--container-workdir",
        "--cpu-bind", "--cpus-per-gpu", "--cpus-per-task", "--dependency", "--distribution",
        "--error", "--exclude", "--export", "--gpu-bind", "--gpu-freq", "--gpus",
        "--gpus-per-node", "--gpus-per-task", "--gres", "--gres-flags", "--het-group", "--hint",
        "--input", "--jobid", "--job-name", "--kill-on-bad-exit", "--licenses", "--mail-type",
        "--mail-user", "--mem", "--mem-bind", "--mem-per-cpu", "--mem-per-gpu", "--mpi",
        "--network", "--nodelist", "--nodes", "--ntasks", "--ntasks-per-gpu", "--ntasks-per-node",
        "--ntasks-per-socket", "--open-mode", "--output", "--partition", "--prolog", "--qos",
        "--relative", "--reservation", "--signal", "--switches", "--task-epilog", "--task-prolog",
        "--threads-per-core", "--time", "--tmp", "--wait", "--wckey", "--wrap", "--async",
    }
)  # fmt: skip
_SLURM_NAMES = {
    "N": "nnodes", "nodes": "nnodes", "n": "ntasks", "c": "cpus_per_task", "G": "gpus",
    "w": "nodelist", "p": "partition", "x": "exclude", "t": "time", "q": "qos", "J": "job_name",
    "A": "account", "C": "constraint", "o": "output", "e": "error", "D": "chdir",
    "tasks_per_node": "ntasks_per_node",
}  # fmt: skip
_SLURM_KEPT = frozenset(
    {"nnodes", "ntasks", "ntasks_per_node", "ntasks_per_gpu", "gres", "gpus", "gpus_per_node"}
    | {"gpus_per_task", "cpus_per_task", "cpus_per_gpu", "mem", "mem_per_cpu", "mem_per_gpu"}
    | {"nodelist", "exclusive", "time", "constraint"}
)
_MPIRUN = frozenset(
    {"-np", "-n", "-c", "--np", "-N", "-npernode", "--npernode", "-ppn", "-H", "--host", "-host"}
    | {"--hostfile", "-hostfile", "-machinefile", "--machinefile", "-f", "-x", "--bind-to"}
    | {"-bind-to", "--map-by", "-map-by", "--rank-by", "-wdir", "--wdir", "--prefix", "--rankfile"}
    | {"--report-bindings-to", "-p", "--ssh-port", "-l", "--timeout", "--output-filename"}
)
_MPIRUN_PAIRS = frozenset({"--mca", "-mca", "-genv", "-env", "--gmca"})
_MPI_NAMES = {
    "np": "num_processes",
    "n": "num_processes",
    "c": "num_processes",
    "N": "nproc_per_node",
    "npernode": "nproc_per_node",
    "ppn": "nproc_per_node",
    "H": "host",
    "machinefile": "hostfile",
}
_RAY = frozenset(
    {"--address", "--submission-id", "--job-id", "--runtime-env", "--runtime-env-json"}
    | {
        "--metadata-json",
        "--working-dir",
        "--entrypoint-num-cpus",
        "--entrypoint-num-gpus",
        "--entrypoint-memory",
    }
    | {"--entrypoint-resources", "--entrypoint-label-selector", "--log-style", "--log-color"}
    | {"--verify", "--headers", "--py-modules", "--pip", "--conda"}
)
_PARTS = ("#SBATCH hetjob", "#SBATCH packjob")
_MAX_JSON = 64 * 1024
_GPU_OPTIONS = ("gpus", "gpus_per_node", "gpus_per_task")
_CARD = r"(?P<card>[A-Za-z][\w.-]{0,40})"
_GRES = late(rf"(?:.{{0,200}},)?(?:gres/)?gpu:{_CARD}(?:[:=]\d{{1,4}})?(?:\(.{{0,40}}\))?(?:,.*)?")
_COUNTED_CARD = late(rf"{_CARD}:\d{{1,6}}")
_CARD_WORD = late(_CARD)


def enter_srun(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read the options of srun; give the command it starts on every task."""
    options, rest = read_options(words, _SRUN)
    for option in options:
        if option.key == "export":
            _export(option, front)
        elif option.key in ("D", "chdir"):
            front.enter(option)
        elif option.key == "container_workdir":
            front.folder = option.value
        elif option.key.startswith("container"):
            # not under the names of docker: the container shares /dev/shm with its host
            front.enclose(option.key, option.given, option.word)
        else:
            name = _SLURM_NAMES.get(option.key, option.key)
            if name in _SLURM_KEPT:
                front.keep(name, option.given, option.word)
    _count_nodes(front, {option.key: option for option in options})
    given_names = {item.name for item in front.launcher}
    kept = given_names | _only_a_limit(front)
    front.launcher += [item for item in front.allocation if item.name not in kept]
    # a step on one node of a larger job: the others have theirs
    front.container += [
        msgspec.structs.replace(item, name=f"{SLURM}{item.name}")
        for item in front.allocation
        if item.name in given_names and item.name == "nnodes"
    ]
    front.allocated = True
    return rest


def _only_a_limit(front: Front) -> frozenset[str]:
    """Name the job's tasks of a node where srun itself says how many tasks there are in all.

    They are the most a node takes then, unless both come to the same.
    https://slurm.schedmd.com/srun.html: --ntasks takes precedence over --ntasks-per-node.
    """
    told = {item.name: item.values for item in (*front.allocation, *front.launcher)}
    if not any(item.name == "ntasks" for item in front.launcher):
        return frozenset()
    texts = [(told.get(name) or ("",))[-1] for name in ("ntasks", "nnodes", "ntasks_per_node")]
    if all(text.isdecimal() and len(text) < 7 for text in texts):
        total, nodes, each = map(int, texts)
        if total == nodes * each:
            return frozenset()
    return frozenset({"ntasks_per_node"})


def _count_nodes(front: Front, options: Mapping[str, LauncherOption]) -> None:
    """Work the nodes out of all tasks and those of a node, where neither says more.

    https://slurm.schedmd.com/srun.html: -N defaults to what the tasks need.
    """
    told = {item.name for item in (*front.launcher, *front.allocation)}
    total = options.get("n") or options.get("ntasks")
    each = options.get("ntasks-per-node") or options.get("ntasks_per_node")
    counts = [item.value for item in (total, each) if item is not None]
    if "nnodes" in told or total is None or len(counts) < 2:
        return
    texts = [text for text in counts if text and text.isdecimal() and len(text) < 7]
    if len(texts) == 2 and int(texts[1]):
        front.keep("nnodes", (str(-(-int(texts[0]) // int(texts[1]))),), total.word)


def wrapped_by_sbatch(words: tuple[Word, ...], front: Front) -> Word | None:
    """Give the command line of `sbatch --wrap`, and keep what sbatch was told."""
    options, _ = read_options(words, _SRUN)
    wrapped = None
    for option in options:
        if option.key == "wrap" and option.value:
            wrapped = msgspec.structs.replace(option.value_word, text=option.value)
        elif option.key == "export":
            _export(option, front)
        elif option.key in ("D", "chdir"):
            front.enter(option)
        else:
            name = _SLURM_NAMES.get(option.key, option.key)
            if name in _SLURM_KEPT:
                front.enclose(f"{SLURM}{name}", option.given, option.word)
    return wrapped


def enter_sbatch(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read the options in front of what the script does that sbatch was given."""
    options, rest = read_options(words, _SRUN)
    asked = {item.name: item for item in front.allocation}
    for option in options:
        name = _SLURM_NAMES.get(option.key, option.key)
        if option.key == "export":
            _export(option, front)
        elif name == "chdir":
            front.enter(option)
        elif name in _SLURM_KEPT:
            asked[name] = front.argument(name, option.given, option.word)
    front.allocation = tuple(asked.values())
    return rest


def _export(option: LauncherOption, front: Front) -> None:
    """Read `--export=ALL,A=1`: without ALL nothing else of the environment is handed on."""
    items = (option.value or "").split(",")
    if "ALL" not in items and option.value and not option.value_word.unknown:
        front.clear()
        front.passed.add("SLURM_*")
    for item in items:
        if item not in ("ALL", "NONE", "NIL"):
            front.set(item, option.value_word)


def directive_args(
    directives: tuple[tuple[str, str, int], ...], source: str, lines: list[str]
) -> tuple[RawArg, ...]:
    """Give what the directives of a script ask for: `#SBATCH` lines under the names of srun."""
    found: dict[str, RawArg] = {}
    # of a heterogeneous job each part has lines of its own: none of them is of all
    if any(line.startswith(_PARTS) for line in lines):
        return ()
    for name, value, line in directives:
        text = lines[line - 1].strip() if 0 < line <= len(lines) else f"{name} {value}"
        origin = Origin(source=source, line=line, text=text)
        for key, asked in _asked(name, value, text):
            found[key] = RawArg(name=key, values=(asked,) if asked else (), origin=origin)
    return tuple(found.values())


def _asked(name: str, value: str, text: str) -> Iterator[tuple[str, str]]:
    sign = text.partition(" ")[0]
    if sign in PREFIXES:
        yield from (
            (f"{PREFIXES[sign]}{key}", asked)
            for key, asked in asked_of(sign, name.replace("-", "_"), value)
        )
        return
    key = name.replace("-", "_")
    key = _SLURM_NAMES.get(key, key)
    if key in _SLURM_KEPT:
        yield key, value


def enter_mpirun(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read the options of mpirun, mpiexec or horovodrun; give the command it starts."""
    options, rest = read_options(words, _MPIRUN, _MPIRUN_PAIRS)
    for option in options:
        if option.key == "x" and option.value:
            front.set(option.value, option.value_word)
        elif option.key in ("genv", "env") and option.value:
            front.set("=".join(option.value.split(" ", 1)), option.value_word)
        elif option.key in ("mca", "gmca"):
            continue
        elif option.key == "wdir":
            front.enter(option)
        elif option.key == "map_by" and (per := re.match(r"ppr:(\d+):node", option.value or "")):
            front.keep("nproc_per_node", (per[1],), option.word)
        else:
            front.keep(_MPI_NAMES.get(option.key, option.key), option.given, option.word)
    if not {"nnodes", "host"} & {item.name for item in front.launcher}:
        # without hosts of its own it takes those of the job
        front.launcher += [
            msgspec.structs.replace(item, name="nnodes")
            for item in front.allocation
            if item.name.endswith("nnodes")
        ]
    return rest


def enter_ray(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read `ray job submit`; give the command of the job."""
    if [word.text for word in words[:2]] != ["job", "submit"]:
        return ()
    options, rest = read_options(words[2:], _RAY)
    if not front.cite.script_has("ray start"):
        # the cluster runs already, with the cards it was started with
        front.removed.add("CUDA_VISIBLE_DEVICES")
    for option in options:
        if option.key == "runtime_env_json":
            _runtime_env(option, front)
        elif option.key == "working_dir":
            front.enter(option)
        elif option.key == "runtime_env":
            front.hidden_env = True
            front.enclose("runtime_env", option.given, option.word)
        elif option.key.startswith("entrypoint"):
            front.keep(option.key, option.given, option.word)
    return rest


def _runtime_env(option: LauncherOption, front: Front) -> None:
    text = option.value or ""
    try:
        found = msgspec.json.decode(text.encode()) if len(text) <= _MAX_JSON else None
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        found = None
    given = found.get("env_vars") if isinstance(found, dict) else None
    if found is None:
        front.hidden_env = True
    if not isinstance(given, dict):
        return
    origin = front.cite(option.value_word)
    for name, value in given.items():
        # a part of the text may be unknown: only values that show no variable are taken
        known = isinstance(value, str) and not (option.value_word.unknown and "$" in value)
        front.env.append(EnvVar(name=name, value=value if known else None, origin=origin))


def card_asked_for(launch: RawLaunch) -> tuple[str, Origin] | None:
    """Give the name of the card as a scheduler is told it, and where; None where none is named.

    A constraint comes last: its words name other things of a node as well.
    """
    asked: dict[str, tuple[str, Origin]] = {}
    for item in (*launch.container, *launch.launcher):
        if item.values:
            asked.setdefault(item.name.removeprefix(SLURM), (item.values[-1].strip(), item.origin))
    for name in ("gres", *_GPU_OPTIONS, "accelerator", "constraint"):
        text, origin = asked.get(name, ("", launch.origin))
        match = _card_pattern(name).fullmatch(text) if text else None
        if match is not None:
            return match["card"], origin
    return None


def _card_pattern(name: str) -> re.Pattern[str]:
    if name == "gres":
        return _GRES
    return _CARD_WORD if name in ("accelerator", "constraint") else _COUNTED_CARD
