"""Facts a launch gives of itself: what is started, as what, sharded how."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from trainrx.catalog.deepspeed import deepspeed_facts, keys_of, read_deepspeed
from trainrx.catalog.spellbook import Spellbook
from trainrx.frameworks import framework_of
from trainrx.knowledge.conditions import COUNT
from trainrx.launch.effective import processes
from trainrx.launch.identities import batch_by_identity
from trainrx.launchers.allocation import allocation_facts
from trainrx.model.catalog import Value
from trainrx.model.facts import Fact, How, Origin, Scalar, fact
from trainrx.model.job import RawArg, RawLaunch, Setting

_NOT_SHARDED = (("MULTI_GPU",), ("NO",))
"""`distributed_type` of accelerate for plain data parallelism and a single process."""


UNRESOLVED = "launch.unresolved"


def launch_facts(
    launch: RawLaunch,
    book: Spellbook,
    *,
    settings: Mapping[str, Setting],
    configs: Sequence[RawArg],
    version: tuple[str | None, How | None],
    task: tuple[str, tuple[Origin, ...]],
    files: Mapping[str, str],
) -> tuple[Fact, ...]:
    """Give the facts of one launch: what it is, its sharding, and every setting by its name.

    Args:
        launch: the command.
        book: the names of its framework.
        settings: its parameters by canonical name.
        configs: arguments of config files, those of a launcher in front too.
        version: the framework's version and how it is known.
        task: what it trains with, and where that stands.
        files: texts of files at hand by name.
    """
    open_ = [name for name, setting in settings.items() if setting.value is None]
    return (
        *_identity(launch, book, version[1], *task),
        *([fact(UNRESOLVED, " ".join(sorted(open_)), launch.origin)] if open_ else ()),
        *_deepspeed(settings, launch, configs, version[0], files),
        *_accelerate(configs, {arg.name for arg in launch.launcher}),
        *(_plain(s) for s in settings.values() if s.value is not None),
        *allocation_facts(launch),
        *batch_by_identity(launch, settings),
    )


def _identity(
    launch: RawLaunch, book: Spellbook, how: How | None, task: str, origins: tuple[Origin, ...]
) -> Iterable[Fact]:
    here = launch.origin
    yield fact("launch.given", True, here)
    # a hidden argument can set what a variable would
    ends = next((one for one in launch.defects if one.id == "crlf-line-ends"), None)
    if ends is not None:
        yield fact("launch.line_ends", "crlf", Origin(source=ends.source, line=ends.line))
    yield fact("launch.env_complete", launch.env_complete and launch.args_complete, here)
    if launch.command:
        yield fact("launch.command", launch.command, here)
    if task:
        yield fact("launch.task", task, *(origins or (here,)))
    if not launch.framework:
        return
    yield fact("launch.framework", launch.framework, here)
    spread = processes(launch, {item.name: item.value for item in launch.env}).distributed
    if spread or (spread is False and launch.env_complete):
        yield fact("launch.distributed", spread, here)
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
            # a bare number tells nothing of what is offloaded
            found = {
                name: v
                for name, v in read_deepspeed(str(setting.value)).items()
                if "offload" not in name
            }
        else:
            found = read_deepspeed(
                text, framework=launch.framework, version=version, content=content
            )
        origins, how = setting.origins, setting.how
    flat = {arg.name: arg for arg in configs if arg.values}
    written = deepspeed_facts({name: arg.values[0] for name, arg in flat.items() if arg.values})
    if written:
        found |= written
        origins = origins or tuple(a.origin for n, a in flat.items() if "zero" in n)[:1]
    if setting is None and not found:
        # accelerate's own configuration, which is not at hand, bears what it shards in its name
        found, origins = _named_so(launch)
    if setting is None and not found and _without_deepspeed(launch, configs):
        found, origins, how = {"parallel.zero_stage": 0}, (launch.origin,), "default"
    for name, value in found.items():
        own = tuple(flat[key].origin for key in keys_of(name) if key in flat)
        yield fact(name, value, *(own or origins), how=how)
    yield from _left_open(launch, configs)


def _left_open(launch: RawLaunch, configs: Sequence[RawArg]) -> Iterable[Fact]:
    """Count what a DeepSpeed file leaves to a trainer, where no trainer is at hand."""
    left = [arg for arg in configs if arg.values == ("auto",)]
    if launch.framework == "deepspeed" and left:
        yield fact("deepspeed.auto", len(left), left[0].origin)


_OF_FILE = frozenset(
    {"gradient_accumulation_steps", "gradient_clipping", "zero_stage", "zero3_save_16bit_model"}
    | {"offload_optimizer_device", "offload_param_device", "mixed_precision"}
    | {"offload_optimizer_nvme_path", "offload_param_nvme_path"}
)
"""What accelerate refuses beside `deepspeed_config_file` (utils/dataclasses.py:
`_deepspeed_config_checks`)."""


def _accelerate(configs: Sequence[RawArg], options: Collection[str]) -> Iterable[Fact]:
    """Say what a configuration of accelerate holds of what does not go together.

    Its precision counts as the file's own only where the `options` of the launcher give none, and
    DeepSpeed settings only where DeepSpeed is what it starts (commands/launch.py).
    """
    own = [arg for arg in configs if arg.via == "outer" and arg.values]
    texts = {arg.name: arg for arg in own}
    kind = texts.get("distributed_type")
    if kind is not None and kind.values:
        yield fact("accelerate.distributed_type", kind.values[0], kind.origin)
    for name in ("fsdp_config", "deepspeed_config"):
        inside = [arg for arg in own if arg.name.startswith(f"{name}.")]
        if inside:
            yield fact(f"accelerate.{name}", True, inside[0].origin)
    file = texts.get("deepspeed_config.deepspeed_config_file")
    doubled = [arg for arg in own if arg.name.removeprefix("deepspeed_config.") in _OF_FILE]
    refused = [arg for arg in doubled if "." in arg.name or arg.name not in options]
    deepspeed = "use_deepspeed" in options or (kind is not None and kind.values == ("DEEPSPEED",))
    if file is not None and refused and deepspeed:
        yield fact("accelerate.beside_file", refused[0].name, refused[0].origin)
    for name, told in (("num_processes", "processes"), ("num_machines", "machines")):
        item = texts.get(name)
        value = item.values[0] if item is not None and item.values else ""
        if item is not None and value.isdecimal() and len(value) <= 6:
            yield fact(f"accelerate.{told}", int(value), item.origin)


def _named_so(launch: RawLaunch) -> tuple[dict[str, Scalar], tuple[Origin, ...]]:
    for arg in launch.launcher:
        if arg.name in ("config_file", "accelerate_config") and arg.values:
            found = read_deepspeed(_file_name(arg.values[0]))
            if "parallel.zero_stage" in found:
                return found, (arg.origin,)
    return {}, ()


def _without_deepspeed(launch: RawLaunch, configs: Sequence[RawArg]) -> bool:
    hidden = {"accelerate_config", "config_file", "deepspeed_config", "use_deepspeed"}
    given = {arg.name for arg in (*launch.launcher, *configs)}
    if any(a.name == "distributed_type" and a.values in _NOT_SHARDED for a in configs):
        # accelerate's own config is at hand and names no DeepSpeed
        hidden -= {"accelerate_config", "config_file"}
    config_missing = bool(launch.configs) and not configs
    megatron = launch.command.startswith("megatron")
    known = framework_of(launch.framework).training_arguments and not megatron
    return known and not (given & hidden or config_missing or launch.started_unseen)


def _file_name(path: str) -> str:
    return path.strip().replace("\\", "/").rsplit("/", 1)[-1]


def _plain(setting: Setting) -> Fact:
    value = setting.value if setting.value is not None else ""
    return fact(setting.canonical, value, *setting.origins, how=setting.how)


def counted(argument: str, value: Value, *origins: Origin, how: How) -> Iterator[Fact]:
    """Give how many items an argument holds (`count.NAME`): of a list, or between commas."""
    if isinstance(value, list) and value:
        yield fact(f"{COUNT}{argument}", len(value), *origins, how=how)
    elif isinstance(value, str) and value:
        yield fact(f"{COUNT}{argument}", value.count(",") + 1, *origins, how=how)
