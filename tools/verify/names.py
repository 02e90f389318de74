"""Whether a package takes an argument in a range of its releases, as the catalogs say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from trainrx.catalog.catalog import Catalog, catalog, plain
from trainrx.versions.ranges import in_range
from verify.claims import OR

ELSEWHERE = {
    ("openrlhf", "runtime_env_json"): "option of `ray job submit`",
    ("transformers", "bnb_4bit_compute_dtype"): "argument of BitsAndBytesConfig",
    ("transformers", "offload_folder"): "argument of from_pretrained",
    ("transformers", "safe_serialization"): "argument of save_pretrained",
    ("trl", "nproc_per_node"): "option of torchrun",
    ("verl", "local_dir"): "option of its merge script",
    ("vllm", "skip_special_tokens"): "field of SamplingParams",
}
"""Names no catalog lists, with what takes them."""


def missing(package: str, name: str, versions: str) -> str | None:
    """Say that no release of a range takes a name.

    "" where one does, None where no catalog can tell.
    """
    known = catalog(package)
    wanted = [
        release
        for release in known.releases
        if any(in_range(release, one) for one in versions.split(OR)) or not versions
    ]
    if not wanted or (package, plain(name)) in ELSEWHERE:
        return None
    if any(taking(known, name) & known.of(release) for release in wanted):
        return ""
    # what hydra adds to a section is for the program behind it to know
    if name.lstrip("+").rpartition(".")[0].partition(".")[0] in _sections(package):
        return None
    return f"no release of {package}{versions and f' {versions}'} takes it"


@lru_cache(maxsize=32)
def _sections(package: str) -> frozenset[str]:
    """Give what the dotted names of a package begin with."""
    known = catalog(package)
    names = (option.name for option in known.options("", known.all))
    return frozenset(name.partition(".")[0] for name in names if "." in name)


def taking(known: Catalog, name: str) -> int:
    """Give the releases in which some command takes a name, its own or one it inherits."""
    bits = 0
    for option in known.find(plain(name)):
        bits |= known.bits(option)
    for parent in sorted(set(_parents(known))):
        if catalog(parent).find(plain(name)):
            bits |= known.all
    return bits


def _parents(known: Catalog) -> Iterator[str]:
    for group in known.contents.inherits.values():
        yield from (parent.package for parent in group)
