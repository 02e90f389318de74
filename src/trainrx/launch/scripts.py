"""The launches of one script, or of the containers of a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.inputs.recognise import is_manifest
from trainrx.launch.files import script_file
from trainrx.launch.find import find_launches
from trainrx.launch.python_source import is_program, read_program
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawArg, RawLaunch, Script
from trainrx.shell import read_script

if TYPE_CHECKING:
    from trainrx.launch.manifest import Part

_NODES = frozenset({"nnodes", "num_machines"})


def script_launches(
    script: Input, inherited: Mapping[str, str], beside: Path | None = None
) -> tuple[list[RawLaunch], list[Unread]]:
    """Find the launches a script holds, each with the files the script writes.

    Scripts it sources or starts are read where they lie in its own folder (`beside`) or below.
    A Kubernetes manifest or compose file is read as the scripts of its containers: their
    variables, resources and number of pods belong to the launches. Of a Python program the keyword
    arguments of its training classes count.
    """
    text = script.text or ""
    if is_program(text):
        return list(read_program(text, script.name)), []
    files = None if beside is None else partial(script_file, beside=beside)
    parts = _parts(text, script.name)
    if not parts:
        parsed = read_script(text, script.name, inherited, files)
        return [_with_files(one, parsed) for one in find_launches(parsed)], list(parsed.unread)
    launches: list[RawLaunch] = []
    unread: list[Unread] = []
    for part in parts:
        own = {item.name: item.value for item in part.env if item.value is not None}
        around = {**inherited, **part.around, **own}
        parsed = read_script(part.text, script.name, around, files)
        unread += parsed.unread
        launches += [_in_part(_with_files(one, parsed), part) for one in find_launches(parsed)]
    return launches, unread


def _parts(text: str, source: str) -> tuple[Part, ...]:
    if not is_manifest(text):
        return ()
    # needs PyYAML, whose import takes longer than a script takes to be read
    from trainrx.launch.manifest import read_manifest

    return read_manifest(text, source)


def _with_files(launch: RawLaunch, script: Script) -> RawLaunch:
    return msgspec.structs.replace(launch, written=script.written)


def _in_part(launch: RawLaunch, part: Part) -> RawLaunch:
    """Give a launch what its container gives it; the command's own words go before."""
    given = {item.name for item in launch.env}
    env = (*(item for item in part.env if item.name not in given), *launch.env)
    told = {arg.name for arg in launch.launcher} & _NODES or "NNODES" in {i.name for i in env}
    nodes = (
        (RawArg(name="nnodes", values=(str(part.nodes),), origin=launch.origin),)
        if part.nodes > 1 and not told
        else ()
    )
    return msgspec.structs.replace(
        launch,
        env=env,
        launcher=(*nodes, *launch.launcher),
        container=(*part.container, *launch.container),
    )
