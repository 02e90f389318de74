"""torchrun and its like, and which launches of a script are one job on several nodes."""

from __future__ import annotations

import msgspec

from trainrx.launchers.allocation import SLURM
from trainrx.launchers.front import Front
from trainrx.launchers.tables import LAUNCHER_FLAGS, LAUNCHER_NAMES
from trainrx.model.job import RawLaunch, Word
from trainrx.model.pattern import late

_SLURM_NODES = late(r"\$\{?(?:SLURM_NNODES|SLURM_JOB_NUM_NODES)\}?")
_HIDDEN = {
    "torchrun": ("nproc_per_node", "nnodes"),
    "accelerate": ("num_processes", "nnodes"),
    "deepspeed": ("num_gpus", "nnodes"),
}
"""What matters most of a launcher's options, for when a variable may hold any of them."""
_SLOTS = late(r"(?P<host>[^:@\s]+)(?::(?P<gpus>[\d,]+))?")


class Started(msgspec.Struct, frozen=True):
    """The program a launcher starts; `module`: its path is a dotted module."""

    path: Word
    module: bool
    args: tuple[Word, ...]


def start(kind: str, words: tuple[Word, ...], front: Front) -> Started | None:
    """Read the options of a launcher; give what it starts, None when nothing is left.

    Options whose names are not known are taken to have a value, as most have.
    """
    flags = LAUNCHER_FLAGS[kind]
    before = len(front.launcher)
    module = hidden = False
    at = 0
    while at < len(words):
        word = words[at]
        if not word.text.startswith("-") or word.text == "--":
            if not _hides_options(words, at):
                break
            hidden = True
            at += 1
            continue
        name, sign, value = word.text.partition("=")
        key = name.lstrip("-").replace("-", "_")
        at += 1
        if key in flags:
            module = module or key in ("m", "module")
            front.keep(key, (value,) if sign else (), word)
            continue
        source = word if sign else words[at] if at < len(words) else word
        given = value if sign else source.text
        at += 0 if sign else 1
        key = _whole(key) if kind == "torchrun" else key
        name = LAUNCHER_NAMES.get(key, key) if len(key) > 1 or kind == "deepspeed" else key
        _keep(name, given, source, word, front)
    rest = words[at + (at < len(words) and words[at].text == "--") :]
    if not rest:
        return None
    given_names = {item.name for item in front.launcher[before:]}
    if kind == "deepspeed":
        _count_slots(front, given_names)
    if kind == "torchrun" and not (hidden or "nnodes" in given_names):
        _stay_on_the_node(front, before)
    for name in _HIDDEN[kind] if hidden else ():
        if name not in given_names:
            front.keep(name, None, words[0])
    return Started(rest[0], module, rest[1:])


_TORCHRUN = frozenset(
    {"nnodes", "nproc_per_node", "rdzv_backend", "rdzv_endpoint", "rdzv_id", "rdzv_conf", "role"}
    | {"standalone", "max_restarts", "monitor_interval", "start_method", "run_path", "log_dir"}
    | {"redirects", "tee", "local_ranks_filter", "node_rank", "master_addr", "master_port"}
    | {"local_addr", "logs_specs", "module", "no_python", "event_log_handler"}
)
"""Its options: torch/distributed/run.py (get_args_parser)."""


def _whole(key: str) -> str:
    """Give the option a beginning stands for: argparse takes one that fits one option alone."""
    fitting = [name for name in _TORCHRUN if name.startswith(key)] if len(key) > 2 else []
    return fitting[0] if len(fitting) == 1 else key


def _stay_on_the_node(front: Front, before: int) -> None:
    """Take the nodes Slurm gives for no more than that: torchrun is for one unless it is told."""
    front.launcher[:before] = [
        msgspec.structs.replace(item, name=f"{SLURM}{item.name}") if item.name == "nnodes" else item
        for item in front.launcher[:before]
    ]


def _hides_options(words: tuple[Word, ...], at: int) -> bool:
    """Tell `$DISTRIBUTED_ARGS`, in front of the script, from a script named by a variable."""
    word = words[at]
    if not word.unknown or "/" in word.text or word.text.endswith(".py"):
        return False
    for later in words[at + 1 :]:
        if later.text in ("-m", "--module") or later.text.endswith(".py"):
            return True
        if not (later.text.startswith("-") or later.unknown or later.text.isdecimal()):
            return False
    return False


def _keep(name: str, given: str, source: Word, word: Word, front: Front) -> None:
    values = None if source.unknown else (given,)
    if values is None and name == "nnodes" and _SLURM_NODES.fullmatch(given):
        # srun in front, or an #SBATCH line, says how many nodes that is
        if any(item.name == "nnodes" and item.values for item in front.launcher):
            return
        asked = [item for item in front.allocation if item.name == "nnodes"]
        if asked:
            front.launcher += asked
            return
    cut = len(source.text) - len(given)  # the `--name=` of a value written with it
    texts = tuple(text[cut:] for text in source.alternatives) if values is None else ()
    formula = source.formula if values is None else ""
    found = front.argument(name, values, word, texts)
    front.launcher.append(msgspec.structs.replace(found, formula=formula))


def _count_slots(front: Front, given_names: set[str]) -> None:
    """Count hosts and GPUs of `--include worker-0:0,1@worker-1:0,1` when nothing else does."""
    include = next((item for item in front.launcher if item.name == "include"), None)
    if include is None or not include.values:
        return
    slots = [_SLOTS.fullmatch(part) for part in include.values[0].split("@")]
    if not all(slots):
        return
    counts = {len(slot["gpus"].split(",")) if slot["gpus"] else 0 for slot in slots if slot}
    word = Word(text=include.origin.text, line=include.origin.line or 0)
    if "num_gpus" not in given_names and len(counts) == 1 and (count := counts.pop()):
        front.keep("num_gpus", (str(count),), word)
    if "nnodes" not in given_names and len(slots) > 1:
        front.keep("nnodes", (str(len(slots)),), word)


_OF_THE_NODE = frozenset(
    {"node_rank", "NODE_RANK", "RANK", "MACHINE_RANK", "GROUP_RANK", "local_addr", "host"}
    | {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "HOST_IP", "VLLM_HOST_IP", "MLP_ROLE_INDEX"}
)
"""What differs between the nodes of one job: arguments of launchers, variables."""


def numbered(launches: tuple[RawLaunch, ...]) -> tuple[RawLaunch, ...]:
    """Number the jobs: launches that differ in host or node rank only share a number."""
    jobs: dict[object, list[tuple[int, object]]] = {}
    found = []
    count = 0
    for launch in launches:
        place = _place(launch)
        mates = jobs.setdefault(_what(launch), [])
        number = mates[-1][0] if mates else 0
        # the same command on the same node again is another run
        if not number or place is None or any(place == other for _, other in mates):
            count += 1
            number = count
        mates.append((number, place))
        found.append(msgspec.structs.replace(launch, job=number))
    return tuple(found)


def _place(launch: RawLaunch) -> object:
    """Say which node a launch is for; None when it names none."""
    given = {
        **{item.name: item.value for item in launch.env if item.name in _OF_THE_NODE},
        **{item.name: item.values for item in launch.launcher if item.name in _OF_THE_NODE},
    }
    if not launch.host and not given:
        return None
    return launch.host, tuple(sorted((name, str(value)) for name, value in given.items()))


def _what(launch: RawLaunch) -> object:
    return (
        launch.framework,
        launch.command,
        tuple((item.name, item.values) for item in launch.args),
        tuple((a.name, a.values) for a in launch.launcher if a.name not in _OF_THE_NODE),
        tuple((e.name, e.value) for e in launch.env if e.name not in _OF_THE_NODE),
    )
