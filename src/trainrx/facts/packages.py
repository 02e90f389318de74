"""Whether the versions of a job fit together, by what their releases say they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from packaging.version import Version

from trainrx.facts.reading import framework
from trainrx.facts.releases import release_facts, template_facts
from trainrx.frameworks import framework_of, frameworks
from trainrx.knowledge.packages import Requirements, read_requirements
from trainrx.model.facts import Fact, Facts, Origin, fact
from trainrx.model.packages import ModelNeed, Need
from trainrx.model.pattern import late
from trainrx.versions.listing import is_whole
from trainrx.versions.ranges import in_range, is_exact

MOST_NAMED = 8
"""Conflicts told in words; a broken environment can hold dozens."""

PLACED = ("transformers", "trl", "torch")
"""Packages whose place in the range a framework wants is a fact of its own."""

_TYPES: Mapping[str, tuple[str, str]] = {
    "gpt-oss": ("gpt_oss", "gpt_oss"),
    "llama4": ("llama4", "llama4"),
    "qwen2-audio": ("qwen2_audio", "qwen2_audio"),
    "qwen2-vl": ("qwen2_vl", "qwen2_vl"),
    "qwen2.5-omni": ("qwen2_5_omni", "qwen2_5_omni"),
    "qwen2.5-vl": ("qwen2_5_vl", "qwen2_5_vl"),
    "qwen3": ("qwen3", "qwen3_moe"),
    "qwen3-next": ("qwen3_next", "qwen3_next"),
    "qwen3-omni": ("qwen3_omni_moe", "qwen3_omni_moe"),
    "qwen3-vl": ("qwen3_vl", "qwen3_vl_moe"),
    "qwen3.5": ("qwen3_5", "qwen3_5_moe"),
}
"""Model types of families, dense and with experts; families that may bring own code stand apart."""


DISTRIBUTIONS = {
    "PIL": "pillow",
    "cv2": "opencv-python",
    "dotenv": "python-dotenv",
    "fla": "flash-linear-attention",
    "google": "protobuf",
    "megatron": "megatron-core",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Packages whose name is another than that of their module."""
_NAME = late(r"[\w.-]+")


class Edge(NamedTuple):
    """What one installed package needs of another; `holds` None: nobody can tell."""

    need: Need
    holder: str
    present: str
    holds: bool | None

    def __str__(self) -> str:
        asked = f"{self.need.package} {self.holder} needs {self.need.needs}{self.need.spec}"
        return f"{asked}, {self.present} is installed"


def package_facts(facts: Facts, versions: Mapping[str, str]) -> Iterator[Fact]:
    """Say whether the versions fit, what contradicts what, and what the model needs.

    Optional features are left aside: their ranges are advice.
    """
    yield from release_facts(facts, versions)
    yield from template_facts(facts)
    if not versions:
        return
    yield from _missing(facts, versions)
    if (torch := versions.get("torch", "")).partition("+")[2].startswith("cpu"):
        yield fact("torch.cpu_build", True, Origin(source=f"torch {torch}"), how="derived")
    known = read_requirements()
    edges = [edge for edge in edges_of(versions, known) if edge.need.kind != "extra"]
    broken = [edge for edge in edges if edge.holds is False]
    if broken:
        said = "; ".join(str(edge) for edge in broken[:MOST_NAMED])
        yield fact("packages.conflicts", said, *_origins(broken), how="derived")
    if broken or (edges and all(edge.holds for edge in edges)):
        yield fact("packages.fit", not broken, *_origins(broken or edges), how="derived")
    for name in PLACED:
        yield from _place(name, [e for e in edges if _wants(e, name)])
    yield from _model(facts, versions, known)


def _missing(facts: Facts, versions: Mapping[str, str]) -> Iterator[Fact]:
    """Say whether a whole list lacks what could not be imported, where that is a package.

    A name that only the user's own code imports may be a file of the project.
    """
    module = facts.text("missing.package") or facts.text("missing.module") or ""
    found = _NAME.match(module)
    if found is None or "." in found[0] or not is_whole(versions.keys()):
        return
    name = distribution_of(found[0])
    asked = facts.get("missing.package") or facts.get("failure.package")
    if asked is None and framework_of(name).name != name and name not in _of_requirements():
        return
    there = {*versions, *(facts.text("packages.unversioned") or "").split()}
    at = facts.origins("missing.module")
    yield fact("missing.unlisted", name not in there, *at, how="derived")


def _of_requirements() -> set[str]:
    return {need.needs for needs in read_requirements().needs.values() for need in needs}


def distribution_of(module: str) -> str:
    """Name the package that brings a module."""
    own = (one.name for one in frameworks() if module in one.folders)
    return DISTRIBUTIONS.get(module) or next(own, module.replace("_", "-").lower())


def edges_of(versions: Mapping[str, str], known: Requirements) -> Iterator[Edge]:
    """Give what installed packages need of each other, as far as their releases are known."""
    for package, holder in versions.items():
        for need in known.needs.get(package, ()):
            present = versions.get(need.needs)
            if present is not None and applies(need, holder):
                yield Edge(need, holder, present, in_range(present, need.spec))


def applies(need: Need, holder: str) -> bool:
    """Tell whether all that a version text may mean has a need."""
    version = _release(holder)
    if version is None:
        until = f",<{need.until}" if need.until else ""
        return in_range(holder, f">={need.since}{until}") is True
    # most needs are of other releases: a comparison is ten times quicker than a range
    return _start(need.since) <= version and not (need.until and _start(need.until) <= version)


@lru_cache(maxsize=256)
def _release(text: str) -> Version | None:
    """Read a text that names one release; None for a prefix, a range or a development version."""
    if not is_exact(text):
        return None
    version = Version(text.strip().removeprefix("==").strip())
    return None if version.is_prerelease else Version(version.public)


@lru_cache(maxsize=2048)
def _start(text: str) -> Version:
    return Version(text)


def _wants(edge: Edge, name: str) -> bool:
    return edge.need.needs == name and name in framework_of(edge.need.package).stands_by


def _place(name: str, edges: list[Edge]) -> Iterator[Fact]:
    """Say whether a package lies inside what its framework wants, above or below."""
    decisive = next((e for e in edges if e.holds is False), None)
    if decisive is None and not (edges and all(e.holds for e in edges)):
        return
    edge = decisive or edges[0]
    at = _origins([edge])
    where = "inside" if decisive is None else _side(edge)
    yield fact(f"packages.{name}_place", where, *at, how="derived")
    wanted = ",".join(dict.fromkeys(e.need.spec for e in edges))
    yield fact(f"packages.{name}_range", wanted, *at, how="derived")


def _side(edge: Edge) -> Literal["above", "below", "excluded"]:
    """Tell which end of its range a version misses; "excluded" when it misses a gap."""
    parts = edge.need.spec.split(",")
    missed = [part for part in parts if in_range(edge.present, part) is False]
    if any(part.startswith("<") for part in missed):
        return "above"
    if any(part.startswith((">", "~=")) for part in missed):
        return "below"
    pinned = next((part.removeprefix("==") for part in missed if part.startswith("==")), "")
    if not pinned:
        return "excluded"
    return "above" if in_range(edge.present, f">{pinned.removesuffix('.*')}") else "below"


def _model(facts: Facts, versions: Mapping[str, str], known: Requirements) -> Iterator[Fact]:
    need = model_need(facts, known)
    if need is None:
        return
    at = facts.origins("log.model_type", "model.type", "model.family")
    yield fact("model.needs_transformers", need.spec, *at, how="derived")
    present = versions.get("transformers")
    least = ",".join(part for part in need.spec.split(",") if part.startswith(">"))
    new_enough = in_range(present, least) if present and least else None
    if new_enough is not None:
        where = (*at, Origin(source=f"transformers {present}"))
        yield fact("model.transformers_too_old", not new_enough, *where, how="derived")


def model_need(facts: Facts, known: Requirements) -> ModelNeed | None:
    """Find what the model asks of transformers.

    Decisive is the type the log names, then the model's own, then that of its family.
    """
    asked = {(n.by, n.type): n for n in known.models if n.needs == "transformers"}
    told = facts.text("log.model_type")
    if told is not None and ("", told) in asked:
        return asked["", told]
    given, runs = facts.text("model.type"), framework(facts)
    if given is not None:
        named = asked.get((runs.name, given))
        if named is not None or runs.own_model_types:
            return named or asked.get(("", given))
    types = _TYPES.get(facts.text("model.family") or "")
    if types is None:
        return None
    return asked.get(("", types[facts.value("model.is_moe") is True]))


def _origins(edges: Iterable[Edge]) -> tuple[Origin, ...]:
    told = (
        Origin(source=f"{name} {version}")
        for e in edges
        for name, version in ((e.need.package, e.holder), (e.need.needs, e.present))
    )
    return tuple(dict.fromkeys(told))
