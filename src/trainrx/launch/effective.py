"""From arguments as parsed to arguments as the framework works with them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache

import msgspec
from packaging.version import Version

from trainrx.catalog.catalog import catalog
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.processes import Processes, times
from trainrx.frameworks.common.view import UNKNOWN, Held, Truth, Unknown
from trainrx.model import reasons
from trainrx.model.catalog import Value
from trainrx.model.job import Argument, RawLaunch
from trainrx.versions.ranges import in_range


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What is known beside the arguments.

    `releases` are bits of the framework's releases the job may run; `env` holds None for a variable
    that is set to something unknown, and all there is when `env_complete`. `complete`: no further
    arguments are hidden. `model` is config.json of the model.
    """

    framework: str
    command: str
    releases: int
    versions: Mapping[str, str] = {}
    env: Mapping[str, str | None] = {}
    env_complete: bool = True
    complete: bool = True
    world_size: int | None = None
    distributed: Truth = None
    model: Mapping[str, Value] | None = None


class LaunchView:
    """The view of one launch: its arguments and its scene."""

    def __init__(self, arguments: Mapping[str, Argument], scene: Scene) -> None:
        self._arguments = arguments
        self._scene = scene

    @property
    def command(self) -> str:
        """Sub-command of the framework."""
        return self._scene.command

    @property
    def world_size(self) -> int | None:
        """Processes of the whole job; None when not known."""
        return self._scene.world_size

    @property
    def distributed(self) -> Truth:
        """Whether a launcher starts the processes, be it one."""
        return self._scene.distributed

    @property
    def model(self) -> Mapping[str, Value] | None:
        """config.json of the model; None when it is not at hand."""
        return self._scene.model

    def has(self, name: str) -> bool:
        """Tell whether the command takes an argument of this name."""
        return name in self._arguments

    def get(self, name: str) -> Held:
        """Give the value as parsed: given, or the declared default."""
        argument = self._arguments[name]
        if not argument.known or (argument.via == "default" and not self._scene.complete):
            return UNKNOWN
        return argument.value

    def given(self, name: str) -> bool:
        """Tell whether the launch sets an argument."""
        return name in self._arguments and self._arguments[name].via != "default"

    def since(self, release: str) -> Truth:
        """Tell whether the framework is of this release or a later one."""
        bits = self._scene.releases & catalog(self._scene.framework).all
        at = _place(self._scene.framework, release)
        later = bits >> at << at
        return None if not bits or 0 < later < bits else later == bits

    def package_since(self, package: str, release: str) -> Truth:
        """Tell the same of another package."""
        version = self._scene.versions.get(package)
        return in_range(version, f">={release}") if version else None

    def env(self, name: str) -> str | Unknown | None:
        """Give an environment variable; None when it is not set."""
        if name in self._scene.env:
            value = self._scene.env[name]
            return UNKNOWN if value is None else value
        return None if self._scene.env_complete else UNKNOWN


@lru_cache(maxsize=256)
def _place(framework: str, release: str) -> int:
    """Count the listed releases of a framework before one."""
    return bisect_left(catalog(framework).versions, Version(release))


def processes(launch: RawLaunch, env: Mapping[str, str | None]) -> Processes:
    """Count the processes a launch starts, the way the programs of its framework do."""
    if launch.started_unseen:
        return Processes()
    given = {arg.name: arg.values[-1] if arg.values else None for arg in launch.launcher}
    if "nproc_per_node" in given:
        return Processes(times(given["nproc_per_node"], given.get("nnodes", "1")), distributed=True)
    return framework_of(launch.framework).processes(launch, env)


def work_out(arguments: Mapping[str, Argument], scene: Scene) -> dict[str, Argument]:
    """Give all arguments with the values the framework gives them after parsing.

    What it wrote down itself (`via` log) is that, where it is not None. An argument that keeps its
    value is handed on as it is; one that depends on something unknown is not known any more.
    """
    worked = framework_of(scene.framework).effective(LaunchView(arguments, scene))
    return {name: _after(item, worked.get(name, item)) for name, item in arguments.items()}


def _after(argument: Argument, value: Held | Argument) -> Argument:
    if isinstance(value, Argument):
        return argument
    if argument.via == "log" and (argument.value is not None or value is UNKNOWN):
        # what was written down before the framework filled it in says no more than a default
        return argument
    if value is UNKNOWN:
        if not argument.known:
            return argument
        return msgspec.structs.replace(
            argument, value=None, known=False, via="computed", why=reasons.COMPUTED
        )
    if argument.known and type(value) is type(argument.value) and value == argument.value:
        return argument
    return msgspec.structs.replace(argument, value=value, known=True, via="computed", why="")
