"""From arguments as parsed to arguments as the framework works with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from trainrx.model import reasons
from trainrx.model.job import Argument
from trainrx.parse.effective import llamafactory, ms_swift, transformers
from trainrx.parse.effective.scene import LaunchView, Scene
from trainrx.parse.effective.view import UNKNOWN, Held, View, Worked

_RULES: Mapping[str, Callable[[View], Worked]] = {
    "ms-swift": ms_swift.effective,
    "llamafactory": llamafactory.effective,
    "transformers": transformers.effective,
    "trl": transformers.effective,
}


def work_out(arguments: Mapping[str, Argument], scene: Scene) -> dict[str, Argument]:
    """Give all arguments with the values the framework gives them after parsing.

    What it wrote down itself (`via` log) is that, where it is not None. An argument that keeps its
    value is handed on as it is; one that depends on something unknown is not known any more.
    """
    rules = _RULES.get(scene.framework)
    if rules is None:
        return dict(arguments)
    worked = rules(LaunchView(arguments, scene))
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
