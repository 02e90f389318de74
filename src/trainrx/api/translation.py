"""`translate()`: the launches of some files in the words of another version of their framework."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from trainrx.api.files import config_texts
from trainrx.api.inputs import Given, Request, gather, many
from trainrx.api.inspection import tool
from trainrx.api.job import all_launches
from trainrx.api.topics import topic_of
from trainrx.fix.translate import Moved, Version2, exact, move, text_of, written_for
from trainrx.fix.translate_defaults import default_changes
from trainrx.kb.load import load
from trainrx.kb.store import Knowledge
from trainrx.model.errors import UsageError
from trainrx.model.job import RawLaunch
from trainrx.model.text import Lang
from trainrx.model.translation import Translated, Translation
from trainrx.parse.catalog import catalog
from trainrx.parse.config_files import read_configs

PathLike = Path | str
FRAMEWORKS = ("ms-swift", "llamafactory", "trl", "transformers", "verl", "openrlhf", "axolotl")

def translate(  # noqa: PLR0913  # the contract's inputs, one keyword each
    paths: PathLike | Sequence[PathLike] = (),
    *,
    to: dict[str, str],
    from_: dict[str, str] | None = None,
    cmd: PathLike | Sequence[PathLike] = (),
    config: Sequence[PathLike] = (),
    lang: Lang = "en",
    kb: Sequence[PathLike] = (),
    stdin: bytes | None = None,
) -> Translation:
    """Say what each argument of a launch is in another version of its framework.

    Args:
        paths: scripts or configs, recognised by content; "-" is `stdin`.
        to: the version wanted, by package name: `{"ms-swift": "4.6"}`; a prefix is its newest.
        from_: the version the launch is written for; without it that follows from its names.
        cmd: launch scripts.
        config: config files of the launch.
        lang: language of the notes.
        kb: folders of further knowledge.
        stdin: the bytes "-" stands for.

    Raises:
        UsageError: an input cannot be used, holds no launch, or a version is not known.
    """
    knowledge = load([Path(k) for k in kb], [], launches=True)
    request = Request(paths=many(paths), cmd=many(cmd), config=many(config), stdin=stdin)
    given = gather(request, knowledge)
    launches, unread = all_launches(given)
    if not launches:
        named = ", ".join((*request.paths, *request.cmd, *request.config))
        raise UsageError(f"no launch found in {named}: give the script that starts the job")
    framework = _framework(to, launches)
    fitting = [one for one in launches if one.framework == framework]
    out = tuple(_translated(one, given, knowledge, to, from_ or {}, lang) for one in fitting)
    return Translation(
        tool=tool(knowledge),
        lang=lang,
        launches=tuple(item for item, _ in out),
        unread=tuple(dict.fromkeys((*given.unread, *unread))),
    )


def _framework(to: dict[str, str], launches: Sequence[RawLaunch]) -> str:
    """Find the framework both the launches and the target are of."""
    present = [one.framework for one in launches]
    found = next((name for name in to if name in present), None)
    if found is not None:
        return found
    wanted, there = ", ".join(to), ", ".join(dict.fromkeys(filter(None, present))) or "unknown"
    raise UsageError(
        f"--to names {wanted}, but the launch is of {there}: arguments are translated between "
        f"versions of one framework, for example --to {present[0] or FRAMEWORKS[0]}==VERSION"
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


def _translated(  # noqa: PLR0913  # what one translation takes
    raw: RawLaunch,
    given: Given,
    knowledge: Knowledge,
    to: dict[str, str],
    from_: dict[str, str],
    lang: Lang,
) -> tuple[Translated, Moved]:
    framework = raw.framework
    target = _version(framework, to[framework], "--to")
    told = from_.get(framework)
    version = told and _version(framework, told, "--from")
    texts = config_texts(raw, given.configs, given.beside.get(raw.origin.source), version)
    read = read_configs(raw, texts.texts, version=version, places=texts.places)
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
            text=text_of(moved.launch, env),
        ),
        moved,
    )
