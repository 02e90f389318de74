"""From texts to one launch with its settings: scripts, configs, environment, versions together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from trainrx.api.files import base, config_texts
from trainrx.api.pasted import pasted_script
from trainrx.kb.store import Knowledge
from trainrx.model.facts import Fact, Origin, fact
from trainrx.model.job import Input, RawArg, RawLaunch
from trainrx.model.result import Unread
from trainrx.parse.config import classify_config, read_config
from trainrx.parse.environment import Environment
from trainrx.parse.launch import find_launches
from trainrx.parse.resolve import resolve
from trainrx.parse.resolved import Resolved
from trainrx.parse.shell import read_script

TRAINING = ("sft", "pt", "rlhf", "train", "grpo", "dpo", "ppo", "kto", "orpo", "simpo", "reward")
DEFAULT_COMMAND = {"llamafactory": "train", "ms-swift": "sft", "axolotl": "train"}


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """One launch, resolved. `style` is how its user sets parameters: arg or config."""

    raw: RawLaunch
    resolved: Resolved
    style: str
    unread: tuple[Unread, ...] = ()


def find_launch(
    scripts: Sequence[Input], configs: Sequence[Input], env: Environment
) -> tuple[RawLaunch | None, tuple[Unread, ...]]:
    """Find the training command in scripts; a config alone implies its framework's command."""
    launches, unread = all_launches(scripts, configs, env)
    launches = sorted(launches, key=lambda item: not _is_training(item))
    further = [_not_used(item) for item in launches[1:] if _is_training(item)]
    return launches[0] if launches else None, tuple(dict.fromkeys((*unread, *further)))


def all_launches(
    scripts: Sequence[Input], configs: Sequence[Input], env: Environment
) -> tuple[list[RawLaunch], tuple[Unread, ...]]:
    """Find every command of the frameworks in scripts, in the order they run.

    Without any, a config implies the command of its framework.
    """
    inherited = {item.name: item.value for item in env.variables if item.value is not None}
    launches: list[RawLaunch] = []
    unread: list[Unread] = []
    for script in scripts:
        parsed = read_script(script.text or "", script.name, inherited)
        found = find_launches(parsed)
        unread += parsed.unread
        unread += [u for item in found for u in item.unread]
        if not found:
            unread.append(_no_launch(script))
        launches += found
    if launches:
        return launches, tuple(dict.fromkeys(unread))
    implied = _from_config(configs)
    unread += [] if implied is not None else [_no_config(config) for config in configs]
    return [] if implied is None else [implied], tuple(dict.fromkeys(unread))


def pasted_launch(logs: Sequence[Input]) -> tuple[RawLaunch | None, tuple[Unread, ...]]:
    """Find the training command a person pasted into the same text as the log."""
    logs = [log for log in logs if log.kind == "log"]
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
    return bool(launch.framework) and launch.command.split(" ")[-1] in TRAINING


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
    if kind in ("deepspeed", "accelerate"):
        reason = f"is a configuration of {kind}: add the launch script that uses it with --cmd"
    else:
        reason = (
            "holds no setting that is known here (looked for those of ms-swift, LLaMA-Factory, "
            "Axolotl, verl, TRL): give the configuration the job was started with"
        )
    return Unread(source=config.name, reason=reason)


def _not_used(launch: RawLaunch) -> Unread:
    origin = launch.origin
    return Unread(
        source=origin.source,
        line=origin.line,
        text=origin.text,
        reason="is a further training command; only the first one is judged",
    )


def _from_config(configs: Sequence[Input]) -> RawLaunch | None:
    for config in configs:
        kind = classify_config(config.text or "")
        framework = "ms-swift" if kind == "args" else kind
        if framework in (None, "deepspeed", "accelerate"):
            continue
        origin = Origin(source=config.name, line=1, text=(config.text or "").split("\n")[0][:200])
        return RawLaunch(
            framework=framework,
            command=_command(framework, config),
            args=(),
            env=(),
            origin=origin,
            configs=(config.name,),
            # the command line is not at hand, and so neither are the variables in front of it
            env_complete=False,
        )
    return None


def _command(framework: str, config: Input) -> str:
    args, _ = read_config(config.text or "", config.name)
    named = {arg.name: arg.values[0] for arg in args if arg.values}
    if framework == "ms-swift":
        return "rlhf" if named.get("rlhf_type", "null") not in ("null", "None", "") else "sft"
    return DEFAULT_COMMAND.get(framework, "")


def settle(
    raw: RawLaunch,
    *,
    configs: Sequence[Input],
    env: Environment,
    versions: Mapping[str, str],
    knowledge: Knowledge,
    beside: Path | None,
) -> Launch:
    """Resolve a launch with the configs it names, those given, and files beside its script."""
    texts, missing = config_texts(raw, configs, beside)
    args: list[RawArg] = []
    dumps: list[RawArg] = []
    unread = list(missing)
    for name, text in texts.items():
        kind = classify_config(text)
        if kind != "deepspeed":
            found, problems = read_config(text, name)
            (dumps if kind == "args" else args).extend(found)
            unread += problems
    raw = msgspec.structs.replace(
        raw,
        args_complete=raw.args_complete and not unread,
        env_complete=raw.env_complete or env.complete,
    )
    resolved = resolve(
        raw,
        params=knowledge.params,
        configs=args,
        dumps=dumps,
        env=env.variables,
        versions=versions,
        files={base(name): text for name, text in texts.items()},
    )
    style = "config" if args and not _has_settings(raw) else "arg"
    return Launch(raw=raw, resolved=resolved, style=style, unread=(*unread, *resolved.unread))


def _has_settings(raw: RawLaunch) -> bool:
    return len(raw.args) > 2


def launch_facts(launch: Launch, versions: Mapping[str, str]) -> tuple[Fact, ...]:
    """Give the facts of a launch; a default cites the command that leaves it unset."""
    here = launch.raw.origin
    out = [
        msgspec.structs.replace(item, origins=(here,)) if not item.origins else item
        for item in launch.resolved.facts
    ]
    version = versions.get(launch.raw.framework) or launch.resolved.version
    if version:
        out.append(fact("launch.framework_version", version, here))
    return tuple(out)
