"""The launch a configuration implies that comes without its command."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from trainrx.frameworks import framework_of
from trainrx.frameworks.common.nemo import algorithm_of
from trainrx.inputs.config import read_config
from trainrx.launch.config_kinds import classify_config, is_framework_config
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawLaunch

DEFAULT_COMMAND = {
    "llamafactory": "train",
    "ms-swift": "sft",
    "axolotl": "train",
    "nemo-automodel": "finetune",
    "easyr1": "ppo",
}

PROGRAMS: dict[str, tuple[tuple[str, str], ...]] = {
    "ms-swift": (("--rlhf_type", "swift rlhf"), ("", "swift sft")),
    "llamafactory": (("", "llamafactory-cli train"),),
    "verl": (("", "python3 -m verl.trainer.main_ppo"),),
    "easyr1": (("", "python3 -m verl.trainer.main"),),
}
"""What is run with arguments alone: the first whose mark stands among them."""
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*(?:[ =]|\\?$)")
_ASSIGNED = re.compile(r"(?:\+{1,2}|~)?[A-Za-z_][\w.]*\.[\w.]+=")


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


def with_program(script: Input, framework: str) -> tuple[Input, Unread] | None:
    """Put the program in front of a script that is nothing but arguments, as people paste them.

    Lines keep their numbers. Gives None where it is more, or the framework has several programs.
    """
    lines = (line.strip() for line in (script.text or "").splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    takes = _ASSIGNED if framework_of(framework).only_assigns else _FLAG
    if framework not in PROGRAMS or not takes.match(first):
        return None
    program = next(p for mark, p in PROGRAMS[framework] if mark in (script.text or ""))
    at = script.text.index(first) if script.text else 0
    text = f"{(script.text or '')[:at]}{program} {(script.text or '')[at:]}"
    reason = f"no program stands before these arguments: they are read as those of `{program}`"
    return msgspec.structs.replace(script, text=text, path=None), Unread(
        source=script.name, text=first[:200], reason=reason
    )
