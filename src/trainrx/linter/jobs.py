"""A launch as lint judges it: resolved with the files beside it, and what is known of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.signature import signature
from trainrx.frameworks import framework_of
from trainrx.frameworks.base import Framework
from trainrx.knowledge.loaded import LoadedKnowledge
from trainrx.launch.config_files import read_configs
from trainrx.launch.files import config_texts, model_config
from trainrx.launch.images import image_versions
from trainrx.launch.open_terms import facts_beside_settings
from trainrx.launch.places import base
from trainrx.launch.request import Request
from trainrx.launch.resolve import resolve
from trainrx.linter.check import Linter
from trainrx.linter.files import File
from trainrx.linter.job import LintedJob, facts_of, is_listed, without_defaults
from trainrx.linter.places import FileLines
from trainrx.linter.settings import Settings
from trainrx.model.facts import Fact, Facts, Origin
from trainrx.model.hardware import ModelShape
from trainrx.model.job import EnvVar, Input, RawArg, RawLaunch
from trainrx.models.facts import shape_of

if TYPE_CHECKING:
    from trainrx.data.job import DataJob

_ONE_STRANGER_IN = 10
"""Keys among which one that its command does not take is a slip, and more are another command's."""
_OF_THE_CARD = ("hardware.gpu", "hardware.gpu_gib")


class RunContext(msgspec.Struct, frozen=True):
    """What stands beside all launches of a run.

    `configs` go before the files a launch names: texts that are not written yet. `model` is the
    text of the model's config.json. `programs` are those a launch may run. `data` is a file
    of data, "" for what each launch names, None where no data is to be read; `brief`: little of it.
    `edited` are texts in place of those of files that say what data is, see `DataJob`.
    """

    loaded: LoadedKnowledge
    versions: Mapping[str, str] = {}
    env: tuple[EnvVar, ...] = ()
    env_complete: bool = False
    given: tuple[Fact, ...] = ()
    configs: tuple[Input, ...] = ()
    model: str | None = None
    programs: tuple[Input, ...] = ()
    data: str | None = None
    brief: bool = False
    edited: Mapping[str, str] = {}

    @property
    def variables(self) -> dict[str, str]:
        """Give the variables whose value is known."""
        return {item.name: item.value for item in self.env if item.value is not None}


def around(
    settings: Settings, loaded: LoadedKnowledge, request: Request | None = None
) -> RunContext:
    """Put together what the caller and the settings say; the caller goes first.

    Raises:
        UsageError: a file cannot be read, or a card is none.
    """
    asked = request or Request()
    known = {**settings.versions, **(asked.versions or {})}
    cards = asked.cards or (() if settings.gpu is None else (settings.gpu,))
    beside = Request(
        config=asked.config,
        env=asked.env,
        versions=known,
        versions_file=asked.versions_file,
        cards=cards,
        gpus=_gpus(asked, settings),
        nodes=asked.nodes if asked.nodes is not None else settings.nodes,
        framework=asked.framework,
        model_config=asked.model_config,
        notes=("",),
    )
    files = (asked.env, asked.versions_file, asked.model_config, *asked.config)
    if not cards and asked.framework is None and not any(files):
        counts = beside.count_facts()
        return RunContext(loaded, known, given=counts, data=asked.data)
    # the readers of listings and cards are imported only where there are some
    from trainrx.launch.given import gather

    read = gather(beside, loaded.launches)
    return RunContext(
        loaded,
        {**known, **read.versions},
        read.env.variables,
        read.env.complete,
        read.facts,
        read.configs,
        read.model_config,
        data=asked.data,
    )


def _gpus(asked: Request, settings: Settings) -> int | None:
    """Give the number of GPUs: that of the settings where the caller names none in any way."""
    if asked.gpus is not None or settings.gpus is None or not asked.cards:
        return asked.gpus if asked.gpus is not None else settings.gpus
    from trainrx.inputs.hardware import card_and_count

    return None if card_and_count(asked.cards[0])[1] is not None else settings.gpus


def config_launch(file: File) -> RawLaunch | None:
    """Give the launch that a configuration of a framework implies; None when it implies none."""
    from trainrx.inputs.config import read_config
    from trainrx.launch.config_kinds import ALONE, classify_config, launched_with

    kind = classify_config(file.text)
    if kind in ALONE:
        return launched_with(file.text, file.name)
    own = framework_of(kind)
    # a dump of arguments was refused or taken already; an assignment completes what only assigns
    if kind is None or not own.telling_keys or own.only_assigns:
        return None
    command = own.default_command
    if own.file_of_any_command:
        command = _command_taking(read_config(file.text, "")[0], own)
        if not command:
            return None
    return RawLaunch(
        framework=kind,
        command=command,
        args=(),
        env=(),
        origin=Origin(source=file.name, line=1, text=file.text.split("\n", 1)[0][:200]),
        configs=(file.name,),
        env_complete=False,
    )


def _command_taking(args: Sequence[RawArg], own: Framework) -> str:
    """Give the command a file is for: the one that takes all its keys but a few.

    A file does not say what it is given to; where no command fits, nothing can be said of it.
    """
    known = catalog(own.name)
    names = {plain(arg.name) for arg in args} - {own.environment_key}
    fits: dict[str, int] = {}
    for command in known.contents.commands:
        taken = signature(own.name, command, known.all)
        fits[command] = sum(taken.get(name) is not None for name in names)
    best = max(
        fits, key=lambda command: (fits[command], command == own.default_command), default=""
    )
    strangers = len(names) - fits.get(best, 0)
    return best if best and strangers <= max(1, len(names) // _ONE_STRANGER_IN) else ""


def settle_job(
    raw: RawLaunch,
    linter: Linter,
    beside: RunContext,
    texts: Mapping[str, str],
    folder: Path | None,
    *,
    config: File | None = None,
) -> LintedJob:
    """Resolve a launch with its files, and put together all that is known of it."""
    own_versions = framework_of(raw.framework).own_versions
    beside = msgspec.structs.replace(
        beside, versions=own_versions({**image_versions(raw), **beside.versions})
    )
    version = beside.versions.get(raw.framework)
    own = () if config is None else (Input(kind="config", name=config.name, text=config.text),)
    named = config_texts(raw, (*own, *beside.configs), folder, version)
    read = read_configs(
        raw,
        named.texts,
        version=version,
        env=beside.env,
        places=named.places,
        packages=named.packages,
    )
    unread = bool(named.unread or read.unread)
    as_given = raw
    raw = msgspec.structs.replace(
        read.launch,
        args_complete=raw.args_complete and not unread,
        env_complete=raw.env_complete or beside.env_complete,
    )
    text = beside.model or model_config(raw, (*raw.args, *read.args), folder)
    model = shape = None
    if text is not None:
        from trainrx.models.config import read_json, shape_from_config

        model, shape = read_json(text), shape_from_config(text, "")
    resolved = resolve(
        raw,
        params=beside.loaded.lint.params,
        configs=(*read.args, *read.outer),
        env=beside.env,
        versions=beside.versions,
        files=read.files,
        model=model,
    )
    further = facts_beside_settings(as_given, resolved, read, named.missing)
    resolved = msgspec.structs.replace(resolved, facts=(*resolved.facts, *further))
    versions = dict(beside.versions)
    if resolved.version and raw.framework not in versions:
        versions[raw.framework] = resolved.version
    closed = not framework_of(raw.framework).composed or is_listed(raw, read.args, resolved.version)
    facts = facts_of(
        raw,
        resolved if closed else without_defaults(resolved),
        (*beside.given, *_cards(raw, beside)),
        wanted=linter.wanted(raw.framework),
        knowledge=beside.loaded.lint,
        versions=versions,
        shape=shape,
    )
    if len(beside.versions) > 1:
        from trainrx.facts.packages import package_facts

        facts.add(*package_facts(facts, beside.versions))
    return LintedJob(
        launch=raw,
        configs=_own_keys(raw, read.args),
        resolved=resolved,
        facts=facts,
        version=versions.get(raw.framework),
        certain=raw.framework in beside.versions,
        versions=versions,
        files=named.texts,
        texts=FileLines({**named.texts, **texts}),
        params=beside.loaded.lint.params,
        guards=linter.guards_of(raw.framework),
        loaded=beside.loaded,
        data=_data(raw, resolved, facts, (folder, shape), beside),
        unread=read.unread,
    )


def _data(
    raw: RawLaunch,
    resolved: Resolved,
    facts: Facts,
    at_hand: tuple[Path | None, ModelShape | None],
    beside: RunContext,
) -> DataJob | None:
    """Say how the data of a launch is read, where that is asked for."""
    if beside.data is None:
        return None
    # what reads data is imported only where that is asked for
    from trainrx.data.job import data_job

    folder, own = at_hand
    shape = own or shape_of(facts, beside.loaded.lint.models)
    job = data_job(raw, resolved, facts, folder, named=beside.data)
    hidden = None if shape is None else shape.hidden
    return msgspec.structs.replace(
        job, hidden=hidden, brief=beside.brief, edited=beside.edited, versions=beside.versions
    )


def _cards(raw: RawLaunch, beside: RunContext) -> Sequence[Fact]:
    """Give what is known of the card the batch script asks for, where the caller names none."""
    if not (raw.container or raw.launcher) or any(
        item.kind in _OF_THE_CARD for item in beside.given
    ):
        return ()
    from trainrx.launchers.cluster import card_asked_for

    if card_asked_for(raw) is None:
        return ()
    # the table of cards is read only where a script names one
    from trainrx.launch.cards import cards_asked_for

    return cards_asked_for(raw, beside.loaded.launches.gpus)


def _own_keys(raw: RawLaunch, args: Sequence[RawArg]) -> tuple[RawArg, ...]:
    """Give the keys of the framework's own files, not those of files an argument names (`--fsdp`).

    A file with groups of keys is for a driver, whose groups no catalog lists.
    """
    files = {base(name) for name in raw.configs} | {raw.origin.source}
    own = tuple(
        arg
        for arg in args
        if arg.via == "config" and (arg.origin.source in files or base(arg.origin.source) in files)
    )
    groups = framework_of(raw.framework).group_keys
    grouped = {arg.origin.source for arg in own if arg.name in groups}
    return tuple(arg for arg in own if arg.origin.source not in grouped)
