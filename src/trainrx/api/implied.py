"""The launch a configuration implies that comes without its command."""

from __future__ import annotations

from collections.abc import Sequence

from trainrx.model.facts import Origin
from trainrx.model.job import Input, RawLaunch
from trainrx.parse.config import read_config
from trainrx.parse.config_kinds import classify_config, is_framework_config
from trainrx.parse.nemo import algorithm_of

DEFAULT_COMMAND = {
    "llamafactory": "train",
    "ms-swift": "sft",
    "axolotl": "train",
    "nemo-automodel": "finetune",
    "easyr1": "ppo",
}


def implied_launch(configs: Sequence[Input]) -> RawLaunch | None:
    """Give the command of the framework one of the configs is of, else that of a launcher."""
    for config in configs:
        kind = classify_config(config.text or "")
        if kind is None or not is_framework_config(kind):
            continue
        framework = "ms-swift" if kind == "args" else kind
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
    return _from_launcher_config(configs)


def _from_launcher_config(configs: Sequence[Input]) -> RawLaunch | None:
    """Give the launch a configuration of accelerate implies: a program that is not at hand."""
    for config in configs:
        if classify_config(config.text or "") == "accelerate":
            options, _ = read_config(config.text or "", config.name)
            return RawLaunch(
                framework="accelerate",
                command="",
                args=(),
                env=(),
                launcher=tuple(item for item in options if "." not in item.name),
                origin=Origin(
                    source=config.name, line=1, text=(config.text or "").split("\n")[0][:200]
                ),
                configs=(config.name,),
                args_complete=False,
                env_complete=False,
            )
    return None


def _command(framework: str, config: Input) -> str:
    args, _ = read_config(config.text or "", config.name)
    named = {arg.name: arg.values[0] for arg in args if arg.values}
    if framework == "ms-swift":
        return "rlhf" if named.get("rlhf_type", "null") not in ("null", "None", "") else "sft"
    if framework == "nemo-rl":
        return algorithm_of(args)
    return DEFAULT_COMMAND.get(framework, "")
