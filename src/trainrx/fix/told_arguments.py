"""Changes of arguments the launch itself tells of: misspelt, of another form, no choice."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.catalog.catalog import plain
from trainrx.catalog.renames import forwards, hub_of, is_old_type
from trainrx.catalog.spell import spell_argument
from trainrx.fix.changes import Target
from trainrx.model.job import RawArg
from trainrx.model.result import Change
from trainrx.versions.ranges import in_range


def chosen(job: Target) -> Iterator[Change]:
    """Give the change of a value that is no choice into the one that was meant."""
    refused = job.facts.get("launch.refused_value")
    present, arrow, right = str(refused.value if refused else "").partition(" -> ")
    name, _, value = present.partition(" ")
    if refused is None or not arrow:
        return
    written = spell_argument(name, right, job.framework, via=job.style)
    yield Change(
        kind=written.kind,
        param=written.param,
        canonical="",
        action="switch",
        from_=value,
        now="set",
        to=right,
        spelled=written.text,
        at=refused.origins[0] if refused.origins else None,
    )


def positional(job: Target) -> Iterator[Change]:
    """Give the change of `--config FILE` into the file alone, where only that is taken.

    ms-swift from 4.1 on takes a file as its first argument: `parse_yaml_args`, swift/cli/main.py.
    """
    first = job.launch.args[0] if job.launch is not None and job.launch.args else None
    if job.framework != "ms-swift" or in_range(job.version or "", ">=4.1") is not True:
        return
    if first is None or first.name != "config" or first.via != "arg" or not first.values:
        return
    file = first.values[0]
    yield Change(
        kind="arg",
        param="config",
        canonical="",
        action="switch",
        from_=f"--config {file}",
        now="set",
        to=file,
        spelled=file,
        at=first.origin,
    )


def old_types(job: Target) -> Iterator[Change]:
    """Give what stands for a model type of ms-swift 2.x in a later release.

    There it named the model; since 3.0 `--model` does, and the type is found in its config.json.
    """
    if job.framework != "ms-swift" or in_range(job.version or "", ">=3.0") is not True:
        return
    launch = job.launch
    if launch is None:
        return
    given = {plain(arg.name): arg.values for arg in launch.args}
    for arg in launch.args:
        if plain(arg.name) != "model_type" or not arg.values or not is_old_type(arg.values[0]):
            continue
        if {"model", "model_id_or_path"} & given.keys():
            yield _needless(arg)
            continue
        named = forwards("model_type", arg.values, given, hub=hub_of(launch))
        if named is not None and named.more:
            name, _, value = named.more[0].partition("=")
            yield _instead(arg, name, value, job)


def _needless(arg: RawArg) -> Change:
    shown = f"{'--' if arg.via == 'arg' else ''}{plain(arg.name)} {' '.join(arg.values or ())}"
    return Change(
        kind="arg" if arg.via == "arg" else "config_file",
        param=plain(arg.name),
        canonical="model.type",
        action="remove",
        from_=" ".join(arg.values or ()),
        now="set",
        to=None,
        spelled=shown,
        at=arg.origin,
    )


def _instead(arg: RawArg, name: str, value: str, job: Target) -> Change:
    written = spell_argument(name, value, job.framework, via=job.style)
    dashes = "--" if arg.via == "arg" else ""
    return Change(
        kind=written.kind,
        param=written.param,
        canonical="model.name",
        action="switch",
        from_=f"{dashes}{plain(arg.name)} {' '.join(arg.values or ())}",
        now="set",
        to=written.value,
        spelled=written.text,
        at=arg.origin,
    )


def named_anew(kind: str, job: Target) -> Iterator[Change]:
    """Give the change of an argument that a fact says goes by another name: `old -> new`."""
    found = job.facts.get(kind)
    wrong, arrow, right = str(found.value if found else "").partition(" -> ")
    if found is None or not arrow or " " in wrong + right:
        return
    yield Change(
        kind="arg",
        param=right,
        canonical="",
        action="switch",
        from_=wrong,
        now="set",
        to=right,
        spelled=right,
        at=found.origins[0] if found.origins else None,
    )
