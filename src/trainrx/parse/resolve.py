"""From a raw launch to effective settings and facts, for the versions the job may run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trainrx.model.facts import Fact, How, Origin, Scalar, fact
from trainrx.model.job import EnvVar, RawArg, RawLaunch, Setting
from trainrx.model.knowledge import Param
from trainrx.model.result import Unread
from trainrx.parse.arguments import STYLES, declared, dumped, read_given
from trainrx.parse.catalog import Signature, catalog, catalog_command, releases_taking, signature
from trainrx.parse.deepspeed import deepspeed_facts, read_deepspeed
from trainrx.parse.defaults import computed, defaults
from trainrx.parse.resolved import Resolved
from trainrx.parse.settings import Reader
from trainrx.parse.spellbook import Spellbook
from trainrx.parse.task import task_of
from trainrx.parse.version_range import in_range

_NO_DEEPSPEED = frozenset({"ms-swift", "llamafactory", "transformers", "trl"})
_NOT_SHARDED = (("MULTI_GPU",), ("NO",))
"""`distributed_type` of accelerate for plain data parallelism and a single process."""


def resolve(
    launch: RawLaunch,
    *,
    params: Mapping[str, Param],
    configs: Sequence[RawArg] = (),
    env: Sequence[EnvVar] = (),
    versions: Mapping[str, str] | None = None,
    dumps: Sequence[RawArg] = (),
    files: Mapping[str, str] | None = None,
) -> Resolved:
    """Work out what a launch really sets.

    What the framework wrote down itself comes first, then the command line, config files, the
    environment, and the framework's defaults.

    Args:
        launch: the command, launchers stripped.
        params: the parameter knowledge.
        configs: arguments read from config files (framework, accelerate, DeepSpeed).
        env: variables given beside the launch; those of the launch itself come first.
        versions: canonical package name to version text, which may be a prefix.
        dumps: arguments as the framework itself wrote them down, in a log or beside its output:
            they hold whatever the launch says.
        files: texts of files at hand by name, for a DeepSpeed config the launch points to.
    """
    given = dict(versions or {})
    taken, version, version_how = _signature(launch, (*configs, *dumps), given)
    named = read_given(launch.args, configs, taken, STYLES.get(launch.framework, "hf"))
    known = given | ({launch.framework: version} if version else {})
    book = Spellbook(params, launch.framework, known)
    reader = Reader(book, launch.command)
    reader.read_dump(dumps)
    reader.read_args(launch.launcher, "launcher")
    reader.read_args(named.args, "arg")
    reader.read_args(named.configs, "config")
    reader.read_env((*env, *launch.env))
    settings, shadowed = reader.effective()
    values = named.values | dumped(dumps, taken)
    settings |= _per_node(settings, (*launch.launcher, *configs))
    task, task_origins = task_of(launch, configs, settings)
    how: How = "default" if version is not None else "assumed"
    if launch.args_complete:
        settings |= defaults(book, settings, launch, task, how)
        settings |= computed(settings, launch, task, version, how)
    facts = (
        *_launch_facts(launch, book, version_how, task, task_origins),
        *_deepspeed(settings, launch, configs, version, files or {}),
        *(_plain(s) for s in settings.values() if s.value is not None),
    )
    return Resolved(
        framework=launch.framework,
        version=version,
        version_how=version_how,
        arguments=values | declared(taken, values, how),
        settings=settings,
        facts=facts,
        shadowed=shadowed,
        unknown_flags=named.strangers if len(taken) else tuple(reader.unknown),
        unread=(*reader.unread, *_too_new(book, version, version_how)),
    )


def _signature(
    launch: RawLaunch, configs: Sequence[RawArg], given: Mapping[str, str]
) -> tuple[Signature, str | None, How | None]:
    """Give what the command takes at the version given, else at those that take all its names."""
    owner = launch.framework
    known = catalog(owner)
    command = catalog_command(owner, launch.command)
    if owner in given or not known.releases:
        bits = known.of(given.get(owner))
        how: How | None = "given" if owner in given else None
        return signature(owner, command, bits, given), given.get(owner), how
    bits = releases_taking((*launch.args, *configs), owner, command)
    version = known.describe(bits) or None
    return signature(owner, command, bits, given), version, "derived" if version else None


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


def _launch_facts(
    launch: RawLaunch, book: Spellbook, how: How | None, task: str, origins: tuple[Origin, ...]
) -> Iterable[Fact]:
    here = launch.origin
    yield fact("launch.given", True, here)
    # a hidden argument can set what a variable would
    yield fact("launch.env_complete", launch.env_complete and launch.args_complete, here)
    if launch.command:
        yield fact("launch.command", launch.command, here)
    if task:
        yield fact("launch.task", task, *(origins or (here,)))
    if not launch.framework:
        return
    yield fact("launch.framework", launch.framework, here)
    if launch.framework in book.timelines and how is not None:
        majors = book.timelines[launch.framework].majors(book.bits[launch.framework])
        if len(majors) == 1:
            yield fact("launch.framework_major", majors.pop(), here, how=how)


def _deepspeed(
    settings: Mapping[str, Setting],
    launch: RawLaunch,
    configs: Sequence[RawArg],
    version: str | None,
    files: Mapping[str, str],
) -> Iterable[Fact]:
    """Say what is sharded and offloaded; nothing where DeepSpeed is not ruled out either."""
    found: dict[str, Scalar] = {}
    origins: tuple[Origin, ...] = ()
    how: How = "read"
    setting = settings.get("parallel.deepspeed")
    if setting is not None and setting.value is not None:
        content = files.get(_file_name(setting.text))
        text = setting.text or str(setting.value)
        if setting.spelled_as.endswith("zero_stage"):
            text = str(setting.value)
        found = read_deepspeed(text, framework=launch.framework, version=version, content=content)
        origins, how = setting.origins, setting.how
    flat = {arg.name: arg for arg in configs if arg.values}
    written = deepspeed_facts({name: arg.values[0] for name, arg in flat.items() if arg.values})
    if written:
        found |= written
        origins = origins or tuple(a.origin for n, a in flat.items() if "zero" in n)[:1]
    if setting is None and not found and _without_deepspeed(launch, configs):
        found, origins, how = {"parallel.zero_stage": 0}, (launch.origin,), "default"
    for name, value in found.items():
        yield fact(name, value, *origins, how=how)


def _without_deepspeed(launch: RawLaunch, configs: Sequence[RawArg]) -> bool:
    hidden = {"accelerate_config", "config_file", "deepspeed_config", "use_deepspeed"}
    told = {arg.name for arg in (*launch.launcher, *configs)}
    if any(a.name == "distributed_type" and a.values in _NOT_SHARDED for a in configs):
        # accelerate's own config is at hand and names no DeepSpeed
        hidden -= {"accelerate_config", "config_file"}
    config_missing = bool(launch.configs) and not configs
    megatron = launch.command.startswith("megatron")
    known = launch.framework in _NO_DEEPSPEED and not megatron
    return known and not told & hidden and not config_missing


def _file_name(path: str) -> str:
    return path.strip().replace("\\", "/").rsplit("/", 1)[-1]


def _plain(setting: Setting) -> Fact:
    value = setting.value if setting.value is not None else ""
    return fact(setting.canonical, value, *setting.origins, how=setting.how)
