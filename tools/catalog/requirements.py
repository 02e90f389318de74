"""Write data/requires/*.jsonl: what releases need of each other, and models of transformers.

python -m catalog.requirements            write
python -m catalog.requirements --check    compare with what is there, write nothing
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet

from catalog.companions import (
    fetch_metadata,
    fetch_models,
    metadata_path,
    models_path,
    read_companions,
)
from catalog.fetch import cache_path, fetch
from catalog.releases import HERE, ascending, read_releases
from catalog.sources import Sources
from trainrx.model.packages import Kind, ModelNeed, Need, Releases

_ROOT = Path(__file__).parents[2]
_LINUX = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": "3.11.9",
    "python_version": "3.11",
    "sys_platform": "linux",
}
"""Markers are decided for the machines training runs on."""

_EXTRAS: Mapping[str, tuple[str, ...]] = {
    "ms-swift": ("megatron", "ray", "sglang"),
    "llamafactory": ("bitsandbytes", "deepspeed", "liger-kernel", "vllm"),
    "transformers": ("accelerate", "deepspeed", "torch"),
    "trl": ("bitsandbytes", "deepspeed", "liger", "peft", "quantization", "vllm"),
    "axolotl": ("deepspeed", "flash-attn", "vllm"),
    "verl": ("sglang", "vllm"),
    "openrlhf": ("liger_kernel", "ring", "vllm"),
}
"""Optional features whose ranges hold whenever the other package is there."""

_MORE = frozenset(
    {
        "compressed-tensors",
        "kernels",
        "megatron-core",
        "nvidia-cudnn-cu12",
        "nvidia-nccl-cu12",
        "python",
        "setuptools",
        "sglang",
        "torchao",
        "torchcodec",
        "transformer-engine",
        "unsloth-zoo",
    }
)
"""Packages that releases ask for though nothing is known here of what those need."""

_CHECKS = {
    "llamafactory/extras/misc.py": ("accelerate", "datasets", "peft", "transformers", "trl"),
    "llamafactory/hparams/parser.py": ("deepspeed", "vllm"),
}
_CHECK = re.compile(r"""(?:check|require)_version\(\s*"([\w-]+)([<>=!~][^"]*)\"(?!, mandatory)""")
_LEAST = {
    "accelerate": r'\nACCELERATE_MIN_VERSION = "([\d.]+)"',
    "bitsandbytes": r'\nBITSANDBYTES_MIN_VERSION = "([\d.]+)"',
    "torch": r"PyTorch >= ([\d.]+) is required",
}
"""Below these transformers acts as if the package were not installed."""

Row = tuple[str, Kind, str]
"""Needed package, kind, range."""


def read_rows(package: str, metadata: str, tracked: frozenset[str]) -> Iterator[Row]:
    """Give what the metadata of a release asks of tracked packages.

    All lines are read: a licence that was folded into the head holds empty lines.
    """
    for line in metadata.splitlines():
        key, _, text = line.partition(":")
        if key == "Requires-Python" and text.strip():
            yield "python", "requires", text.strip()
        elif key == "Requires-Dist":
            yield from _requirement(package, text, tracked)


def _requirement(package: str, text: str, tracked: frozenset[str]) -> Iterator[Row]:
    try:
        needed = Requirement(text)
    except InvalidRequirement:
        return
    name = re.sub(r"[-_.]+", "-", needed.name).lower()
    if name not in tracked or name == package or not needed.specifier:
        return
    spec = str(needed.specifier)
    if needed.marker is None or needed.marker.evaluate({**_LINUX, "extra": ""}):
        yield name, "requires", spec
    elif any(needed.marker.evaluate({**_LINUX, "extra": e}) for e in _EXTRAS.get(package, ())):
        yield name, "extra", spec


def read_checks(sources: Sources) -> Iterator[Row]:
    """Give what a release itself compares versions with when it starts."""
    least = sources.read("transformers/utils/import_utils.py")
    for name, pattern in _LEAST.items():
        if (found := re.search(pattern, least)) is not None:
            yield name, "check", f">={found[1]}"
    for path, names in _CHECKS.items():
        for name, spec in _CHECK.findall(sources.read(path)):
            if name in names:
                yield name, "check", spec


def merge(rows: Iterable[Row]) -> dict[tuple[str, Kind], str]:
    """Join what is asked of the same package, in one order."""
    out: dict[tuple[str, Kind], set[str]] = {}
    for name, kind, spec in rows:
        parts = (part.strip() for part in spec.split(","))
        out.setdefault((name, kind), set()).update(part for part in parts if part)
    return {key: ",".join(sorted(parts, reverse=True)) for key, parts in out.items()}


def spans(
    package: str, releases: Sequence[str], asked: Mapping[str, Mapping[tuple[str, Kind], str]]
) -> Iterator[Need]:
    """Join releases that follow each other and ask for the same."""
    for name, kind in sorted({key for by in asked.values() for key in by}):
        begun: str | None = None
        spec = ""
        for version in (*releases, None):
            now = "" if version is None else asked[version].get((name, kind), "")
            if now == spec and version is not None:
                continue
            if begun is not None and spec:
                yield Need(
                    package=package,
                    needs=name,
                    spec=spec,
                    since=begun,
                    until=version or "",
                    kind=kind,
                )
            begun, spec = version, now


def build(cache: Path) -> dict[str, bytes]:
    """Write every file: name to content.

    Raises:
        ValueError: a range is none.
    """
    own = read_releases()
    companions = read_companions()
    tracked = frozenset((*own, *companions)) | _MORE
    needs: list[Need] = []
    for package, versions in own.items():
        asked = {}
        for version in versions:
            sources = Sources.load(cache_path(cache, package, version))
            rows = [*read_rows(package, sources.read("METADATA"), tracked)]
            rows += read_checks(sources)
            asked[version] = merge(rows)
        needs += spans(package, versions, asked)
    for package, versions in companions.items():
        asked = {v: merge(_companion(cache, package, v, tracked)) for v in versions}
        needs += spans(package, versions, asked)
    for need in needs:
        SpecifierSet(need.spec)
    known = {**own, **companions}
    listed = [Releases(package=p, releases=ascending(known[p])) for p in sorted(known)]
    needs.sort(key=_by_names)
    return {
        "requires.jsonl": _lines(needs),
        "releases.jsonl": _lines(listed),
        "models.jsonl": _lines(models(cache, own["transformers"])),
    }


def _companion(cache: Path, package: str, version: str, tracked: frozenset[str]) -> list[Row]:
    path = metadata_path(cache, package, version)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return list(read_rows(package, text, tracked))


def models(cache: Path, versions: Sequence[str]) -> list[ModelNeed]:
    """Give the first release that has each model type, and what the registry of ms-swift asks."""
    first: dict[str, str] = {}
    for version in versions:
        for name in models_path(cache, version).read_text(encoding="utf-8").split():
            first.setdefault(name, version)
    oldest = versions[0]
    found = [
        ModelNeed(type=name, needs="transformers", spec=f">={version}")
        for name, version in sorted(first.items())
        if version != oldest
    ]
    typed = (HERE / "model-needs.jsonl").read_bytes()
    return [*found, *msgspec.json.Decoder(ModelNeed).decode_lines(typed)]


def _by_names(need: Need) -> tuple[str, str]:
    return need.package, need.needs


def _lines(records: Iterable[msgspec.Struct]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def main() -> int:
    """Run the command; 1 when a check found a difference."""
    parser = argparse.ArgumentParser(prog="catalog.requirements", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--cache", type=Path, default=_ROOT / "build" / "catalog")
    parser.add_argument("--output", type=Path, default=_ROOT / "data" / "requires")
    given = parser.parse_args()
    releases = read_releases()
    fetch(releases, given.cache)
    fetch_metadata(read_companions(), given.cache)
    fetch_models(releases["transformers"], given.cache)
    different = False
    for name, text in build(given.cache).items():
        path = given.output / name
        changed = not path.is_file() or path.read_bytes() != text
        different = different or changed
        print(f"{len(text):8d} {name}{'  changed' if changed else ''}")
        if not given.check:
            path.write_bytes(text)
    return 1 if given.check and different else 0


if __name__ == "__main__":
    sys.exit(main())
