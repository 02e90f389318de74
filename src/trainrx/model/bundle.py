"""The manifest of a bundle: what was taken of a live job, of which process, when and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from trainrx.model.text import Text

SCHEMA = "trainrx-bundle/1"
MANIFEST = "manifest.json"
ItemKind = Literal[
    "stacks",
    "usage",
    "recorder",
    "ras",
    "gpu",
    "kernel",
    "memory",
    "disk",
    "limits",
    "versions",
    "environment",
    "command",
    "script",
    "config",
    "log",
]
"""usage: processor time and states of threads; environment: variables by a list of names; command:
the words a process was started with."""
ProcessRole = Literal["launcher", "rank", "worker", "engine", "other"]
"""launcher: what started the ranks, or a script around it; worker: of a rank, such as one that
loads data; engine: a process of an inference engine or an actor of Ray; other: none of these."""

GapReason = Literal[
    "not-installed",
    "not-permitted",
    "ended",
    "too-slow",
    "failed",
    "unreadable",
    "no-file",
    "too-large",
    "nothing-found",
    "no-answer",
]
"""Why something could not be taken; no-file: what is printed goes to a terminal or a pipe."""
GapRight = Literal[
    "owner", "container", "yama", "yama-locked", "sudo", "kernel-log", "redirect", "install"
]
"""What would let it be taken the next time."""
REASONS: Mapping[GapReason, Text] = {
    "not-installed": Text(en="is not installed", zh="未安装"),
    "not-permitted": Text(en="not permitted", zh="没有权限"),
    "ended": Text(en="the process ended meanwhile", zh="进程已结束"),
    "too-slow": Text(
        en="took too long and was ended; the job goes on", zh="超时后被终止；任务不受影响"
    ),
    "failed": Text(en="failed", zh="失败"),
    "unreadable": Text(en="cannot be read", zh="无法读取"),
    "no-file": Text(
        en="goes to a terminal or a pipe, not to a file", zh="输出到终端或管道，没有文件"
    ),
    "too-large": Text(en="is too large", zh="过大"),
    "nothing-found": Text(en="nothing was found", zh="未找到"),
    "no-answer": Text(en="did not answer", zh="没有应答"),
}
RIGHTS: Mapping[GapRight, Text] = {
    "owner": Text(en="run it as the user of the job, or as root", zh="以任务的用户或 root 运行"),
    "container": Text(
        en="CAP_SYS_PTRACE: docker run --cap-add SYS_PTRACE, or in a pod "
        "securityContext.capabilities.add: [SYS_PTRACE]",
        zh="需要 CAP_SYS_PTRACE：docker run --cap-add SYS_PTRACE，"
        "或在 pod 中设置 securityContext.capabilities.add: [SYS_PTRACE]",
    ),
    "yama": Text(
        en="sudo sysctl kernel.yama.ptrace_scope=0, or run it with sudo",
        zh="执行 sudo sysctl kernel.yama.ptrace_scope=0，或用 sudo 运行",
    ),
    "yama-locked": Text(
        en="kernel.yama.ptrace_scope is 3, which only a restart of the machine takes back",
        zh="kernel.yama.ptrace_scope 为 3，只有重启机器才能解除",
    ),
    "sudo": Text(
        en="run it with sudo, or with CAP_SYS_PTRACE", zh="用 sudo 运行，或授予 CAP_SYS_PTRACE"
    ),
    "kernel-log": Text(
        en="root, the group adm or systemd-journal, or sysctl kernel.dmesg_restrict=0",
        zh="root、adm 或 systemd-journal 组，或 sysctl kernel.dmesg_restrict=0",
    ),
    "redirect": Text(en="start the job with > train.log 2>&1", zh="启动任务时加 > train.log 2>&1"),
    "install": Text(en="pip install 'trainrx[collect]'", zh="pip install 'trainrx[collect]'"),
}


class BundleProcess(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process of the job; `rank` of a worker is that of its rank, `argv` its words."""

    pid: int
    parent: int | None = None
    role: ProcessRole = "other"
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    host: str = ""
    argv: tuple[str, ...] = ()
    started: float | None = None


class BundleItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file of a bundle.

    Attributes:
        path: its name in the bundle, with `/`.
        command: what printed it; source: the file it was copied from.
        at: seconds since the epoch when it was taken; round: from 1, where it was taken repeatedly.
        whole: whether it is all there was; else its end.
    """

    path: str
    kind: ItemKind
    host: str = ""
    pid: int | None = None
    parent: int | None = None
    rank: int | None = None
    at: float | None = None
    round: int | None = None
    command: str = ""
    source: str = ""
    whole: bool = True


class BundleGap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What could not be taken; `name`: the command or file, `detail`: what was printed of it."""

    kind: ItemKind
    reason: GapReason
    right: GapRight | None = None
    name: str = ""
    detail: str = ""
    host: str = ""
    pid: int | None = None
    rank: int | None = None


class BundleManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle holds. Fields are only added; a reader passes over those it does not know."""

    schema: str = SCHEMA
    tool: str = ""
    job: str = ""
    at: float = 0.0
    host: str = ""
    processes: tuple[BundleProcess, ...] = ()
    items: tuple[BundleItem, ...] = ()
    gaps: tuple[BundleGap, ...] = ()


class CollectReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken of a job; `path` is the bundle, "" where none was written."""

    manifest: BundleManifest
    path: str = ""
    size: int = 0
    seconds: float = 0.0
