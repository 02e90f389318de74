"""What is started in a dry run: the program of a launch without its launchers, on one CPU."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from trainrx.frameworks import framework_of
from trainrx.model.errors import UsageError
from trainrx.model.job import RawLaunch

HOOKS = Path(__file__).with_name("child")
NOT_SET = frozenset(
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "NNODES"}
    | {"NPROC_PER_NODE", "MASTER_ADDR", "MASTER_PORT", "FORCE_TORCHRUN", "USE_RAY"}
    | {"ACCELERATE_USE_DEEPSPEED", "ACCELERATE_USE_FSDP"}
)
"""What makes a process one of several."""
QUIET: Mapping[str, str] = {
    "CUDA_VISIBLE_DEVICES": "",
    "ASCEND_RT_VISIBLE_DEVICES": "",
    "HIP_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "WANDB_MODE": "disabled",
    "SWANLAB_MODE": "disabled",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}
"""No card, no network, nothing reported anywhere."""
SUPPORTED = "ms-swift, LLaMA-Factory, TRL and programs that use transformers' Trainer"


class DryStart(msgspec.Struct, frozen=True, kw_only=True):
    """A command that is ready to be started: its words, its variables, its folder.

    `output_option` is what its output folder is given by, where its framework makes that first.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    python: str = ""
    output_option: str = ""


def no_launch() -> UsageError:
    """Say that nothing is there to be started."""
    return UsageError(
        "no training command was found: a dry run starts the job itself; give the script that "
        "starts it\n  diagnose dry-run launch.sh"
    )


def started(
    launch: RawLaunch | None,
    folder: Path,
    python: str,
    around: Mapping[str, str],
) -> DryStart:
    """Say what is to be started.

    Args:
        launch: the job.
        folder: where it is started.
        python: the interpreter that has its framework; "" is the one the command finds.
        around: the variables we were started with.

    Raises:
        UsageError: no launch, one that cannot be run so, words that are not known, no program.
    """
    if launch is None:
        raise no_launch()
    framework = framework_of(launch.framework)
    if not framework.training_arguments or launch.command.startswith("megatron"):
        named = framework.typed(launch.command) if launch.command else launch.framework
        raise UsageError(
            f"{named or 'this program'} cannot be run dry yet: expected a launch of {SUPPORTED}"
        )
    env = {**around, **{item.name: item.value for item in launch.env if item.value is not None}}
    env = {name: value for name, value in env.items() if name not in NOT_SET}
    given = Path(python).absolute() if python else None
    if given is not None:
        if not given.is_file() or not os.access(given, os.X_OK):
            raise UsageError(f"--python {python}: no program; expected e.g. /opt/venv/bin/python")
        env["PATH"] = os.pathsep.join((str(given.parent), env.get("PATH", os.defpath)))
    words = _words(launch)
    program = shutil.which(words[0], path=env.get("PATH"))
    if program is None:
        raise UsageError(
            f"{words[0]}: no such program here; name the interpreter that has the framework\n"
            "  diagnose dry-run launch.sh --python /opt/venv/bin/python"
        )
    return DryStart(
        words=(program, *words[1:]),
        env=env,
        folder=folder,
        python=python,
        output_option=framework.makes_output_first,
    )


def _words(launch: RawLaunch) -> tuple[str, ...]:
    """Give the words of a launch that is one process.

    Raises:
        UsageError: some of them are not known.
    """
    if not launch.started:
        typed = framework_of(launch.framework).typed(launch.command)
        return (*typed.split(), *launch.configs[:1])
    unknown = dict.fromkeys(name for word in launch.started for name in word.unknown)
    if unknown:
        raise UsageError(
            f"not known: {', '.join(f'${name}' for name in unknown)}; a dry run needs every word "
            "of the command: set them before (export), or give the values with --env FILE"
        )
    words = tuple(word.text for word in launch.started)
    is_python = words[0].endswith(".py") or words[0] == "-m"
    return ("python", *words) if is_python else words


def at_home(named: Iterable[str], folders: Iterable[Path]) -> Path:
    """Give the folder in which most of what a launch names is there; of equals the first."""
    wanted = [name for name in dict.fromkeys(named) if name and not name.startswith(("/", "-"))]
    known = [*dict.fromkeys(folders)]
    return max(known, key=lambda folder: sum(_is_there(folder / name) for name in wanted))


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
