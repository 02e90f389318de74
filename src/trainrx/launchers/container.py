"""Containers in front of a program: docker, podman, kubectl, singularity and apptainer.

https://docs.docker.com/reference/cli/docker/container/run/
https://kubernetes.io/docs/reference/kubectl/generated/kubectl_exec/
https://apptainer.org/docs/user/latest/cli/apptainer_exec.html
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trainrx.launchers.front import IMAGE, Front, LauncherOption, read_options
from trainrx.model.job import Word

_DOCKER = frozenset(
    {
        "-a", "-c", "-e", "-h", "-l", "-m", "-p", "-u", "-v", "-w",
        "--add-host", "--annotation", "--attach", "--blkio-weight", "--cap-add", "--cap-drop",
        "--cgroup-parent", "--cgroupns", "--cidfile", "--cpu-period", "--cpu-quota", "--cpu-shares",
        "--cpus", "--cpuset-cpus", "--cpuset-mems", "--detach-keys", "--device",
        "--device-cgroup-rule", "--dns", "--entrypoint", "--env", "--env-file", "--expose",
        "--gpus", "--group-add", "--health-cmd", "--hostname", "--ip", "--ipc", "--isolation",
        "--kernel-memory", "--label", "--label-file", "--link", "--log-driver", "--log-opt",
        "--mac-address", "--memory", "--memory-reservation", "--memory-swap",
        "--memory-swappiness", "--mount", "--name", "--net", "--network", "--network-alias",
        "--oom-score-adj", "--pid", "--pids-limit", "--platform", "--publish", "--pull",
        "--restart", "--runtime", "--security-opt", "--shm-size", "--stop-signal",
        "--stop-timeout", "--storage-opt", "--sysctl", "--tmpfs", "--ulimit", "--user",
        "--userns", "--uts", "--volume", "--volume-driver", "--volumes-from", "--workdir",
        "--annotations", "--hooks-dir", "--shm-size-systemd", "--context", "-H", "--host",
    }
)  # fmt: skip
_KUBECTL = frozenset(
    {"-n", "--namespace", "-c", "--container", "--context", "--kubeconfig", "--cluster", "--user"}
    | {"--image", "--env", "--limits", "--requests", "--overrides", "--restart", "-l", "--labels"}
    | {"--serviceaccount", "--image-pull-policy", "--port", "-f", "--filename"}
    | {"--pod-running-timeout"}
)
_APPTAINER = frozenset(
    {"-B", "--bind", "--env", "--env-file", "--pwd", "--cwd", "-W", "--workdir", "-H", "--home"}
    | {"-S", "--scratch", "-o", "--overlay", "--mount", "--memory", "--cpus", "--hostname", "--app"}
    | {"--network", "--network-args", "--dns", "--security", "--apply-cgroups", "--shm-size"}
    | {"--nvccli", "--fusemount", "--add-caps", "--drop-caps"}
)
_SHORT = {"m": "memory", "v": "volume", "net": "network", "B": "bind", "o": "overlay", "u": "user"}
_KEPT = frozenset(
    {"shm_size", "ipc", "gpus", "memory", "memory_swap", "ulimit", "network", "runtime", "cpus"}
    | {"cpuset_cpus", "device", "privileged", "env_file", "pid", "pids_limit", "volume", "mount"}
    | {"tmpfs", "bind", "nv", "rocm", "image", "limits", "requests", "overrides", "container"}
    | {"cap_add", "security_opt", "oom_score_adj", "cleanenv", "containall", "user", "overlay"}
    | {"name"}
)


def enter_docker(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read `docker run` or `docker exec`; give the command inside.

    Of the environment only what `-e` names gets in.
    """
    _, rest = read_options(words, _DOCKER)
    if rest and rest[0].text == "compose":
        return enter_compose(rest[1:], front)
    if rest and rest[0].text == "container":
        rest = rest[1:]
    return _enter(rest, front, "image")


def enter_compose(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read `docker compose run SERVICE`; what the service sets stands in a file of its own."""
    _, rest = read_options(words, _DOCKER | {"-f", "--file", "--profile", "--project-name"})
    front.hidden_env = True
    return _enter(rest, front, "service")


def _enter(rest: tuple[Word, ...], front: Front, runs: str) -> tuple[Word, ...]:
    """Read `run` or `exec`, its options, and the image, service or container."""
    if not rest or rest[0].text not in ("run", "exec"):
        return ()
    operand = runs if rest[0].text == "run" else "container"
    options, rest = read_options(rest[1:], _DOCKER)
    if not rest:
        return ()
    front.clear()
    front.folder = _folder_inside(options, front)
    front.enclose(operand, _known(rest[0]), rest[0])
    started: tuple[Word, ...] = ()
    for option in options:
        if option.key in ("e", "env"):
            front.set(option.value or "", option.value_word)
        elif option.key == "entrypoint" and option.value:
            started = (_valued(option),)
        _keep(option, front)
    return (*started, *rest[1:])


def _folder_inside(options: Sequence[LauncherOption], front: Front) -> str:
    """Give the folder a container starts in; without an option it is that of the image."""
    for item in options:
        if item.key in ("v", "volume") and (item.value or "").count(":") in (1, 2):
            outside, inside = (item.value or "").split(":")[:2]
            front.mounts.append((outside, inside))
    named = [item.value for item in options if item.key in ("w", "workdir") and item.value]
    return named[-1] if named else IMAGE


def enter_kubectl(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read `kubectl exec` or `kubectl run`; give the command inside."""
    _, rest = read_options(words, _KUBECTL)
    if not rest or rest[0].text not in ("exec", "run"):
        return ()
    runs, rest = rest[0].text == "run", rest[1:]
    cut = next((at for at, word in enumerate(rest) if word.text == "--"), None)
    outside = rest if cut is None else rest[:cut]
    inside = () if cut is None else rest[cut + 1 :]
    front.clear()
    front.folder = IMAGE
    while outside:
        options, outside = read_options(outside, _KUBECTL)
        for option in options:
            if option.key == "env":
                front.set(option.value or "", option.value_word)
            _keep(option, front)
        if outside and cut is None and not runs:
            front.enclose("pod", _known(outside[0]), outside[0])
            return outside[1:]
        if outside:
            front.enclose("pod", _known(outside[0]), outside[0])
            outside = outside[1:]
    return inside


def enter_apptainer(words: tuple[Word, ...], front: Front) -> tuple[Word, ...]:
    """Read `apptainer exec` or `run`; give the command inside.

    The environment gets in, unless it is told to start clean.
    """
    _, rest = read_options(words, frozenset())
    if not rest or rest[0].text not in ("exec", "run"):
        return ()
    options, rest = read_options(rest[1:], _APPTAINER)
    if not rest:
        return ()
    for option in options:
        if option.name in ("-e", "--cleanenv", "-C", "--containall"):
            front.clear()
    for option in options:
        if option.key in ("pwd", "cwd"):
            front.enter(option)
        if option.key == "env":
            for item in (option.value or "").split(","):
                front.set(item, option.value_word)
        _keep(option, front)
    front.enclose("image", _known(rest[0]), rest[0])
    return rest[1:]


def _keep(option: LauncherOption, front: Front) -> None:
    key = _SHORT.get(option.key, option.key)
    if key in _KEPT:
        front.enclose(key, option.given, option.word)
    front.hidden_env = front.hidden_env or key == "env_file"


def _known(word: Word) -> tuple[str, ...] | None:
    return None if word.unknown else (word.text,)


def _valued(option: LauncherOption) -> Word:
    return msgspec.structs.replace(option.value_word, text=option.value or "")
