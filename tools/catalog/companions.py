"""Metadata of packages that have no catalog, and the model folders of transformers releases."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from catalog.index import File, Index, open_index
from catalog.releases import HERE, read_releases

WITHOUT_NEEDS = frozenset(
    {
        "flash-attn",
        "flashinfer-python",
        "huggingface-hub",
        "modelscope",
        "numpy",
        "qwen-vl-utils",
        "ray",
        "triton",
    }
)
"""Packages that ask for no version of another one here: only their releases are of use."""

_MODELS = "transformers/models/"


def read_companions() -> dict[str, tuple[str, ...]]:
    """Read the list of releases of which only the metadata is used."""
    return read_releases(HERE / "companions.txt")


def fetch_metadata(releases: Mapping[str, Sequence[str]], cache: Path) -> int:
    """Bring the metadata of releases into the cache; give how many were transferred."""
    wanted = {package: vs for package, vs in releases.items() if package not in WITHOUT_NEEDS}
    return _fetch_all(wanted, lambda p, v: metadata_path(cache, p, v), _metadata)


def fetch_models(versions: Sequence[str], cache: Path) -> int:
    """Bring the names of the model folders of transformers into the cache."""
    return _fetch_all({"transformers": versions}, lambda _, v: models_path(cache, v), _models)


def metadata_path(cache: Path, package: str, version: str) -> Path:
    """Say where the cache keeps the metadata of a release."""
    return cache / "metadata" / package / f"{version}.txt"


def models_path(cache: Path, version: str) -> Path:
    """Say where the cache keeps the model folders of a transformers release."""
    return cache / "models" / f"{version}.txt"


def _fetch_all(
    releases: Mapping[str, Sequence[str]],
    place: Callable[[str, str], Path],
    read: Callable[[Index, File], bytes],
) -> int:
    wanted = [(p, v) for p, vs in releases.items() for v in vs if not place(p, v).is_file()]
    if not wanted:
        return 0

    def transfer(index: Index, file: File, target: Path) -> None:
        data = read(index, file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    with open_index() as index, ThreadPoolExecutor(8) as pool:
        files = {package: index.files(package) for package in {p for p, _ in wanted}}
        runs = [
            pool.submit(transfer, index, files[package][version][0], place(package, version))
            for package, version in wanted
        ]
        for run in runs:
            run.result()
    return len(wanted)


def _metadata(index: Index, file: File) -> bytes:
    """Read the metadata file beside a wheel (PEP 658), or the one inside."""
    beside = index.metadata(file)
    if beside is not None:
        return beside
    if not file.is_wheel:
        return b""
    with index.open(file) as remote, zipfile.ZipFile(remote) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return archive.read(name)


def _models(index: Index, file: File) -> bytes:
    with index.open(file) as remote, zipfile.ZipFile(remote) as archive:
        inside = {
            n.removeprefix(_MODELS).partition("/")[0]
            for n in archive.namelist()
            if n.startswith(_MODELS) and n.endswith("/__init__.py")
        }
    return "\n".join(sorted(inside - {"__init__.py", ""})).encode()
