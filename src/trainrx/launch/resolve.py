"""From a raw launch to effective arguments, settings and facts, for the versions it may run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from trainrx.catalog.arguments import (
    OUTSIDE,
    GivenArguments,
    declared,
    dumped,
    meaning,
    read_given,
)
from trainrx.catalog.catalog import catalog, plain
from trainrx.catalog.resolved import Resolved
from trainrx.catalog.signature import Signature, releases_taking, signature
from trainrx.catalog.spellbook import Spellbook
from trainrx.catalog.tables import judges, tables_of
from trainrx.frameworks import framework_of
from trainrx.frameworks.common.tables import Tables
from trainrx.frameworks.common.task import task_of
from trainrx.knowledge.catalogs import read_renames
from trainrx.launch.defaults import defaults, one_process
from trainrx.launch.effective import Scene, processes, work_out
from trainrx.launch.facts import launch_facts
from trainrx.launch.settings import SettingsReader
from trainrx.model.catalog import Value
from trainrx.model.facts import How
from trainrx.model.findings import Unread
from trainrx.model.job import Argument, EnvVar, RawArg, RawLaunch, Setting
from trainrx.model.parts import Param
from trainrx.versions.ranges import in_range


def resolve(  # noqa: PLR0913  # what stands beside a launch, one keyword each
    launch: RawLaunch,
    *,
    params: Mapping[str, Param],
    configs: Sequence[RawArg] = (),
    dumps: Sequence[RawArg] = (),
    env: Sequence[EnvVar] = (),
    versions: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    model: Mapping[str, Value] | None = None,
) -> Resolved:
    """Work out what a launch really sets.

    What the framework wrote down itself comes first, then the command line, config files, the
    environment, and the framework's defaults, declared or computed.

    Args:
        launch: the command, launchers stripped.
        params: the parameter knowledge.
        configs: arguments read from config files, of the framework or (`via` outer) a launcher.
        dumps: arguments as the framework itself wrote them down, in a log or beside its output:
            they hold whatever the launch says.
        env: variables given beside the launch; those of the launch itself come first.
        versions: canonical package name to version text, which may be a prefix.
        files: texts of files at hand by name, for a DeepSpeed config the launch points to.
        model: config.json of the model, when it is at hand.
    """
    given = dict(versions or {})
    own = [arg for arg in configs if arg.via != "outer"]
    tables = tables_of(launch, own, env)
    taken, version, version_how = _signature(launch, (*own, *dumps), given, tables)
    older = taken.catalog.precedes(version)
    closed = judges(tables, launch.framework, taken.bits) and not older
    style = framework_of(launch.framework).parser
    outside = outside_parser(launch, given.get(launch.framework))
    named = read_given(launch.args, own, taken, style, closed=closed, outside=outside)
    named = msgspec.structs.replace(named, problems=()) if older else named
    book = Spellbook(params, launch.framework, given | _named(launch.framework, version))
    reader = SettingsReader(book, launch.command)
    reader.read_dump(dumps)
    reader.read_args(launch.launcher, "launcher")
    reader.read_args(named.args, "arg")
    reader.read_args((*named.configs, *(a for a in configs if a.via == "outer")), "config")
    reader.read_env((*env, *launch.env))
    settings, shadowed = reader.effective()
    if launch.args:
        settings = {name: _as_printed(item, shadowed) for name, item in settings.items()}
    settings |= _per_node(settings, (*launch.launcher, *configs))
    task, task_origins = task_of(launch, own, settings)
    how: How = "default" if version is not None else "assumed"
    arguments = work_out(
        _parsed(launch, taken, named, dumps, how), _scene(launch, taken, env, given, model)
    )
    if launch.args_complete:
        settings |= one_process(settings, launch, task)
        settings |= defaults(book, settings, arguments, launch, task)
    return Resolved(
        framework=launch.framework,
        version=version,
        version_how=version_how,
        arguments=meaning(arguments, book.meanings(launch.command)),
        settings=settings,
        facts=launch_facts(
            launch,
            book,
            settings=settings,
            configs=configs,
            version=(version, version_how),
            task=(task, task_origins),
            files=files or {},
        ),
        shadowed=shadowed,
        unknown_flags=named.strangers if len(taken) else tuple(reader.unknown),
        problems=named.problems,
        unread=(
            *reader.unread,
            *_refused(named, {item.reason for item in reader.unread}),
            *_too_new(book, version, version_how),
        ),
    )


def outside_parser(launch: RawLaunch, version: str | None) -> frozenset[str]:
    """Give the names that are taken before a parser sees them."""
    taken = framework_of(launch.framework).takes_config(launch, version)
    return launch.declared | (OUTSIDE if taken else OUTSIDE - {"config"})


def _named(framework: str, version: str | None) -> dict[str, str]:
    return {framework: version} if version else {}


def _signature(
    launch: RawLaunch, configs: Sequence[RawArg], given: Mapping[str, str], tables: Tables
) -> tuple[Signature, str | None, How | None]:
    """Give what the command takes at the version given, else at those that take all its names."""
    owner, command, beside = launch.framework, tables.command, tables.beside
    known = catalog(owner)
    if owner in given or not known.releases:
        bits = known.of(given.get(owner))
        how: How | None = "given" if owner in given else None
        return signature(owner, command, bits, given, beside), given.get(owner), how
    started = framework_of(launch.framework).releases_starting(launch)
    if started is not None and known.precedes(started):
        return signature(owner, command, known.of(started), given, beside), started, "derived"
    bits = releases_taking((*launch.args, *configs), owner, command)
    bits = bits & known.of(started) or bits
    version = known.describe(bits) or None
    return signature(owner, command, bits, given, beside), version, "derived" if version else None


def _parsed(
    launch: RawLaunch, taken: Signature, named: GivenArguments, dumps: Sequence[RawArg], how: How
) -> dict[str, Argument]:
    """Give all arguments as parsed: given, written down by the framework, or declared."""
    written = dumped([arg for arg in dumps if arg.via != "env"], taken)
    confirmed = {n: item for n, item in named.values.items() if _confirms(written.get(n), item)}
    values = named.values | written | confirmed
    found = declared(taken, values, how, complete=launch.args_complete)
    if not framework_of(launch.framework).library:
        return found | values  # what it makes of older names is worked out
    # an older name sets what has another one today: its default says nothing
    older = {plain(arg.name) for arg in (*launch.args, *named.args, *named.configs)}
    now = {item.new for item in read_renames() if item.old in older} if older else set()
    return {name: item for name, item in found.items() if name not in now} | values


def _scene(
    launch: RawLaunch,
    taken: Signature,
    env: Sequence[EnvVar],
    versions: Mapping[str, str],
    model: Mapping[str, Value] | None,
) -> Scene:
    """Give what the framework would see beside the arguments."""
    variables = {item.name: item.value for item in (*env, *launch.env)}
    counted = processes(launch, variables)
    return Scene(
        framework=launch.framework,
        command=launch.command,
        releases=taken.bits,
        versions=versions,
        env=variables,
        env_complete=launch.env_complete,
        complete=launch.args_complete,
        world_size=counted.world_size,
        distributed=counted.distributed,
        model=model,
    )


def _as_printed(setting: Setting, shadowed: Sequence[Setting]) -> Setting:
    """Say of a value that a program printed whether the launch sets it too, and where."""
    if setting.via != "log":
        return setting
    other = next((item for item in shadowed if item.canonical == setting.canonical), None)
    if other is None:
        return msgspec.structs.replace(setting, how="printed")
    return msgspec.structs.replace(setting, origins=(*other.origins, *setting.origins))


def _confirms(written: Argument | None, reported: Argument) -> bool:
    """Tell whether the framework wrote down what the launch sets: that is where it stands."""
    return written is not None and reported.known and written.value == reported.value


def _refused(named: GivenArguments, reported: Collection[str]) -> Iterable[Unread]:
    """Say which values the framework's parser would not take; what was told is not told again."""
    for arg, problem in named.problems:
        shown = f"--{arg.name}" if arg.via == "arg" else arg.name
        if not any(reason.startswith(f"{shown}: ") for reason in reported):
            origin = arg.origin
            yield Unread(
                source=origin.source,
                line=origin.line,
                text=origin.text,
                reason=f"{shown}: {problem}",
            )


def _too_new(book: Spellbook, version: str | None, how: How | None) -> Iterable[Unread]:
    """Say when a version is of a series that nothing here was written for."""
    owner = book.owners[0]
    starts = book.timelines[owner].starts
    if version is None or how != "given" or len(starts) < 2:
        return
    if in_range(version, f">={starts[-1].major + 1}"):
        reason = (
            f"is newer than all that is known here (up to {starts[-1].major}.x): names and "
            "defaults are those of the newest known release; check the version"
        )
        yield Unread(source=f"{owner} {version}", reason=reason)


def _per_node(settings: Mapping[str, Setting], args: Sequence[RawArg]) -> dict[str, Setting]:
    """Accelerate counts processes of all nodes: share them out."""
    total = next((a for a in args if a.name in {"num_processes", "num-processes"}), None)
    if total is None or "parallel.processes_per_node" in settings or not total.values:
        return {}
    nodes = settings.get("parallel.nodes")
    count = nodes.value if nodes is not None else 1
    text = total.values[0]
    if not text.isdecimal() or len(text) > 6 or not isinstance(count, int) or count < 1:
        return {}
    if int(text) % count:
        return {}
    name = "parallel.processes_per_node"
    return {
        name: Setting(
            canonical=name,
            value=int(text) // count,
            text=text,
            spelled_as=total.name,
            via="config" if total.via == "config" else "launcher",
            how="read",
            origins=(total.origin,),
        )
    }
