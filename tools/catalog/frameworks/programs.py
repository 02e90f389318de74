"""accelerate, torchrun and OpenRLHF: command lines built with argparse."""

from __future__ import annotations

from catalog.parsers import function_parser
from catalog.sources import Sources, module_name
from catalog.tables import Command
from catalog.world import World


def read_accelerate(sources: Sources) -> dict[str, Command]:
    """Read `accelerate launch`."""
    table = function_parser(World(sources), "accelerate.commands.launch", "launch_command_parser")
    return {"launch": Command(table)}


def read_torchrun(sources: Sources) -> dict[str, Command]:
    """Read `torchrun`, the same as `python -m torch.distributed.run`."""
    table = function_parser(World(sources), "torch.distributed.run", "get_args_parser")
    return {"torchrun": Command(table)}


def read_openrlhf(sources: Sources) -> dict[str, Command]:
    """Read `python -m openrlhf.cli.NAME`."""
    world = World(sources)
    out: dict[str, Command] = {}
    for path in sources.glob("openrlhf/cli/*.py"):
        name = module_name(path)
        table = function_parser(world, name)
        if table:
            out[name.rpartition(".")[2]] = Command(table)
    return out
