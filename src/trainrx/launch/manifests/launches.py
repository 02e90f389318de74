"""The launches of a manifest: what its containers run, with what each container gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from trainrx.inputs.environment import read_environment
from trainrx.launch.find import find_launches
from trainrx.launch.manifests.kinds import HOSTS_OF_MPI
from trainrx.launch.manifests.parts import Part, read_manifest
from trainrx.launch.places import base
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import EnvVar, Input, RawArg, RawLaunch
from trainrx.shell import read_script

ReadFile = Callable[[str], str | None]
_NODES = frozenset({"nnodes", "num_machines"})
_RENDEZVOUS = "PET_NNODES"


def manifest_launches(
    manifest: Input, inherited: Mapping[str, str], files: ReadFile | None
) -> tuple[list[RawLaunch], list[Unread]] | None:
    """Find the launches of a manifest's containers; None where none of them has a command."""
    parts = read_manifest(manifest.text or "", manifest.name, inherited)
    launches: list[RawLaunch] = []
    unread: list[Unread] = []
    for part in parts:
        found, problems = _of_part(part, manifest.name, inherited, files)
        launches += found
        unread += problems
    return (launches, unread) if parts else None


def _of_part(
    part: Part, source: str, inherited: Mapping[str, str], files: ReadFile | None
) -> tuple[Iterator[RawLaunch], tuple[Unread, ...]]:
    more, missing = _from_files(part, files)
    env = (*more, *part.env)
    own = {item.name: item.value for item in env if item.value is not None}
    around = {**inherited, **part.around, **own}
    # each text with the lines above it, so that its lines are those of the manifest
    held = {base(name): "\n" * (line - 1) + text for name, text, line in part.files}

    def read(name: str) -> str | None:
        return held.get(base(name)) or (files(name) if files is not None else None)

    parsed = read_script(part.text, source, around, read)
    found = [_cited(launch, held, source) for launch in find_launches(parsed, around)]
    written = (*part.files, *parsed.written)
    return (_placed(launch, part, env, written, missing) for launch in found), parsed.unread


def _cited(launch: RawLaunch, held: Mapping[str, str], source: str) -> RawLaunch:
    """Cite what stands in a file of a config map where the manifest has it."""

    def at(origin: Origin) -> Origin:
        own = base(origin.source) in held and origin.source != source
        return msgspec.structs.replace(origin, source=source) if own else origin

    return msgspec.structs.replace(
        launch,
        origin=at(launch.origin),
        args=tuple(msgspec.structs.replace(a, origin=at(a.origin)) for a in launch.args),
        env=tuple(msgspec.structs.replace(e, origin=at(e.origin)) for e in launch.env),
        launcher=tuple(msgspec.structs.replace(a, origin=at(a.origin)) for a in launch.launcher),
    )


def _from_files(part: Part, files: ReadFile | None) -> tuple[tuple[EnvVar, ...], bool]:
    """Give the variables of the files a container names, and whether one is not at hand."""
    found: list[EnvVar] = []
    missing = False
    for name in part.env_files:
        text = files(name) if files is not None else None
        missing = missing or text is None
        found += [] if text is None else read_environment(text, name).variables
    return tuple(found), missing


def _placed(
    launch: RawLaunch,
    part: Part,
    env: tuple[EnvVar, ...],
    written: tuple[tuple[str, str, int], ...],
    missing: bool,
) -> RawLaunch:
    """Give a launch what its container gives it; the command's own words go before."""
    given = {item.name for item in launch.env}
    return msgspec.structs.replace(
        launch,
        env=(*(item for item in env if item.name not in given), *launch.env),
        env_complete=launch.env_complete and not missing,
        launcher=(*_nodes(launch, part, given), *launch.launcher),
        container=(*part.container, *launch.container),
        written=written,
        alone=False,
    )


def _nodes(launch: RawLaunch, part: Part, given: set[str]) -> tuple[RawArg, ...]:
    """Say on how many nodes a launch meets where its operator sets that and the launch does not.

    torchrun takes PET_NNODES, mpirun a file of hosts, a program that is started alone WORLD_SIZE.
    """
    told = {item.name for item in launch.launcher} & _NODES or "NNODES" in given
    if told or part.nodes < 2:
        return ()
    sets = bool({_RENDEZVOUS, HOSTS_OF_MPI} & part.around.keys())
    sets = sets or ("WORLD_SIZE" in part.around and not launch.launcher)
    origin: Origin = part.counted or launch.origin
    return (RawArg(name="nnodes", values=(str(part.nodes),), origin=origin),) if sets else ()
