"""The commands of a manifest as a script that has them in the lines where they stand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import yaml

from trainrx.launch.manifests.nodes import line_of, scalar
from trainrx.model.pattern import late

_SHELLS = late(r"(?:.*/)?(?:ba|da|z|k)?sh")
_REFERENCE = late(r"\$\(([A-Za-z_]\w*)\)")
_VARIABLE = late(r"\$(?:\{[A-Za-z_]|[A-Za-z_])")


def script_of(
    words: Sequence[yaml.ScalarNode],
    length: int,
    env: Collection[str] = (),
    *,
    shell: bool = False,
    expands: bool = False,
) -> str:
    """Lay the words of a command out in the lines they stand in; "" without any.

    Args:
        words: the command and its arguments.
        length: lines of the manifest.
        env: variables of the container, which `$(NAME)` refers to.
        shell: whether the first word is a whole command line.
        expands: whether variables in single words are filled in before the container starts.
    """
    out = [""] * length
    if not words:
        return ""
    inner = words[0] if shell else _shell_text(words)
    if inner is not None:
        lines = _expanded(scalar(inner), env).split("\n")
        first = line_of(inner) - 1 + (1 if inner.style in ("|", ">") else 0)
        # a folded text has fewer lines than it takes up; none is lost at the end of the file
        out += [""] * max(first + len(lines) - length, 0)
        out[first : first + len(lines)] = lines
        return "\n".join(out)
    places = [line_of(word) - 1 for word in words]
    steady = all(b - a in (0, 1) for a, b in pairwise(places))
    for place, word in zip(places, words, strict=True):
        at = place if steady else places[0]
        out[at] = f"{out[at]} {_quoted(scalar(word), env, expands=expands)}".strip()
    for place in range(places[0], places[-1]) if steady else ():
        out[place] += " \\"
    return "\n".join(out)


def _shell_text(words: Sequence[yaml.ScalarNode]) -> yaml.ScalarNode | None:
    """Find the text behind `bash -c`."""
    if not _SHELLS.fullmatch(scalar(words[0])):
        return None
    for at, word in enumerate(words[1:], start=1):
        text = scalar(word)
        if re.fullmatch(r"-\w*c", text):
            return words[at + 1] if at + 1 < len(words) else None
        if not text.startswith("-"):
            return None
    return None


def with_variables(text: str, values: Mapping[str, str | None]) -> str | None:
    """Fill in the `$(NAME)` of variables that stand above; None where one is not known.

    https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
    """
    named = {match[1] for match in _REFERENCE.finditer(text)} & values.keys()
    if any(values[name] is None for name in named):
        return None
    return _REFERENCE.sub(lambda m: (values[m[1]] or "") if m[1] in named else m[0], text)


def _expanded(text: str, env: Collection[str]) -> str:
    """Write Kubernetes' `$(NAME)` of the container's own variables as a shell would."""
    return _REFERENCE.sub(lambda m: f"${{{m[1]}}}" if m[1] in env else m[0], text)


def _quoted(word: str, env: Collection[str], *, expands: bool) -> str:
    referred = any(match[1] in env for match in _REFERENCE.finditer(word))
    if referred or (expands and _VARIABLE.search(word)):
        return '"' + re.sub(r'(["\\`])', r"\\\1", _expanded(word, env)) + '"'
    return shlex.quote(word)
