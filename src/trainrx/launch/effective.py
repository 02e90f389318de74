"""From arguments as parsed to arguments as the framework works with them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from trainrx.frameworks import framework_of
from trainrx.frameworks.common.view import UNKNOWN, Held
from trainrx.launch.effective_scene import LaunchView, Scene
from trainrx.model import reasons
from trainrx.model.job import Argument


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
