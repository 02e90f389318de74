"""axolotl: one pydantic model of the whole file with models inside, and one for each plugin.

Keys of a model inside are dotted, those of a list of models have `*` for the number:
`trl.beta`, `datasets.*.path`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from catalog.annotations import parsed_annotation
from catalog.classes import class_node, is_enum, resolution_order
from catalog.fields import class_command, every_class
from catalog.sources import Sources, module_name
from catalog.tables import Argument, Command, Table
from catalog.world import Definition, World

_MODELS = (
    "axolotl.utils.schemas.config",
    "axolotl.utils.config.models.input.v0_4_1",
    "axolotl.utils.config.models.input.next.v0_4_1",
)
_MAIN = "AxolotlInputConfig"
_DEEP = 4
_PREFIX = "def check_fsdp_config_kwargs_prefix"
_LISTS = frozenset({"list", "List", "conlist", "Sequence"})


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read the keys of a training file as command `train`, those of a plugin as `plugin:FOLDER`.

    A file names a plugin by module and class (`axolotl.integrations.liger.LigerPlugin`). What the
    program `axolotl NAME` takes beside the keys of the file is `cli NAME`.
    """
    world = World(sources)
    out = {f"cli {name}": Command(table) for name, table in _programs(world)}
    for name in _MODELS:
        main = world.resolve_class(name, _MAIN)
        if main is not None:
            read = _model_command(world, main)
            out["train"] = Command(_old_spellings(sources, read.arguments))
            break
    for plugin, cls in _plugins(world):
        read = _model_command(world, cls)
        before = out.get(plugin, Command({})).arguments
        if read.arguments:
            out[plugin] = Command(before | read.arguments)
    return out


def _programs(world: World) -> Iterator[tuple[str, Table]]:
    """Read the click options of each command, and the dataclasses it adds options from."""
    module = world.module("axolotl.cli.main")
    for node in module.tree.body if module else ():
        if module is None or not isinstance(node, ast.FunctionDef):
            continue
        table: Table = {}
        for call in node.decorator_list:
            match call:
                case ast.Call(
                    func=ast.Attribute(attr="option"), args=[ast.Constant(value=str() as o)]
                ):
                    name = o.partition("/")[0].lstrip("-").replace("-", "_")
                    table[name] = Argument("bool" if "/" in o else "", None)
                case ast.Call(
                    func=ast.Name(id="add_options_from_dataclass"), args=[ast.Name(id=c)]
                ):
                    cls = world.resolve_class(module.name, c)
                    table |= class_command(world, cls).arguments if cls is not None else {}
        if table:
            yield node.name.replace("_", "-"), table


def _old_spellings(sources: Sources, table: Table) -> Table:
    """Add the names a validator takes the `fsdp_` off (`fsdp_config.fsdp_offload_params`)."""
    paths = sources.glob("axolotl/utils/schemas/*.py")
    if not any(_PREFIX in sources.read(path) for path in paths):
        return table
    start = "fsdp_config."
    return {
        name: argument._replace(aliases=(*argument.aliases, f"{start}fsdp_{name[len(start) :]}"))
        if name.startswith(start) and not name.startswith(f"{start}fsdp_")
        else argument
        for name, argument in table.items()
    }


def _plugins(world: World) -> Iterator[tuple[str, Definition]]:
    """Give the class of keys each plugin names; the folder tells which plugin it is."""
    for path in world.sources.glob("axolotl/integrations/*.py"):
        module = world.module(module_name(path))
        for node in ast.walk(module.tree) if module else ():
            match node:
                case ast.FunctionDef(
                    name="get_input_args",
                    body=[*_, ast.Return(value=ast.Constant(value=str() as dotted))],
                ):
                    where, _, name = dotted.rpartition(".")
                    found = world.resolve_class(where, name)
                    if found is not None:
                        yield f"plugin:{'.'.join(where.split('.')[:3])}", found


def _model_command(world: World, cls: Definition) -> Command:
    read = class_command(world, cls, is_container=every_class)
    return read._replace(arguments=read.arguments | _inside(world, cls, "", _DEEP))


def _inside(world: World, cls: Definition, prefix: str, left: int) -> Table:
    """Read the models that the fields of a model hold.

    A field may hold one model or another (`list[SyntheticDataset | SFTDataset]`): a key that
    several have takes what one of them does.
    """
    table: Table = {}
    for name, is_list, model in _models(world, cls) if left else ():
        start = f"{prefix}{name}.*." if is_list else f"{prefix}{name}."
        fields = class_command(world, model, is_container=every_class).arguments
        inside = {start + key: argument for key, argument in fields.items()}
        for key, argument in (inside | _inside(world, model, start, left - 1)).items():
            table[key] = _either(table[key], argument) if key in table else argument
    return table


def _either(one: Argument, other: Argument) -> Argument:
    """Join what two models take for a key; a default that they do not share is none."""
    taken = one if one.choices is None else other
    if one.choices is not None and other.choices is not None:
        taken = one._replace(choices=tuple(dict.fromkeys((*one.choices, *other.choices))))
    return taken._replace(default=one.default if one.default == other.default else None)


def _models(world: World, cls: Definition) -> Iterator[tuple[str, bool, Definition]]:
    """Give the fields whose annotation names a class with fields."""
    own = [c for c in resolution_order(world, cls) if isinstance(c, Definition)]
    seen: set[str] = set()
    for ancestor in own:
        for statement in class_node(ancestor).body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if (
                    name not in seen
                ):
                    seen.add(name)
                    read = parsed_annotation(annotation)
                    names = [n.id for n in ast.walk(read) if isinstance(n, ast.Name)]
                    for text in names:
                        model = world.resolve_class(ancestor.module.name, text)
                        if model is not None and not is_enum(class_node(model)):
                            yield name, not _LISTS.isdisjoint(names), model
