"""All configuration files of a launch together: what each sets, and which of them goes first.

Who wins where a file and the command line give the same argument:
- ms-swift 3.10.0-4.0.4, `--config x.yaml`: the file. Its values are appended to the command line
  (`prepare_config_args`, swift/cli/main.py), and of one name argparse takes the last.
- ms-swift 4.1.0 on, the first argument being a YAML or JSON file: the command line. The file's
  values are put in its place (`parse_yaml_args`, swift/cli/main.py). Its `ENV` overrides the
  environment before 4.2.2 and gives way to it since.
- LLaMA-Factory 0.9.3 on: `key=value` behind the file (OmegaConf.merge, hparams/parser.py).
- TRL `--config`: the command line; `env` overrides the environment (trl/scripts/utils.py).
- accelerate: its options go before its file (accelerate/commands/launch.py).
https://github.com/modelscope/ms-swift https://github.com/hiyouga/LLaMA-Factory
https://github.com/huggingface/trl https://github.com/huggingface/accelerate
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from trainrx.frameworks import framework_of
from trainrx.launch.saved_args import FILES, Loaded, loaded_back, run_folders
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.model.pattern import late
from trainrx.versions.ranges import in_range

if TYPE_CHECKING:
    from trainrx.inputs.reprs import Node
    from trainrx.launch.config_kinds import Kind

_AS_SILENT: frozenset[Kind | None] = frozenset({"deepspeed", "fsdp", "hydra", "llamaboard"})
"""Read where an argument names them, or not at all."""
_ENVIRONMENT = {"ms-swift": "ENV", "trl": "env"}
_EXPANSION = late(r"\$(?:[A-Za-z_{(]|\d)")
_SHELL_FIRST = ">=4.2.2"
APPENDED = ">=3.10,<4.1"


class Configs(msgspec.Struct, frozen=True, kw_only=True):
    """What configuration files say.

    `launch` is the launch with what its files add to its command line and environment. `args` are
    the arguments files give to the framework, the decisive last; `outer` what they give to a
    launcher in front of it (accelerate). `dumps` are arguments as the framework wrote them down.
    `files` are the texts by base name, for arguments that name one.
    """

    launch: RawLaunch
    args: tuple[RawArg, ...] = ()
    outer: tuple[RawArg, ...] = ()
    dumps: tuple[RawArg, ...] = ()
    files: Mapping[str, str] = {}
    unread: tuple[Unread, ...] = ()


def read_configs(
    launch: RawLaunch,
    texts: Mapping[str, str],
    *,
    version: str | None = None,
    env: Sequence[EnvVar] = (),
    places: Mapping[str, Origin] | None = None,
) -> Configs:
    """Read all configuration files of a launch.

    Args:
        launch: the command that uses them.
        texts: the files' texts by the names the user or the launch knows them by.
        version: of the framework, exact or in part; None when it is not known.
        env: the environment the launch stands in, for what files take from it.
        places: of files a script writes itself, the line of it in which their text begins.
    """
    framework = framework_of(launch.framework)
    if not texts and not framework.sections:
        return Configs(launch=launch)
    from trainrx.inputs.config import read_config
    from trainrx.launch.config_kinds import classify_config

    args: list[RawArg] = []
    outer: list[RawArg] = []
    dumps: list[RawArg] = []
    unread: list[Unread] = []
    behind: list[RawArg] = []
    last = _appended(launch, version)
    for name, text in _in_order(launch, texts):
        kind = classify_config(text)
        if kind in _AS_SILENT:
            continue
        found, problems = read_config(
            text, name, whole=kind != "accelerate" and not framework.nested_files
        )
        if places and name in places:
            found = tuple(_placed(arg, places[name]) for arg in found)
        unread += problems
        if kind == "args":
            back = _taken_back(launch, name, found, version)
            dumps += found if back is None else back.forced
            dumps += trainer_values(found) if back is None else ()
            args[:0] = () if back is None else back.filled
        elif kind == "accelerate":
            outer += (msgspec.structs.replace(arg, via="outer") for arg in found)
        elif last and _base(name) == last:
            behind += found
        else:
            args += found
    if framework.omegaconf and args:
        from trainrx.launch.interpolation import interpolated

        args = [*interpolated(args, (*env, *launch.env), launch.args)]
    if framework.sections:
        launch, args = _sectioned(launch, args, texts)
    launch, rest = _with_environment(launch, args, version, {item.name for item in env})
    if rest:
        keys = tuple(dict.fromkeys(arg.name for arg in rest))
        launch = msgspec.structs.replace(launch, keys=keys)
    if behind:
        own = tuple(arg for arg in launch.args if arg.name != "config")
        launch = msgspec.structs.replace(launch, args=(*own, *behind))
    return Configs(
        launch=launch,
        args=rest,
        outer=tuple(outer),
        dumps=tuple(dumps),
        files={_base(name): text for name, text in texts.items()},
        unread=tuple(unread),
    )


def _in_order(launch: RawLaunch, texts: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Give the files in the order their values count, the decisive last."""
    if launch.framework != "nemo-rl":
        return texts.items()
    from trainrx.frameworks.common.nemo import parents_first

    return parents_first(texts)


def _sectioned(
    launch: RawLaunch, args: Sequence[RawArg], texts: Mapping[str, str]
) -> tuple[RawLaunch, list[RawArg]]:
    """Leave out sections that are off; say what the files make of the command."""
    from trainrx.frameworks.common import nemo

    complete = launch.args_complete and not nemo.is_part(launch, args, texts)
    launch = msgspec.structs.replace(
        launch, command=nemo.command_of(launch, args), args_complete=complete
    )
    decisive = {arg.name: arg for arg in args if arg.name != "defaults"}
    return launch, [*nemo.in_force(tuple(decisive.values()), (*args, *launch.args))]


def _placed(arg: RawArg, place: Origin) -> RawArg:
    """Cite the script a file is written by; what it writes of a variable may not be known."""
    values = arg.values
    if values is not None and any(_EXPANSION.search(value) for value in values):
        arg = msgspec.structs.replace(arg, values=None)
    line = (place.line or 1) + (arg.origin.line or 1) - 1
    origin = Origin(source=place.source, line=line, text=arg.origin.text)
    return msgspec.structs.replace(arg, origin=origin)


def trainer_values(args: Sequence[RawArg]) -> tuple[RawArg, ...]:
    """Give what a saved `training_args` holds beyond the arguments it stands among.

    ms-swift keeps in args.json what it handed to the trainer, as printed: there stands the number
    it put where an argument was left open (`gradient_accumulation_steps: null`).
    """
    # only files bring in the reader of what Python prints
    from trainrx.inputs.reprs import read_repr, whole

    open_ = {arg.name for arg in args if arg.values == ("null",)}
    out: list[RawArg] = []
    for arg in args:
        if arg.name == "training_args" and arg.values:
            node = read_repr(arg.values[0])
            fields = node if isinstance(node, dict) else {}
            out += [
                RawArg(name=name, values=values, origin=arg.origin, via="config")
                for name, values in whole(fields)
                if name in open_ and values not in (None, ("null",))
            ]
    return tuple(out)


def _taken_back(
    launch: RawLaunch, name: str, saved: Sequence[RawArg], version: str | None
) -> Loaded | None:
    """Tell whether saved arguments are of the run a launch starts from: None when of its own."""
    folders = [folder.rstrip("/") for folder in run_folders(launch, version)]
    place = name.replace("\\", "/")
    inside = place.rpartition("/")[0]
    if _base(place) in FILES and any(inside == f or inside.endswith(f"/{f}") for f in folders):
        return loaded_back(launch, saved, version)
    return None


def _with_environment(
    launch: RawLaunch, args: Sequence[RawArg], version: str | None, around: Collection[str]
) -> tuple[RawLaunch, tuple[RawArg, ...]]:
    """Take the variables a file sets out of its arguments."""
    key = _ENVIRONMENT.get(launch.framework)
    if key is None or all(arg.name != key for arg in args):
        return launch, tuple(args)
    from trainrx.inputs.reprs import flatten

    found = [
        EnvVar(name=name, value=None if values is None else " ".join(values), origin=arg.origin)
        for arg in args
        if arg.name == key and arg.values
        for name, values in flatten(_mapping(arg.values[0]))
    ]
    shell_first = launch.framework == "ms-swift" and in_range(version or "", _SHELL_FIRST) is True
    quiet = [item for item in found if item.name not in around]
    env = (*quiet, *launch.env) if shell_first else (*launch.env, *found)
    rest = tuple(arg for arg in args if arg.name != key)
    return msgspec.structs.replace(launch, env=env), rest


def _mapping(text: str) -> dict[str, Node]:
    from trainrx.inputs.reprs import read_repr

    node = read_repr(text)
    return node if isinstance(node, dict) else {}


def _appended(launch: RawLaunch, version: str | None) -> str:
    """Give the name of the file whose values are put behind the command line, "" for none."""
    asked = next((a.values for a in launch.args if a.name == "config" and a.values), None)
    if launch.framework != "ms-swift" or asked is None:
        return ""
    return "" if in_range(version or "", APPENDED) is False else _base(asked[0])


def _base(name: str) -> str:
    return re.split(r"[/\\]", name)[-1]
