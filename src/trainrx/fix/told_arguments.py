"""Changes of arguments that facts of the launch tell of: misspelt, of another form, no choice."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.fix.changes import Target
from trainrx.model.result import Change
from trainrx.parse.spell import spell_argument
from trainrx.parse.version_range import in_range


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
