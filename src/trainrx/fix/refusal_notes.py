"""What to know beside the changes for refused arguments: releases and commands that differ."""

from __future__ import annotations

from collections.abc import Iterator

from trainrx.fix.changes import Target
from trainrx.model.refusal import Fate, RefusedArgument
from trainrx.model.text import Text
from trainrx.versions.ranges import in_range, is_exact

_PER_RELEASE = Text(en="{name}: {names}", zh="{name}：{names}")
_IN = Text(en="{now} in {package} {span}", zh="{package} {span} 中为 {now}")
_ALL = Text(
    en="{name} is {now} in all of {package} {span}",
    zh="{package} {span} 的各版本中，{name} 均为 {now}",
)
_LIVES = Text(en="{package} takes {name} in {span}", zh="{package} {span} 接受 {name}")
_ELSEWHERE = Text(
    en="{name} belongs to {commands}; no release of {package} takes it with {command}",
    zh="{name} 属于 {commands}；{package} 任何版本的 {command} 都不接受它",
)
_CONTRADICTED = Text(
    en="{package} {version} should take {name} by the catalog: a development version or another "
    "installation may be what runs",
    zh="按目录 {package} {version} 应接受 {name}：实际运行的可能是开发版，或另一处安装的版本",
)
_ANOTHER = Text(en=", ", zh="，")
_MOST = 3


def refusal_notes(job: Target) -> Iterator[str]:
    """Say of each refused argument what holds in which releases, and which command takes it."""
    for item in job.refused[:_MOST]:
        if item.fate is not None:
            yield from _notes(item, item.fate, job)


def _notes(item: RefusedArgument, fate: Fate, job: Target) -> Iterator[str]:
    dashes = "--" if item.dashed else ""
    name = f"{dashes}{item.arg.name.lstrip('-')}"
    held = {"name": name, "package": fate.package}
    version = job.versions.get(fate.package)
    if len(fate.now) > 1:
        named = [
            _IN.in_(job.lang).format(now=f"{dashes}{now}", package=fate.package, span=span)
            for now, span in fate.now
        ]
        names = _ANOTHER.in_(job.lang).join(named)
        yield _PER_RELEASE.in_(job.lang).format(name=name, names=names)
    elif fate.now and fate.asked and not is_exact(version or ""):
        now = f"{dashes}{fate.now[0][0]}"
        yield _ALL.in_(job.lang).format(now=now, span=fate.asked, **held)
    if fate.kind in ("coming", "removed") and fate.lives:
        yield _LIVES.in_(job.lang).format(span=fate.lives, **held)
        if version is not None and item.witness == "log" and _contradicted(version, fate):
            yield _CONTRADICTED.in_(job.lang).format(version=version, **held)
    if fate.commands:
        commands = ", ".join(f"`{_spoken(fate, command)}`" for command in fate.commands[:_MOST])
        own = f"`{_spoken(fate, fate.command)}`"
        yield _ELSEWHERE.in_(job.lang).format(commands=commands, command=own, **held)


def _contradicted(version: str, fate: Fate) -> bool:
    return any(in_range(version, span) for span in fate.lives.split(", "))


def _spoken(fate: Fate, command: str) -> str:
    """Give a command as people type it."""
    program = {"ms-swift": "" if command.startswith("megatron") else "swift"}.get(fate.package)
    return f"{fate.package if program is None else program} {command}".strip()
