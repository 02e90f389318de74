"""OmegaConf's `${...}` in configuration values: other keys, and the environment.

https://omegaconf.readthedocs.io/en/latest/usage.html#variable-interpolation
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from trainrx.model.job import EnvVar, RawArg
from trainrx.model.pattern import late

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
