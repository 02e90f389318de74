"""Versions that the name of a container image states.

https://github.com/modelscope/modelscope/blob/master/docker/build_image.py
https://hub.docker.com/r/verlai/verl/tags
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from trainrx.frameworks import names
from trainrx.model.job import RawLaunch
from trainrx.model.pattern import late
from trainrx.versions.listing import canonical_package

IMAGES = ("image", "container_image")
LONGEST = 300
_SHORT = {"mcore": "megatron-core", "te": "transformer-engine"}
_LIBRARIES = frozenset(
    {"torch", "deepspeed", "modelscope", "sglang", "flash-attn", "megatron-core", "peft"}
    | {"accelerate", "transformer-engine", "xformers", "torch-npu"}
)
_VERSION = late(r"v?(\d{1,3}(?:\.\d{1,3}){1,2}(?:\.?(?:post|rc|dev)\d{1,3})?)(?![\w.])")
_NAMED = late(
    r"(?:^|[-_])(?P<name>[A-Za-z]{2,20}(?:[_-]attn|[_-]npu)?)[-_]?v?"
    r"(?P<version>\d{1,3}(?:\.\d{1,3}){1,2}(?:\.?(?:post|rc)\d{1,3})?)(?![\w.])"
)


def image_versions(launch: RawLaunch | None) -> Mapping[str, str]:
    """Give the versions the image of a launch names: `modelscope:torch2.7.1-swift3.7.0`."""
    if launch is None:
        return {}
    given = {arg.name: arg.values for arg in launch.container}
    values = next((given[name] for name in IMAGES if given.get(name)), None)
    return versions_in(values[-1]) if values else {}


def versions_in(image: str) -> dict[str, str]:
    """Read the versions in the name and tag of an image."""
    path, sign, tag = image[:LONGEST].partition("@")[0].rpartition(":")
    if not sign or "/" in tag:
        return {}
    found: dict[str, str] = {}
    for match in _NAMED.finditer(tag):
        package = _package(match["name"])
        if package in _known():
            found.setdefault(package, match["version"])
    own, folder = path.rpartition("/")[2], path.rpartition("/")[0].rpartition("/")[2]
    package = _package(own)
    if package not in _known():
        package = _package(own.partition("-")[0])
    # NVIDIA numbers its images of torch by the month
    is_own = package in _known() and (package != "torch" or folder == own)
    if is_own and (plain := _VERSION.match(tag)) is not None:
        found.setdefault(package, plain[1])
    return found


@cache
def _known() -> frozenset[str]:
    return frozenset(names()) | _LIBRARIES


def _package(name: str) -> str:
    plain = canonical_package(name)
    return _SHORT.get(plain, plain)
