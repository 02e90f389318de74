"""Commands that hand a command line to a cluster: dlc, arena, bsub, runai, torchx, enroot.

https://www.alibabacloud.com/help/en/pai/user-guide/commands-used-to-submit-jobs
https://github.com/kubeflow/arena/blob/master/docs/cli/arena_submit_pytorchjob.md
https://docs.nvidia.com/run-ai/self-hosted/reference/cli/runai/training/runai-training-pytorch-submit
https://docs.pytorch.org/torchx/latest/components/distributed.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from trainrx.launchers.batch import asked_of
from trainrx.launchers.front import Front, LauncherOption, read_options
from trainrx.model.job import Word
from trainrx.model.pattern import late

_NAMES: Mapping[str, str] = {
    "worker_count": "replicas", "workers": "replicas", "worker_gpu": "gpus", "gpus": "gpus",
    "gpu": "gpus", "gpu_devices_request": "gpus", "g": "gpus", "worker_image": "image",
    "image": "image", "i": "image", "worker_memory": "memory", "memory": "memory",
    "worker_shared_memory": "shm_size", "share_memory": "shm_size",
}  # fmt: skip
"""Options of these commands, and what `docker run` calls the same."""
_VALUED = frozenset(
    {"-n", "-gpu", "-q", "-o", "-e", "-J", "-R", "-M", "-W", "-P", "-m", "-eo", "-oo", "-G", "-w"}
    | {"-i", "-g", "-p", "-x", "-a", "-d"}
)
_FLAGS = frozenset(
    {"--large-shm", "--gang", "--rdma", "--command", "--interactive", "--tensorboard"}
)
_TORCHX = frozenset(
    {"-s", "-cfg", "--scheduler", "--scheduler_args", "--workspace", "-j", "-m", "-h"}
)
_SHAPE = late(r"(?:(?P<nodes>[\d:]{1,9})x)?(?P<processes>\d{1,4})")


def submitted(name: str, words: tuple[Word, ...], front: Front) -> Word | None:
    """Give the command line that is handed over, and keep what is asked for it."""
    # bsub has no sub-command: its first word that is no option begins the command
    options, rest = read_options(words, _VALUED) if name == "bsub" else _options(words)
    told = {option.key: option for option in options}
    for option in options:
        if option.key in ("e", "env", "environment") and name != "bsub":
            front.set(option.value or "", option.value_word)
        elif name == "bsub" and option.key == "gpu":
            asked = dict(asked_of("#BSUB", "gpu", option.value or ""))
            if "gpus_per_node" in asked:
                front.enclose("gpus", (asked["gpus_per_node"],), option.word)
        elif name != "bsub" and option.key in _NAMES:
            front.enclose(_NAMES[option.key], option.given, option.word)
        elif option.name == "--large-shm":
            front.enclose("shm_size", None, option.word)
    image = next((option for option in options if _NAMES.get(option.key) == "image"), None)
    if image is not None and "shm_size" not in {item.name for item in front.container}:
        # what the platform gives a container is not said here
        front.enclose("shm_size", None, image.word)
    command = told.get("command")
    if command is not None and command.value:
        return msgspec.structs.replace(command.value_word, text=command.value)
    return _line(rest)


def _options(words: tuple[Word, ...]) -> tuple[list[LauncherOption], tuple[Word, ...]]:
    """Read the options between sub-commands and the command; all but a few have a value."""
    long = {word.text for word in words if word.text.startswith("--")} - _FLAGS
    options: list[LauncherOption] = []
    while words:
        found, rest = read_options(words, _VALUED | long)
        options += found
        cut = len(words) - len(rest)
        if not rest or (cut and words[cut - 1].text == "--") or " " in rest[0].text:
            return options, rest
        if not any(word.text.startswith("-") for word in rest[1:]):
            return options, rest[-1:] if " " in rest[-1].text else rest
        words = rest[1:]
    return options, ()


def _line(rest: tuple[Word, ...]) -> Word | None:
    """Join the words of a command, as the shell on the other side gets them."""
    if not rest:
        return None
    unknown = tuple(name for word in rest for name in word.unknown)
    return msgspec.structs.replace(
        rest[0], text=" ".join(word.text for word in rest), unknown=unknown, alternatives=()
    )


def enter_torchx(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read `torchx run ... dist.ddp -j 2x8 --script train.py -- ARGS`; give the program."""
    _, rest = read_options(words, _TORCHX)
    if not rest or rest[0].text != "run":
        return ()
    _, rest = read_options(rest[1:], _TORCHX)
    long = {word.text for word in rest if word.text.startswith("--")}
    options, args = read_options(rest[1:], _TORCHX | long)
    told = {option.key: option for option in options}
    shape = told.get("j")
    counts = _SHAPE.fullmatch(shape.value or "") if shape is not None else None
    if shape is not None and counts is not None:
        front.keep("nnodes", (counts["nodes"] or "1",), shape.word)
        front.keep("nproc_per_node", (counts["processes"],), shape.word)
    return (*_program(told), *args)


def _program(told: Mapping[str, LauncherOption]) -> Iterator[Word]:
    option = told.get("script") or told.get("m")
    if option is not None and option.value:
        python = "python" if option.key == "script" else "python -m"
        for text in (*python.split(), option.value):
            yield msgspec.structs.replace(option.value_word, text=text)


def enter_enroot(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read `enroot start [options] NAME COMMAND`: it shares what the host has."""
    if not words or words[0].text != "start":
        return ()
    options, rest = read_options(
        words[1:], frozenset({"-c", "--conf", "-e", "--env", "--rc", "-m", "--mount"})
    )
    for option in options:
        if option.key in ("e", "env"):
            front.set(option.value or "", option.value_word)
    if rest:
        front.enclose("container_image", None if rest[0].unknown else (rest[0].text,), rest[0])
    return rest[1:]
