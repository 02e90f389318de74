"""`translate()`: the launches of some files in the words of another version of their framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from trainrx.catalog.catalog import catalog
from trainrx.fix.patch import unified_diff, write_files
from trainrx.inspect.inspection import tool
from trainrx.inspect.topics import topic_of
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.knowledge.store import Knowledge
from trainrx.launch.config_files import read_configs
from trainrx.launch.files import config_texts
from trainrx.launch.given import Given, gather
from trainrx.launch.job import all_launches
from trainrx.launch.request import Request
from trainrx.model.errors import UsageError
from trainrx.model.job import NO_FILES, RawLaunch
from trainrx.model.planning import Patched
from trainrx.model.text import Lang
from trainrx.model.translation import Translated, Translation
from trainrx.translation.defaults import default_changes
from trainrx.translation.edits import Edited, edited
from trainrx.translation.translate import Moved, Version2, exact, move, text_of, written_for


def translate(
    request: Request,
    loaded: LoadedKnowledge,
    *,
    to: Mapping[str, str],
    from_: Mapping[str, str] | None = None,
    edits: bool = False,
) -> Translation:
    """Say what each argument of a launch is in another version of its framework.

    Args:
        request: what is asked; the versions it states are those the launch is written for.
        loaded: the knowledge it names.
        to: the version wanted, by package name: `{"ms-swift": "4.6"}`; a prefix is its newest.
        from_: the version the launch is written for, where it is not the one installed; without
            either that follows from its names.
        edits: work out the edits of the files as well.

    Raises:
        UsageError: an input cannot be used, holds no launch, or a version is not known.
    """
    knowledge, lang = loaded.launches, request.lang
    given = gather(request, knowledge)
    launches, unread = all_launches(given)
    if not launches:
        named = ", ".join((*request.paths, *request.cmd, *request.config))
        raise UsageError(f"no launch found in {named}: give the script that starts the job")
    framework = _framework(to, launches)
    fitting = [one for one in launches if one.framework == framework]
    out = tuple(
        _translated(one, given, knowledge, to, {**given.versions, **(from_ or {})}, lang)
        for one in fitting
    )
    found = Edited()
    if edits:
        found = edited(given, [(raw, item) for raw, (item, _) in zip(fitting, out, strict=True)])
    return Translation(
        tool=tool(knowledge),
        lang=lang,
        launches=tuple(item for item, _ in out),
        files=found.files,
        by_hand=found.by_hand,
        unread=tuple(dict.fromkeys((*given.unread, *unread))),
    )


def diff_of(answer: Translation) -> str:
    """Give the edits as a unified diff, "" when there are none."""
    return unified_diff(Patched(files=answer.files))


def write_edits(answer: Translation) -> tuple[tuple[str, str | None], ...]:
    """Write the edits into the files; give each file and where its old text is kept.

    Raises:
        UsageError: a file was changed since, or cannot be written; nothing was written then.
    """
    if any(item.name in NO_FILES for item in answer.files):
        raise UsageError(
            "--write changes files, and neither standard input nor a command in words is one: give "
            "the launch by the name of its file"
        )
    done = write_files(Patched(files=answer.files), Path())
    return tuple((str(one.file), None if one.backup is None else str(one.backup)) for one in done)


def _framework(to: Mapping[str, str], launches: Sequence[RawLaunch]) -> str:
    """Find the framework both the launches and the target are of."""
    present = [one.framework for one in launches]
    found = next((name for name in to if name in present), None)
    if found is not None:
        return found
    wanted, there = ", ".join(to), ", ".join(dict.fromkeys(filter(None, present))) or "unknown"
    raise UsageError(
        f"--to names {wanted}, but the launch is of {there}: arguments are translated between "
        f"versions of one framework, for example --to {present[0] or 'NAME'}==VERSION"
    )


def _version(framework: str, text: str, option: str) -> str:
    found = exact(framework, text)
    if found is None:
        releases = catalog(framework).releases
        span = f"{releases[0]} to {releases[-1]}" if releases else "none"
        raise UsageError(
            f"{option} {framework}=={text}: no release of {framework} is known by that version "
            f"(known: {span})"
        )
    return found


def _translated(  # what one translation takes
    raw: RawLaunch,
    given: Given,
    knowledge: Knowledge,
    to: Mapping[str, str],
    from_: Mapping[str, str],
    lang: Lang,
) -> tuple[Translated, Moved]:
    framework = raw.framework
    target = _version(framework, to[framework], "--to")
    told = from_.get(framework)
    version = told and _version(framework, told, "--from")
    texts = config_texts(raw, given.configs, given.beside.get(raw.origin.source), version)
    read = read_configs(
        raw, texts.texts, version=version, places=texts.places, packages=texts.packages
    )
    launch, configs = read.launch, read.args
    shown = version or ""
    if not version:
        version, shown = written_for(launch, configs)
    moved = move(launch, configs, Version2(version, target), knowledge.params, lang)
    env = {
        change.param: change.to or ""
        for item in moved.arguments
        for change in item.changes
        if change.kind == "env"
    }
    defaults = tuple(
        msgspec.structs.replace(item, topic=topic_of(item.now, item.canonical))
        for item in default_changes(moved, lang)
    )
    return (
        Translated(
            place=raw.origin,
            framework=framework,
            version=version if told else (shown or version),
            version_how="given" if told else ("derived" if shown else "unknown"),
            target=target,
            command=raw.command,
            command_now=moved.launch.command,
            arguments=moved.arguments,
            defaults=defaults,
            refused=moved.refused,
            text=text_of(moved.launch, moved.configs, env),
        ),
        moved,
    )


def command_lines(path: Path, framework: str, way: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Give command and argv of the first launch of a file carried along some versions.

    Args:
        path: a launch script.
        framework: what it is of.
        way: versions; the first is the one it is written for.
    """
    knowledge = LoadedKnowledge().launches
    given = gather(Request(paths=(str(path),)), knowledge)
    raw = next(one for one in all_launches(given)[0] if one.framework == framework)
    for old, new in pairwise(way):
        raw = move(raw, (), Version2(old, new), knowledge.params, "en").launch
    words = [word for arg in raw.args for word in (f"--{arg.name}", *(arg.values or ()))]
    return raw.command, tuple(words)
