"""From texts to one launch with its settings: scripts, configs, environment, versions together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from trainrx.catalog.catalog import plain
from trainrx.catalog.resolved import Resolved
from trainrx.evidence.arguments import Dump
from trainrx.frameworks import framework_of
from trainrx.inputs.config import read_config
from trainrx.knowledge.conditions import ARGUMENT
from trainrx.knowledge.store import Knowledge
from trainrx.launch.cards import cards_asked_for
from trainrx.launch.choice import LaunchChoice, choose, logged
from trainrx.launch.config_files import read_configs
from trainrx.launch.config_kinds import classify_config, implied_launch, with_program
from trainrx.launch.facts import counted
from trainrx.launch.files import ConfigTexts, config_texts, model_config
from trainrx.launch.find import find_launches
from trainrx.launch.given import Given
from trainrx.launch.open_terms import facts_beside_settings
from trainrx.launch.programs import joined, runs
from trainrx.launch.python_source import is_program
from trainrx.launch.resolve import resolve
from trainrx.launch.scripts import pasted_script, script_launches
from trainrx.model.catalog import Value
from trainrx.model.facts import Fact, Origin, Scalar, fact
from trainrx.model.findings import Unread
from trainrx.model.hardware import ModelShape
from trainrx.model.inspection import ConfigUsed
from trainrx.model.job import Input, RawArg, RawLaunch
from trainrx.models.config import read_json, shape_from_config
from trainrx.shell import read_script

TRAINING = ("sft", "pt", "rlhf", "train", "grpo", "dpo", "ppo", "kto", "orpo", "simpo", "reward")
NONE = "none"
MOST_PASTED = 16
"""Logs in which a command is looked for: a person pastes few, hundreds are those of ranks."""
_DATA = frozenset(
    {
        "dataset",
        "dataset_name",
        "datasets",
        "cached_dataset",
        "custom_train_dataset_path",
        "custom_dataset_info",
        "train_dataset",
    }
)
"""What names the data of a run."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """One launch, resolved.

    `style` is how its user sets parameters: arg or config. `shape` is that of its model, as the
    model's own config.json tells it, when that is at hand. `configs` are the files it names, the
    ones the user gave among them.
    """

    raw: RawLaunch
    resolved: Resolved
    style: str
    shape: ModelShape | None = None
    configs: tuple[ConfigUsed, ...] = ()
    unread: tuple[Unread, ...] = ()


def find_launch(
    given: Given, dumps: Sequence[Dump] = ()
) -> tuple[RawLaunch | None, tuple[Unread, ...]]:
    """Find the training command in scripts; a config alone implies its framework's command."""
    choice = find_choice(given, dumps)
    return choice.launch, choice.unread


def find_choice(given: Given, dumps: Sequence[Dump] = ()) -> LaunchChoice:
    """Find the training commands of all scripts, and choose the one that ran."""
    launches, unread = all_launches(given)
    training = [item for item in launches if _is_training(item)]
    choice = choose(training or launches, given, dumps)
    return choice._replace(unread=tuple(dict.fromkeys((*unread, *choice.unread))))


def all_launches(given: Given) -> tuple[list[RawLaunch], tuple[Unread, ...]]:
    """Find every command of the frameworks in scripts, in the order they run.

    Without any, a config implies the command of its framework.
    """
    variables = given.env.variables
    inherited = {item.name: item.value for item in variables if item.value is not None}
    launches: list[RawLaunch] = []
    unread: list[Unread] = []
    programs = [item for item in given.scripts if is_program(item.text or "")]
    # what a command line sets goes before what the program it starts says of itself
    for script in (*(item for item in given.scripts if item not in programs), *programs):
        if script in programs and runs(launches, script, programs):
            continue
        beside = given.beside.get(script.name)
        found, problems = script_launches(script, inherited, beside)
        if not found and (whole := _whole(script, given)) is not None:
            found, problems = script_launches(whole[0], inherited, beside)
            unread.append(whole[1])
        unread += problems
        if not found and script.kind != "argv":
            unread.append(_no_launch(script))
        if script.kind == "argv":
            found = [_without_start(one) for one in found]
        found = [*joined(found, programs, beside)]
        unread += [u for item in found for u in item.unread]
        launches += found
    if launches:
        return launches, tuple(dict.fromkeys(unread))
    implied = implied_launch(given.configs)
    unread += [] if implied is not None else [_no_config(item) for item in given.configs]
    return [] if implied is None else [implied], tuple(dict.fromkeys(unread))


def _without_start(launch: RawLaunch) -> RawLaunch:
    """Leave out what the words of a program do not tell: launcher, processes, variables."""
    return msgspec.structs.replace(launch, launcher=(), env_complete=False, started_unseen=True)


def _whole(script: Input, given: Given) -> tuple[Input, Unread] | None:
    """Give a script of bare arguments with the program of the framework the user names."""
    return None if given.named is None else with_program(script, given.named.name)


def without_claims(raw: RawLaunch, *, ran: bool) -> RawLaunch:
    """Take a launch that cannot have run as it stands for the excerpt it is.

    `ran`: a log or a person tells of a run. A trainer that was started has a data set;
    where no data set is named, other arguments were left out too, and what is not set is unknown.
    """
    told = {plain(arg.name) for arg in raw.args}
    if not ran or not framework_of(raw.framework).names_data or not _is_training(raw):
        return raw
    if told & _DATA or raw.configs or any(name.startswith("config") for name in told):
        return raw
    return msgspec.structs.replace(raw, args_complete=False, env_complete=False)


def pasted_launch(logs: Sequence[Input]) -> tuple[RawLaunch | None, tuple[Unread, ...]]:
    """Find the training command a person pasted into the same text as the log."""
    logs = [log for log in logs if log.kind == "log"][:MOST_PASTED]
    for script in (found for log in logs if (found := pasted_script(log)) is not None):
        parsed = read_script(script.text or "", script.name)
        for launch in find_launches(parsed):
            if _is_training(launch):
                return launch, launch.unread
    return None, ()


def printed_launch(commands: Sequence[Origin]) -> RawLaunch | None:
    """Find the training command among those a log prints of itself.

    The variables in front of it are not printed, so the environment is not complete.
    """
    for origin in commands:
        script = read_script(origin.text, origin.source)
        for launch in find_launches(script):
            if _is_training(launch):
                args = tuple(_at(arg, origin) for arg in launch.args)
                launcher = tuple(_at(arg, origin) for arg in launch.launcher)
                return msgspec.structs.replace(
                    launch, args=args, launcher=launcher, origin=_line(origin), env_complete=False
                )
    return None


def _at(arg: RawArg, origin: Origin) -> RawArg:
    return msgspec.structs.replace(arg, origin=_line(origin))


def _line(origin: Origin) -> Origin:
    return msgspec.structs.replace(origin, text=origin.text[:200])


def _is_training(launch: RawLaunch) -> bool:
    named = bool(launch.framework) and launch.command.split(" ")[-1] in TRAINING
    return named and launch.role == "trainer"


def _no_launch(script: Input) -> Unread:
    reason = (
        "holds no training command that is known here (looked for swift, llamafactory-cli, "
        "torchrun, accelerate, deepspeed, trl, verl, ...): give the script that starts the job"
    )
    return Unread(source=script.name, reason=reason)


def _no_config(config: Input) -> Unread:
    """Say why a config that came without a launch tells nothing."""
    _, problems = read_config(config.text or "", config.name)
    if problems:
        return problems[0]
    kind = classify_config(config.text or "")
    if kind is not None:
        reason = f"is a configuration of {kind}: add the launch script that uses it with --cmd"
    else:
        reason = (
            "holds no setting that is known here (looked for those of ms-swift, LLaMA-Factory, "
            "Axolotl, verl, EasyR1, TRL, NeMo): give the configuration the job was started with"
        )
    return Unread(source=config.name, reason=reason)


def settle(
    raw: RawLaunch,
    given: Given,
    *,
    versions: Mapping[str, str],
    knowledge: Knowledge,
    dumps: Sequence[Dump] = (),
) -> Launch:
    """Resolve a launch with the configs it names, those given, and files beside its script.

    Args:
        raw: the command, launchers stripped.
        given: what was read besides.
        versions: package name to version text, of the user and of the log.
        knowledge: parameters.
        dumps: what the programs of the job printed of their arguments: the strongest witness.
    """
    versions = framework_of(raw.framework).own_versions(versions)
    env, beside = given.env, given.beside.get(raw.origin.source)
    version = versions.get(raw.framework)
    texts = config_texts(raw, given.configs, beside, version)
    read = read_configs(
        raw,
        texts.texts,
        version=version,
        env=env.variables,
        places=texts.places,
        packages=texts.packages,
    )
    unread = [*texts.unread, *read.unread]
    as_given = raw
    raw = msgspec.structs.replace(
        read.launch,
        args_complete=raw.args_complete and not unread,
        env_complete=raw.env_complete or env.complete,
    )
    text = given.model_config or model_config(raw, (*raw.args, *read.args), beside)
    resolved = resolve(
        raw,
        params=knowledge.params,
        configs=(*read.args, *read.outer),
        dumps=(*read.dumps, *logged(dumps, raw)),
        env=env.variables,
        versions=versions,
        files=read.files,
        model=None if text is None else read_json(text),
    )
    further = facts_beside_settings(as_given, resolved, read, texts.missing)
    cards = cards_asked_for(raw, knowledge.gpus)
    resolved = msgspec.structs.replace(resolved, facts=(*resolved.facts, *further, *cards))
    style = "config" if (read.args or read.outer) and not _has_settings(raw) else "arg"
    name = resolved.settings.get("model.name")
    return Launch(
        raw=raw,
        resolved=resolved,
        style=style,
        shape=None if text is None else shape_from_config(text, str(name.value) if name else ""),
        configs=tuple(_configs(texts)),
        unread=(*unread, *resolved.unread),
    )


def _configs(texts: ConfigTexts) -> Iterator[ConfigUsed]:
    for name in texts.texts:
        place = texts.places.get(name)
        found = texts.found.get(name, name) if place is None else str(place)
        yield ConfigUsed(
            name=name,
            found=found,
            package=texts.packages.get(name, ""),
            guess=name in texts.guessed,
        )
    yield from (ConfigUsed(name=name) for name in (*texts.missing, *texts.absent))


def dumped_launch(dumps: Sequence[Dump]) -> RawLaunch | None:
    """Give the launch a log tells of by printing its arguments; how it was started is not known."""
    for dump in dumps:
        own = dump.framework and not framework_of(dump.framework).is_engine
        if dump.kind == "arguments" and own:
            return RawLaunch(
                framework=dump.framework,
                command=dump.command,
                args=(),
                env=(),
                origin=_line(dump.origin),
                env_complete=False,
            )
    return None


def argument_facts(launch: Launch, wanted: Iterable[str]) -> tuple[Fact, ...]:
    """Give the facts `arg.NAME` for the arguments knowledge speaks of, by the framework's own name.

    An argument that is None is the text "none"; a list is its words with a blank between.
    """
    args = launch.resolved.arguments
    names = (name.removeprefix(ARGUMENT) for name in wanted)
    found = (args[name] for name in names if name in args and args[name].known)
    facts: list[Fact] = []
    for arg in found:
        origins = arg.origins or (launch.raw.origin,)
        facts.append(fact(f"{ARGUMENT}{arg.name}", _plain_value(arg.value), *origins, how=arg.how))
        facts += counted(arg.name, arg.value, *origins, how=arg.how)
    return tuple(facts)


def _plain_value(value: Value) -> Scalar:
    if value is None:
        return NONE
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    return str(value) if isinstance(value, dict) else value


def _has_settings(raw: RawLaunch) -> bool:
    return len(raw.args) > 2


def launch_facts(launch: Launch, versions: Mapping[str, str]) -> tuple[Fact, ...]:
    """Give the facts of a launch; a default cites the command that leaves it unset."""
    here = launch.raw.origin
    out = [
        msgspec.structs.replace(item, origins=(here,)) if not item.origins else item
        for item in launch.resolved.facts
    ]
    version = (
        framework_of(launch.raw.framework).own_versions(versions).get(launch.raw.framework)
        or launch.resolved.version
    )
    if version:
        out.append(fact("launch.framework_version", version, here))
    return tuple(out)
