"""All configuration files of a launch together: what each sets, and which of them goes first.

Options of accelerate go before its file (accelerate/commands/launch.py).
https://github.com/huggingface/accelerate
In values stand references of OmegaConf, `${...}`, to other keys and to the environment.
https://omegaconf.readthedocs.io/en/latest/usage.html#variable-interpolation
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from trainrx.frameworks import framework_of
from trainrx.frameworks.common.saved import FILES, Loaded
from trainrx.model.facts import Origin
from trainrx.model.findings import Unread
from trainrx.model.job import EnvVar, RawArg, RawLaunch
from trainrx.model.pattern import late

if TYPE_CHECKING:
    from trainrx.inputs.reprs import Node
    from trainrx.launch.config_kinds import Kind


_AS_SILENT: frozenset[Kind | None] = frozenset({"deepspeed", "fsdp", "hydra", "llamaboard"})
"""Read where an argument names them, or not at all."""
_EXPANSION = late(r"\$(?:[A-Za-z_{(]|\d)")


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
    packages: Mapping[str, str] | None = None,
) -> Configs:
    """Read all configuration files of a launch.

    Args:
        launch: the command that uses them.
        texts: the files' texts by the names the user or the launch knows them by.
        version: of the framework, exact or in part; None when it is not known.
        env: the environment the launch stands in, for what files take from it.
        places: of files a script writes itself, the line of it in which their text begins.
        packages: of files Hydra composes, what it puts in front of their keys.
    """
    framework = framework_of(launch.framework)
    if not texts and not framework.sections:
        return Configs(launch=launch)
    found = _FileArguments(launch, version)
    for name, text in framework.in_order(texts):
        if packages and name in packages:
            found.compose(name, text, packages[name])
        else:
            found.read(name, text, (places or {}).get(name))
    args: Sequence[RawArg] = found.args
    if (framework.omegaconf or packages) and args:
        args = [*interpolated(args, (*env, *launch.env), launch.args)]
    if packages and not framework.composed:
        from trainrx.launch.handed_on import handed_on

        args, given = handed_on(args, launch.args)
        launch = msgspec.structs.replace(launch, args=given)
    if framework.sections:
        launch, args = _sectioned(launch, args, texts)
    launch, rest = _with_environment(launch, args, version, {item.name for item in env})
    if rest:
        keys = tuple(dict.fromkeys(arg.name for arg in rest))
        launch = msgspec.structs.replace(launch, keys=keys)
    if found.appended:
        own = tuple(arg for arg in launch.args if arg.name != "config")
        launch = msgspec.structs.replace(launch, args=(*own, *found.appended))
    return Configs(
        launch=launch,
        args=rest,
        outer=tuple(found.outer),
        dumps=tuple(found.dumps),
        files={_base(name): text for name, text in texts.items()},
        unread=tuple(found.unread),
    )


class _FileArguments:
    """What files give to the framework, to a launcher, behind the command line, and saved."""

    def __init__(self, launch: RawLaunch, version: str | None) -> None:
        self.args: list[RawArg] = []
        self.outer: list[RawArg] = []
        self.appended: list[RawArg] = []
        self.dumps: list[RawArg] = []
        self.unread: list[Unread] = []
        self._launch, self._version = launch, version
        self._framework = framework_of(launch.framework)
        self._last = self._framework.appended_file(launch, version)

    def read(self, name: str, text: str, place: Origin | None) -> None:
        """Read one file; `place` is where a script writes it."""
        from trainrx.inputs.config import read_config
        from trainrx.launch.config_kinds import ALONE, classify_config

        kind = classify_config(text)
        if kind in _AS_SILENT and kind != self._launch.framework:
            return
        whole = kind not in ALONE and not self._framework.nested_files
        found, problems = read_config(text, name, whole=whole)
        if place is not None:
            found = tuple(_placed(arg, place) for arg in found)
        self.unread += problems
        if kind == "args":
            self._saved(name, found)
        elif kind == "accelerate":
            self.outer += (msgspec.structs.replace(arg, via="outer") for arg in found)
        elif self._last and _base(name) == self._last:
            self.appended += found
        else:
            self.args += found

    def compose(self, name: str, text: str, package: str) -> None:
        """Read one file of those Hydra composes; `package` is the place of its keys."""
        from trainrx.inputs.config import read_config

        args, problems = read_config(text, name)
        self.unread += problems
        front = f"{package}." if package else ""
        own = (arg for arg in args if not arg.name.startswith(("hydra.", "defaults.")))
        for arg in own:
            named = arg.name if arg.name == "defaults" else front + arg.name
            self.args.append(msgspec.structs.replace(arg, name=named))

    def _saved(self, name: str, found: Sequence[RawArg]) -> None:
        back = _taken_back(self._launch, name, found, self._version)
        if back is None:
            self.dumps += found
            self.dumps += self._framework.saved_beyond(found)
        else:
            self.dumps += back.forced
            self.args[:0] = back.filled


def _sectioned(
    launch: RawLaunch, args: Sequence[RawArg], texts: Mapping[str, str]
) -> tuple[RawLaunch, list[RawArg]]:
    """Leave out sections that are off; say what the files make of the command."""
    from trainrx.frameworks.common.sections import in_force

    framework = framework_of(launch.framework)
    complete = launch.args_complete and not framework.is_part(launch, args, texts)
    launch = msgspec.structs.replace(
        launch, command=framework.command_with_files(launch, args), args_complete=complete
    )
    decisive = {arg.name: arg for arg in args if arg.name != "defaults"}
    return launch, [*in_force(tuple(decisive.values()), (*args, *launch.args))]


def _placed(arg: RawArg, place: Origin) -> RawArg:
    """Cite the script a file is written by; what it writes of a variable may not be known."""
    values = arg.values
    if values is not None and any(_EXPANSION.search(value) for value in values):
        arg = msgspec.structs.replace(arg, values=None)
    line = (place.line or 1) + (arg.origin.line or 1) - 1
    origin = Origin(source=place.source, line=line, text=arg.origin.text)
    return msgspec.structs.replace(arg, origin=origin)


def _taken_back(
    launch: RawLaunch, name: str, saved: Sequence[RawArg], version: str | None
) -> Loaded | None:
    """Tell whether saved arguments are of the run a launch starts from: None when of its own."""
    framework = framework_of(launch.framework)
    folders = [folder.rstrip("/") for folder in framework.run_folders(launch, version)]
    place = name.replace("\\", "/")
    inside = place.rpartition("/")[0]
    if _base(place) in FILES and any(inside == f or inside.endswith(f"/{f}") for f in folders):
        return framework.loaded_back(launch, saved, version)
    return None


def _with_environment(
    launch: RawLaunch, args: Sequence[RawArg], version: str | None, around: Collection[str]
) -> tuple[RawLaunch, tuple[RawArg, ...]]:
    """Take the variables a file sets out of its arguments."""
    framework = framework_of(launch.framework)
    key = framework.environment_key
    if not key or all(arg.name != key for arg in args):
        return launch, tuple(args)
    from trainrx.inputs.reprs import flatten

    found = [
        EnvVar(name=name, value=None if values is None else " ".join(values), origin=arg.origin)
        for arg in args
        if arg.name == key and arg.values
        for name, values in flatten(_mapping(arg.values[0]))
    ]
    quiet = [item for item in found if item.name not in around]
    env = (*quiet, *launch.env) if framework.shell_first(version) else (*launch.env, *found)
    rest = tuple(arg for arg in args if arg.name != key)
    return msgspec.structs.replace(launch, env=env), rest


def _mapping(text: str) -> dict[str, Node]:
    from trainrx.inputs.reprs import read_repr

    node = read_repr(text)
    return node if isinstance(node, dict) else {}


def _base(name: str) -> str:
    return re.split(r"[/\\]", name)[-1]


_PART = late(r"\$\{([^${}]{1,200})\}")
_ENV = late(r"oc\.env:\s*(\w+)\s*(?:,(.*))?", re.DOTALL)
_PRODUCT = late(r"mul:\s*(\d{1,9})\s*,\s*(\d{1,9})\s*")
"""A resolver of NeMo RL (nemo_rl/utils/config.py: register_omegaconf_resolvers)."""
_MOST_STEPS = 8
_LONGEST = 10_000


def interpolated(
    args: Sequence[RawArg], env: Sequence[EnvVar] = (), over: Sequence[RawArg] = ()
) -> tuple[RawArg, ...]:
    """Put in what `${a.b}`, `${.b}` and `${oc.env:NAME,default}` stand for.

    A value that holds what cannot be found (another file's key, a resolver of the program) is
    not known: its `values` become None. `over` goes before `args`, as overrides do.
    """
    known = {arg.name: arg.values for arg in (*args, *over) if arg.values}
    variables = {item.name: item.value for item in env}
    return tuple(_filled(arg, known, variables) for arg in args)


def _filled(
    arg: RawArg, known: Mapping[str, tuple[str, ...]], variables: Mapping[str, str | None]
) -> RawArg:
    values = arg.values
    if values is None or not any("${" in text for text in values):
        return arg
    for _ in range(_MOST_STEPS):
        found = [_step(text, arg.name, known, variables) for text in values]
        if any(part is None for part in found):
            return msgspec.structs.replace(arg, values=None)
        values = tuple(text for part in found if part is not None for text in part)
        if not any("${" in text for text in values):
            return msgspec.structs.replace(arg, values=values)
    return msgspec.structs.replace(arg, values=None)


def _step(
    text: str, name: str, known: Mapping[str, tuple[str, ...]], env: Mapping[str, str | None]
) -> tuple[str, ...] | None:
    """Replace the innermost references of a text once; a whole value may be a list."""
    whole = _PART.fullmatch(text.strip())
    if whole is not None:
        return _meaning(whole[1], name, known, env)
    missing = False

    def put(match: re.Match[str]) -> str:
        nonlocal missing
        value = _meaning(match[1], name, known, env)
        missing = missing or value is None or len(value) != 1
        return "" if value is None else " ".join(value)

    replaced = _PART.sub(put, text) if "${" in text else text
    stuck = "${" in replaced and replaced == text
    return None if missing or stuck or len(replaced) > _LONGEST else (replaced,)


def _meaning(
    inner: str, name: str, known: Mapping[str, tuple[str, ...]], env: Mapping[str, str | None]
) -> tuple[str, ...] | None:
    variable = _ENV.fullmatch(inner.strip())
    if variable is not None:
        value = env.get(variable[1])
        default = variable[2].strip().strip("'\"") if variable[2] is not None else None
        return None if value is None and default is None else (value or default or "",)
    product = _PRODUCT.fullmatch(inner.strip())
    if product is not None:
        return (str(int(product[1]) * int(product[2])),)
    path = inner.strip()
    if path.startswith("."):
        levels = len(path) - len(path.lstrip("."))
        parents = name.split(".")[: -levels or None]
        path = ".".join((*parents, path.lstrip(".")))
    return known.get(path)
