"""The launch a configuration implies that comes without its command."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from trainrx.frameworks import framework_of, frameworks
from trainrx.inputs.config import read_config
from trainrx.launch.config_kinds import classify_config, is_framework_config
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import Input, RawLaunch

_FLAG = re.compile(r"--?[A-Za-z][\w.-]*(?:[ =]|\\?$)")
_ASSIGNED = re.compile(r"(?:\+{1,2}|~)?[A-Za-z_][\w.]*\.[\w.]+=")


def implied_launch(configs: Sequence[Input]) -> RawLaunch | None:
    """Give the command of the framework one of the configs is of, else that of a launcher."""
    for config in configs:
        kind = classify_config(config.text or "")
        if kind is None or not is_framework_config(kind):
            continue
        keeps = (one for one in frameworks() if one.keeps_arguments)
        framework = next(keeps) if kind == "args" else framework_of(kind)
        args, _ = read_config(config.text or "", config.name)
        origin = Origin(source=config.name, line=1, text=(config.text or "").split("\n")[0][:200])
        return RawLaunch(
            framework=framework.name,
            command=framework.command_in_file(args),
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


def with_program(script: Input, framework: str) -> tuple[Input, Unread] | None:
    """Put the program in front of a script that is nothing but arguments, as people paste them.

    Lines keep their numbers. Gives None where it is more, or the framework has several programs.
    """
    lines = (line.strip() for line in (script.text or "").splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    own = framework_of(framework)
    takes = _ASSIGNED if own.only_assigns else _FLAG
    if not own.bare_programs or not takes.match(first):
        return None
    program = next(p for mark, p in own.bare_programs if mark in (script.text or ""))
    at = script.text.index(first) if script.text else 0
    text = f"{(script.text or '')[:at]}{program} {(script.text or '')[at:]}"
    reason = f"no program stands before these arguments: they are read as those of `{program}`"
    return msgspec.structs.replace(script, text=text, path=None), Unread(
        source=script.name, text=first[:200], reason=reason
    )
