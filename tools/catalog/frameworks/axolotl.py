"""axolotl: one pydantic model of the whole file, and one for each plugin."""

from __future__ import annotations

from catalog.fields import class_command, every_class
from catalog.sources import Sources, module_name
from catalog.tables import Command
from catalog.world import Definition, World

_MODELS = (
    "axolotl.utils.schemas.config",
    "axolotl.utils.config.models.input.v0_4_1",
    "axolotl.utils.config.models.input.next.v0_4_1",
)
_MAIN = "AxolotlInputConfig"


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read the keys of a training file as command `train`, those of a plugin as `plugin:NAME`."""
    world = World(sources)
    out: dict[str, Command] = {}
    for name in _MODELS:
        main = world.resolve_class(name, _MAIN)
        if main is not None:
            out["train"] = class_command(world, main, is_container=every_class)
            break
    for path in sources.glob("axolotl/integrations/*args.py"):
        module = world.module(module_name(path))
        for name in module.bindings if module else ():
            found = world.resolve(module.name, name) if module and name.endswith("Args") else None
            if isinstance(found, Definition) and found.module is module:
                read = class_command(world, found, is_container=every_class)
                if read.arguments:
                    out[f"plugin:{name}"] = read
    return out
