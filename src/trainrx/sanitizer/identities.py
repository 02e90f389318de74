"""Who and where: hosts, addresses, users, folders and buckets, for `--redact=strict`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from trainrx.model.pattern import late

Kind = Literal["ip", "host", "user", "path"]
KINDS: tuple[Kind, ...] = ("ip", "host", "user", "path")

_PUBLIC = (
    "aliyun.com",
    "anaconda.org",
    "anthropic.com",
    "arxiv.org",
    "conda.io",
    "deepspeed.ai",
    "docker.io",
    "gitee.com",
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "hf-mirror.com",
    "hf.co",
    "huggingface.co",
    "kernel.org",
    "localhost",
    "modelscope.ai",
    "modelscope.cn",
    "numpy.org",
    "nvidia.com",
    "openai.com",
    "pypi.org",
    "python.org",
    "pythonhosted.org",
    "pytorch.org",
    "readthedocs.io",
    "swanlab.cn",
    "tsinghua.edu.cn",
    "ustc.edu.cn",
    "vllm.ai",
    "wandb.ai",
)
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z0-9][A-Za-z0-9-]{0,62}){0,8}"
_NAMED_HOST = rf"(?=[\w-]{{0,63}}[.\d-]){_HOST}"
"""Not a word alone."""
_IP = rf"(?:[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(?:\.{_OCTET}){{3}}(?![\w-]|\.\d)"
"""A release of four numbers begins with a small one (cuDNN 9.16.0.29)."""
_SEGMENT = r"[^\s/'\"`:,;()\[\]<>|&=]{1,128}"
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "path",
        late(
            rf"\b(?:s3a?|gs|oss|cosn?|tos|obs|bos|hdfs|abfss?|wasbs?|az|minio|ks3|viking)://"
            rf"(?P<path>{_SEGMENT}(?:/{_SEGMENT}){{0,12}})"
            rf"|(?<![\w./~-])(?P<home>/(?:home|Users|root|mnt|nas|fsx|storage|scratch|work|workspace|"
            rf"projects?|users?|private|public|dfs|afs|inspire|share\w{{0,8}}|data\d{{0,4}}|"
            rf"(?:cpfs|nfs|gpfs|lustre|hpc|cfs|juicefs)\w{{0,16}})(?:/{_SEGMENT}){{1,12}})"
            rf"|(?<![\w./])(?P<tilde>~(?:/{_SEGMENT}){{1,12}})"
            rf"|\b[A-Z]:\\Users\\(?P<windows>[^\s\\'\"]{{1,64}}(?:\\[^\s\\'\"]{{1,128}}){{0,12}})"
        ),
    ),
    (
        "user",
        late(
            rf"(?<![\w.-])(?P<user>[a-z_][\w.-]{{0,31}})@"
            rf"(?=(?=[A-Za-z]){_NAMED_HOST}(?![\w.-]{{0,99}}/))"
        ),
    ),
    (
        "user",
        late(
            r"\b(?:USER|LOGNAME|USERNAME|SUDO_USER|SLURM_JOB_USER|--user(?:name)?|--hub_user\w{0,8})"
            r"[=: ]['\"]?(?P<user>[A-Za-z_][\w.-]{1,31})"
        ),
    ),
    (
        "ip",
        late(
            rf"(?<![\w.=<>!~-])(?P<ip>{_IP})|(?<=[A-Za-z_]=)(?P<set>{_IP})"
            rf"|(?:(?<=://)|(?<=@))(?P<url>{_OCTET}(?:\.{_OCTET}){{3}})"
            rf"|(?<![\w.])(?P<port>{_OCTET}(?:\.{_OCTET}){{3}})(?=[:<]\d{{2,5}}\b)"
            r"|(?<![\w:.])(?P<six>(?:[fF][eE]80|[fF][cCdD][0-9a-fA-F]{2}|2[0-9a-fA-F]{3})"
            r"(?::[0-9a-fA-F]{0,4}){2,7})(?![\w:])"
        ),
    ),
    ("host", late(rf"(?<=://)(?:[^\s/@'\"<>]{{1,128}}@)?(?P<host>{_HOST})(?=[:/\s'\"]|$)")),
    (
        "host",
        late(
            r"(?i:(?:--|(?<![\w-]))(?:MASTER_ADDR|MASTER_IP|HOSTNAME|SLURMD_NODENAME|NODE_?NAME|"
            r"SLURM_\w{0,20}NODELIST|nodelist|rdzv[_-]endpoint|master[_-]addr)['\"]?"
            r"(?:\s{0,6}[=:]\s{0,3}|(?<=addr)[ ]|(?<=list)[ ]|(?<=point)[ ])['\"]?)"
            rf"(?P<host>(?=[\w-]{{0,63}}[a-zA-Z]){_HOST}(?:\[[\d,-]{{1,64}}\])?)"
        ),
    ),
    (
        "host",
        late(
            r"(?i:(?<![\w-])(?:host|head_node\w{0,8}|node|server)['\"]?\s{0,6}[=:]\s{0,3}['\"]?)"
            rf"(?P<host>(?=[\w.-]{{0,63}}[a-zA-Z]){_NAMED_HOST})(?![\w/])"
        ),
    ),
    # what NCCL puts before its lines: host:pid:tid [rank]
    ("host", late(rf"(?m)^\s{{0,20}}(?P<host>{_HOST}):\d{{1,8}}:\d{{1,8}} \[")),
    ("host", late(rf"(?i:\b(?:connect to|client socket[^\n\[]{{0,60}}) )\[(?P<host>{_HOST})\]")),
    (
        "host",
        late(
            r"(?<![\w./-])(?P<host>[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){0,6}\."
            r"(?:local|internal|lan|corp|intranet|svc|cluster|compute|amazonaws\.com))(?![\w-])"
        ),
    ),
    # the usual names of machines: gpu-07, node12, dgx-a100-3
    (
        "host",
        late(
            r"(?<![\w./@-])(?P<host>(?:[a-z0-9]{1,20}-){0,4}(?:node|gpu|worker|master|host|dgx|hgx)"
            r"(?:-[a-z0-9]{1,12}){0,4}-?\d{1,5})(?![\w.=/-])"
        ),
    ),
)
_KEPT = re.compile(
    r"(?i:localhost|none|null|true|false|auto|all|127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?|255\..*|git|root|"
    r"env|given|is|not|the|unknown|\d+|static|c10d|gpu-?\d|worker-?\d|node-?\d|rank-?\d)"
)
_LEAST_LEARNT = 5


class Identity(NamedTuple):
    """A stretch of a text that names somebody or some place."""

    start: int
    end: int
    kind: Kind
    name: str


def identities(text: str) -> Iterator[Identity]:
    """Give what names hosts, addresses, users, folders; stretches may overlap."""
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            group = match.lastgroup or ""
            start, end = match.span(group)
            name = match[group]
            if kind == "path":
                end = start + len(_folder(name))
                name = text[start:end]
            if end > start and not _KEPT.fullmatch(name) and not _is_public(kind, name):
                yield Identity(start, end, kind, name)


def telling(found: Identity) -> bool:
    """Tell whether a name can be looked for where nothing says what it is."""
    return found.kind in ("host", "user") and len(found.name) >= _LEAST_LEARNT


def _folder(path: str) -> str:
    """Give the folder of a path: what is installed and the last name stay."""
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in path:
            return path[: path.index(mark)]
    parted = "\\" if "\\" in path else "/"
    folder, _, last = path.rstrip("/\\").rpartition(parted)
    is_top = path.startswith("/") and folder.count("/") < 2
    return path.rstrip("/\\") if is_top or "." not in last else folder


def _is_public(kind: Kind, name: str) -> bool:
    if kind != "host":
        return False
    lowered = name.lower()
    return any(lowered == known or lowered.endswith(f".{known}") for known in _PUBLIC)
