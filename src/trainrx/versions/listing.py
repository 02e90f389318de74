"""Installed versions as people hand them over: pip, conda, collect_env, framework reports."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import msgspec

from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.pattern import late
from trainrx.versions.ranges import MAX_LENGTH, in_range, is_exact

__all__ = [
    "PackageVersion",
    "Versions",
    "canonical_package",
    "in_range",
    "is_exact",
    "read_versions",
]

MAX_LINES = 5_000

_ALIASES = {
    "swift": "ms-swift",
    "llama-factory": "llamafactory",
    "llmtuner": "llamafactory",
    "pytorch": "torch",
    "nccl": "nvidia-nccl-cu12",
    "flash-attention": "flash-attn",
    "flash-attention-2": "flash-attn",
    "flash-attn-2": "flash-attn",
    "huggingface-transformers": "transformers",
    "cuda-runtime": "cuda",
    "cuda-version": "cuda",
    "cudatoolkit": "cuda",
    "python-version": "python",
    "nvidia-driver": "driver",
    "nvidia-driver-version": "driver",
}
_STATED = (
    (late(r"PyTorch version(?: \(GPU\?\))?\s*:\s*(\S+)"), "torch"),
    (late(r"(?:Is )?CUDA used to build PyTorch\s*:\s*(\S+)"), "cuda"),
    (late(r"torch cuda version\s*\.+\s*(\S+)"), "cuda"),
    (late(r"torch version\s*\.+\s*(\S+)"), "torch"),
    (late(r"deepspeed info\s*\.+\s*(\d[^,\s]*)"), "deepspeed"),
    (late(r"CUDA runtime version\s*:\s*(\S+)"), "cuda-toolkit"),
    (late(r"CUDA Version\s*:\s*(\S+)"), "cuda-driver"),
    (late(r"nvcc version\s*\.+\s*(\S+)"), "cuda-toolkit"),
    (late(r"Cuda compilation tools, release (\d[\d.]*)"), "cuda-toolkit"),
    (
        late(r"(?:Nvidia driver version|Driver Version)\s*:\s*(\d[\d.]*)", re.IGNORECASE),
        "driver",
    ),
    (late(r"Python (?:version\s*:\s*)?(\d+\.\d[\w.]*)", re.IGNORECASE), "python"),
    (late(r"(?:G?LIBC|Libc) version\s*:\s*(?:glibc-)?(\d[\d.]*)", re.IGNORECASE), "glibc"),
)
_GPU = late(r"(?:GPU \d{1,3}\s*:|GPU type\s*:|GPU models and configuration\s*:)\s*(\S.*)$")
_COUNT = late(r"GPU (?:number|count)\s*:\s*(\d{1,4})\b")
_VERSION = r"[vV]?(?P<version>\d[\w.+!*-]{0,63}|\d{1,3}\.[xX*])"
_NAME = r"(?P<name>[A-Za-z][A-Za-z0-9_.\[\]-]{0,80}?)"
_LINE = tuple(
    late(pattern)
    for pattern in (
        rf"^{_NAME}\s*={{2,3}}\s*{_VERSION}\b",
        rf"^[-*]?\s*`?{_NAME}`?\s+[vV]ersion(?:\s*[:=])?\s*`?{_VERSION}",
        rf"^(?:\[(?:pip3?|conda)\]\s+)?{_NAME}(?:==|\s+|@|:\s*|=){_VERSION}(?:=\S*|\s.*)?$",
        rf"^[-*]?\s*`?{_NAME}`?\s*(?:@|:|=)\s*`?{_VERSION}`?(?:\s.*)?$",
        rf"^[-*]\s+`?{_NAME}`?\s+{_VERSION}\s*$",
    )
)
_AT_URL = late(rf"^{_NAME}\s+@\s+\S*?[-/](?P<version>\d[\w.+!]{{0,63}}?)-(?:cp|py)\d\S*\.whl")
_UNVERSIONED = late(
    rf"^(?:{_NAME}\s+@\s|-e\s+\S*(?:#egg=|/)(?P<from>[\w.-]{{1,100}}?)(?:\.git(?:@\S*)?)?/?$)"
)
"""A package from a checkout or an archive, whose version `pip freeze` does not tell."""
ALWAYS_BESIDE_TORCH = frozenset(
    {"filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions"}
)
"""What every torch from 2.0 on is installed with: a list that lacks one of them is not whole."""
_NO_PACKAGES = frozenset({"version", "package", "name", "gpu", "os", "cpu", "platform", "release"})


class PackageVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A package and the version a text states; it may be a prefix such as `3.x`."""

    name: str
    text: str
    origin: Origin


class Versions(msgspec.Struct, frozen=True, kw_only=True):
    """All versions by canonical name (`cuda`: what torch was built with), and the GPUs named.

    `unversioned` are packages a list names without a version: checkouts and archives.
    """

    packages: dict[str, PackageVersion]
    gpus: tuple[tuple[str, Origin], ...] = ()
    gpu_count: int | None = None
    unread: tuple[Unread, ...] = ()
    unversioned: tuple[str, ...] = ()

    def texts(self) -> dict[str, str]:
        """Give name to version text."""
        return {name: found.text for name, found in self.packages.items()}


def read_versions(text: str, source: str) -> Versions:
    """Read versions out of whatever lists them.

    pip freeze, pip list, conda list, uv pip list, torch's collect_env, `llamafactory-cli env`,
    ds_report, nvidia-smi, or plain `name==version` lines. `cuda` is what torch was built with,
    `cuda-toolkit` what is installed beside it, `cuda-driver` the newest the driver supports.

    The first statement about a package counts. A line that names a package and something that is
    no version is reported as unread; all other lines are taken for prose.
    """
    packages: dict[str, PackageVersion] = {}
    gpus: dict[str, Origin] = {}
    count: int | None = None
    unread: list[Unread] = []
    listed = 0
    bare: dict[str, None] = {}
    for number, line in enumerate(text.split("\n")[:MAX_LINES], start=1):
        stripped = line.strip()[:400]
        origin = Origin(source=source, line=number, text=stripped)
        for name, version in _read_line(stripped):
            packages.setdefault(name, PackageVersion(name=name, text=version, origin=origin))
        if (named := _UNVERSIONED.match(stripped)) is not None:
            bare[canonical_package(named["name"] or named["from"])] = None
        if (gpu := _GPU.search(stripped)) is not None:
            gpus.setdefault(_clean_gpu(gpu[1]), origin)
            listed += stripped.startswith("GPU ") and stripped[4:5].isdigit()
        if (stated := _COUNT.search(stripped)) is not None:
            count = int(stated[1])
        if _is_broken(stripped):
            unread.append(_unread(origin))
    return Versions(
        packages=packages,
        gpus=tuple(gpus.items()),
        gpu_count=count or listed or None,
        unread=tuple(unread),
        unversioned=tuple(name for name in bare if name not in packages),
    )


def is_whole(names: Collection[str]) -> bool:
    """Tell whether a list of packages is all of an environment, by what comes with every torch."""
    return "torch" in names and set(names) >= ALWAYS_BESIDE_TORCH


def canonical_package(name: str) -> str:
    """Give the name a package goes by here: lower case, dashes, well-known aliases resolved."""
    plain = re.sub(r"[-_.]+", "-", name.partition("[")[0].strip("`'\" ")).lower()
    return _ALIASES.get(plain, plain)


def _read_line(line: str) -> Iterator[tuple[str, str]]:
    stated = False
    for pattern, name in _STATED:
        if (match := pattern.search(line)) is not None:
            version = match[1].strip(",;")
            if version[:1].isdigit() and len(version) <= MAX_LENGTH:
                stated = True
                yield name, version
    if stated or line.startswith("#"):
        return
    for pattern in (_AT_URL, *_LINE):
        match = pattern.match(line)
        if match is not None and (found := _package(match)) is not None:
            yield found
            return


def _package(match: re.Match[str]) -> tuple[str, str] | None:
    name = canonical_package(match["name"])
    version = match["version"].rstrip(".-,")
    if not name or name in _NO_PACKAGES or len(version) > MAX_LENGTH:
        return None
    # "0.9.5 MiB" or a date is no version; a lone number is one only behind ==
    if "." not in version and "==" not in match[0]:
        return None
    return name, version


def _is_broken(line: str) -> bool:
    found = re.match(r"^[A-Za-z][\w.\[\]-]{0,80}==(?!\s*[vV]?\d)", line)
    return found is not None


def _clean_gpu(text: str) -> str:
    return re.sub(r"\s*\(UUID.*$", "", text).strip()[:120]


def _unread(origin: Origin) -> Unread:
    return Unread(
        source=origin.source, reason="states no version", line=origin.line, text=origin.text
    )
