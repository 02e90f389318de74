"""DeepSpeed: the keys of its JSON file, by section, and its launcher."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from catalog.evaluate import Evaluator
from catalog.fields import class_command, every_class
from catalog.modules import Module
from catalog.parsers import function_parser
from catalog.sources import Sources, module_name
from catalog.tables import Argument, Command, Table, plain_value
from catalog.world import World

_MODELS = {
    "zero_optimization": ("runtime.zero.config", "DeepSpeedZeroConfig"),
    "zero_optimization.offload_param": (
        "runtime.zero.offload_config",
        "DeepSpeedZeroOffloadParamConfig",
    ),
    "zero_optimization.offload_optimizer": (
        "runtime.zero.offload_config",
        "DeepSpeedZeroOffloadOptimizerConfig",
    ),
    "fp16": ("runtime.precision_config", "DeepSpeedFP16Config"),
    "bf16": ("runtime.precision_config", "DeepSpeedBF16Config"),
    "tensorboard": ("monitor.config", "TensorBoardConfig"),
    "wandb": ("monitor.config", "WandbConfig"),
    "csv_monitor": ("monitor.config", "CSVConfig"),
    "comet": ("monitor.config", "CometConfig"),
    "comms_logger": ("comm.config", "CommsLoggerConfig"),
    "compile": ("compile.config", "CompileConfig"),
    "tensor_parallel": ("runtime.tensor_parallel.config", "TPTrainingConfig"),
    "hybrid_engine": ("runtime.config", "HybridEngineConfig"),
}
"""Sections that are described by a class."""

_SECTIONS = {
    "param_dict": "",
    "fp16_dict": "fp16",
    "act_chkpt_config_dict": "activation_checkpointing",
    "flops_profiler_dict": "flops_profiler",
    "autotuning_dict": "autotuning",
    "aio_dict": "aio",
    "checkpoint_dict": "checkpoint",
}
"""Sections by the variable their reader holds them in; "" is the top of the file."""

_READERS = ("get_scalar_param", "get_dict_param", "get_list_param")
TOP = "config"


def read_commands(sources: Sources) -> dict[str, Command]:
    """Read sections as commands, the top of the file as `config`, the launcher as `launch`."""
    world = World(sources)
    tables: dict[str, Table] = {TOP: {}}
    for path in sources.glob("deepspeed/runtime/*config.py", "deepspeed/*/config.py"):
        module = world.module(module_name(path))
        if module is not None:
            for section, name, argument in _reads(world, module):
                tables.setdefault(section or TOP, {}).setdefault(name, argument)
    for section, (where, cls) in _MODELS.items():
        found = world.resolve_class(f"deepspeed.{where}", cls)
        if found is not None:
            model = class_command(world, found, is_container=every_class)
            tables[section] = tables.get(section, {}) | model.arguments
    for section in tables:
        if "." not in section and section != TOP:
            tables[TOP].setdefault(section, Argument("dict", None))
    launcher = function_parser(world, "deepspeed.launcher.runner", "parse_args")
    out = {section: Command(table) for section, table in tables.items() if table}
    return out | ({"launch": Command(launcher)} if launcher else {})


def _reads(world: World, module: Module) -> Iterator[tuple[str, str, Argument]]:
    """Find where a reader takes a key out of the file: section, key, what is known of it."""
    inside = Evaluator(world, module, _first_of_loops(module))
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[holder, key, default]) if name in _READERS:
                section, read = _section(inside, holder), inside.text(key)
                if section is not None and read:
                    value = plain_value(inside.value(default))
                    yield section, read, Argument(_type(value), value)
            case ast.Subscript(value=ast.Name(id="param_dict"), slice=key):
                yield from _top(inside, key)
            case ast.Compare(left=key, ops=[ast.In()], comparators=[holder]):
                if ast.unparse(holder) in ("param_dict", "param_dict.keys()"):
                    yield from _top(inside, key)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="param_dict"), attr="get")):
                yield from _top(inside, node.args[0])


def _first_of_loops(module: Module) -> dict[str, ast.expr]:
    """Give what `for key in [NAME, OLD_NAME]` begins with: sections with an older spelling."""
    return {
        node.target.id: node.iter.elts[0]
        for node in ast.walk(module.tree)
        if isinstance(node, ast.For)
        and isinstance(node.target, ast.Name)
        and isinstance(node.iter, ast.List)
        and node.iter.elts
    }


def _top(inside: Evaluator, key: ast.expr) -> Iterator[tuple[str, str, Argument]]:
    name = inside.text(key)
    if name:
        yield "", name, Argument("", None)


def _section(inside: Evaluator, holder: ast.expr) -> str | None:
    match holder:
        case ast.Name(id=name):
            return _SECTIONS.get(name)
        case ast.Subscript(value=ast.Name(id="param_dict"), slice=key):
            return inside.text(key)
    return None


def _type(value: object) -> str:
    return "" if value is None or isinstance(value, dict) else type(value).__name__
