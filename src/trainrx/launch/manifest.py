"""Kubernetes manifests and compose files read as the scripts their containers run.

Read are pods wherever they stand (Job, PyTorchJob, MPIJob, Volcano, JobSet, Argo, Deployment), with
the replicas above them, and the services of compose files.
https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/pytorch/
https://docs.docker.com/reference/compose-file/services/
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
import yaml

from trainrx.inputs.config import MAX_TEXT, too_nested
from trainrx.inputs.recognise import is_manifest
from trainrx.launch.manifest_nodes import (
    count,
    entries,
    get,
    items,
    line_of,
    pods,
    scalar,
    services,
)
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg
from trainrx.model.pattern import late
from trainrx.sanitizer.assignments import is_secret_name

MOST_PARTS = 32
MOST_DOCUMENTS = 64
_SHELLS = late(r"(?:.*/)?(?:ba|da|z|k)?sh")
_REFERENCE = late(r"\$\(([A-Za-z_]\w*)\)")
_GPU = late(r"(?:.*/)?(?:gpu|npu|ascend\S*|mig-\S+|rocm|vgpu)", re.IGNORECASE)


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What one container runs.

    `text` is a script with as many lines as the manifest and its commands in the lines where they
    stand there. `env` are the variables the container gets, `around` those its operator sets.
    `container` holds image, gpus, memory, shm_size, ipc and replicas as written; `nodes` is the
    number of pods that run the same.
    """

    text: str
    env: tuple[EnvVar, ...] = ()
    around: Mapping[str, str] = {}
    container: tuple[RawArg, ...] = ()
    nodes: int = 1


class _Container(NamedTuple):
    """A container with the pod around it."""

    container: yaml.MappingNode
    pod: yaml.MappingNode
    replicas: int
    kind: str


def read_manifest(text: str, source: str) -> tuple[Part, ...]:
    """Read the containers of a manifest, in order; nothing when it is none or is broken.

    Containers of one document that run the same are one part with their number of pods.
    """
    if len(text) > MAX_TEXT or not is_manifest(text) or too_nested(text) is not None:
        return ()
    parts: list[Part] = []
    for document in _documents(text):
        runs = [
            _Container(container, pod, replicas, scalar(get(document, "kind")))
            for pod, container, replicas in pods(document)
        ]
        made = [_part(run, text, source) for run in runs[:MOST_PARTS]]
        made += [_service(node, text, source) for node in services(document)[:MOST_PARTS]]
        parts += _joined(made, document)
    return tuple(parts[:MOST_PARTS])


def _documents(text: str) -> list[yaml.Node]:
    found: list[yaml.Node] = []
    try:
        for node in yaml.compose_all(text, yaml.SafeLoader):
            found += [node] if isinstance(node, yaml.MappingNode) else []
            if len(found) >= MOST_DOCUMENTS:
                break
    except (yaml.YAMLError, ValueError, RecursionError):
        return found
    return found


def _joined(parts: Sequence[Part], document: yaml.Node) -> list[Part]:
    """Join the parts that run the same commands, as master and workers do."""
    joined: dict[str, Part] = {}
    for part in parts:
        key = " ".join(part.text.split())
        if not key:
            continue
        old = joined.get(key)
        nodes = part.nodes + (old.nodes if old is not None else 0)
        joined[key] = msgspec.structs.replace(old or part, nodes=nodes)
    torch = scalar(get(document, "kind")) == "PyTorchJob"
    per_node = get(document, "spec", "nprocPerNode") is not None
    if not torch or per_node:
        return list(joined.values())
    return [
        msgspec.structs.replace(
            part, around={"WORLD_SIZE": str(part.nodes), "PET_NNODES": str(part.nodes)}
        )
        for part in joined.values()
    ]


def _part(run: _Container, text: str, source: str) -> Part:
    lines = text.split("\n")
    env = tuple(_pod_env(run.container, lines, source))
    words = [*items(get(run.container, "command")), *items(get(run.container, "args"))]
    script = get(run.container, "source")  # Argo's script templates
    if isinstance(script, yaml.ScalarNode):
        words = [script]
    known = {item.name for item in env}
    shell = isinstance(script, yaml.ScalarNode)
    return Part(
        text=_script(words, len(lines), known, shell=shell),
        env=env,
        container=tuple(_resources(run, lines, source)),
        nodes=run.replicas,
    )


def _pod_env(container: yaml.Node, lines: Sequence[str], source: str) -> Iterator[EnvVar]:
    for item in items(get(container, "env")):
        name = scalar(get(item, "name"))
        value = get(item, "value")
        if name:
            held = scalar(value) if isinstance(value, yaml.ScalarNode) else None
            yield _variable(name, held, item, lines, source)


def _variable(
    name: str, value: str | None, node: yaml.Node, lines: Sequence[str], source: str
) -> EnvVar:
    secret = is_secret_name(name)
    origin = _origin(node, lines, source)
    if secret:
        origin = Origin(source=origin.source, line=origin.line, text=f"{name}=***")
    return EnvVar(name=name, value="***" if secret and value else value, origin=origin)


def _origin(node: yaml.Node, lines: Sequence[str], source: str) -> Origin:
    line = line_of(node)
    shown = lines[line - 1].strip()[:400] if line <= len(lines) else ""
    return Origin(source=source, line=line, text=shown)


def _resources(run: _Container, lines: Sequence[str], source: str) -> Iterator[RawArg]:
    """Give what the container may use, under the names `docker run` has for it."""
    found: list[tuple[str, yaml.Node | None]] = [("image", get(run.container, "image"))]
    limits = entries(get(run.container, "resources", "limits"))
    limits = limits or entries(get(run.container, "resources", "requests"))
    for name, node in limits:
        if _GPU.fullmatch(name):
            found.append(("gpus", node))
        elif name in ("memory", "cpu"):
            found.append(("cpus" if name == "cpu" else name, node))
    found.append(("shm_size", _shared_memory(run)))
    for name, shown in found:
        if isinstance(shown, yaml.ScalarNode):
            yield RawArg(name=name, values=(scalar(shown),), origin=_origin(shown, lines, source))
    host = get(run.pod, "hostIPC")
    if scalar(host).lower() == "true" and host is not None:
        yield RawArg(name="ipc", values=("host",), origin=_origin(host, lines, source))
    if run.replicas > 1:
        text = str(run.replicas)
        yield RawArg(name="replicas", values=(text,), origin=_origin(run.container, lines, source))


def _shared_memory(run: _Container) -> yaml.Node | None:
    """Find the size of the memory volume that is mounted at /dev/shm."""
    mounts = items(get(run.container, "volumeMounts"))
    names = {scalar(get(m, "name")) for m in mounts if scalar(get(m, "mountPath")) == "/dev/shm"}  # noqa: S108  # the path is what is looked for
    for volume in items(get(run.pod, "volumes")):
        if scalar(get(volume, "name")) in names:
            return get(volume, "emptyDir", "sizeLimit")
    return None


def _service(node: yaml.Node, text: str, source: str) -> Part:
    lines = text.split("\n")
    env = tuple(_service_env(get(node, "environment"), lines, source))
    entry, command = get(node, "entrypoint"), get(node, "command")
    shell = isinstance(command, yaml.ScalarNode) and entry is None
    words = [*items(entry), *items(command)]
    for part in (entry, command):
        words += [part] if isinstance(part, yaml.ScalarNode) else []
    reserved = items(get(node, "deploy", "resources", "reservations", "devices"))
    fields: list[tuple[str, yaml.Node | None]] = [
        ("image", get(node, "image")),
        ("shm_size", get(node, "shm_size")),
        ("ipc", get(node, "ipc")),
        ("memory", get(node, "mem_limit") or get(node, "deploy", "resources", "limits", "memory")),
        ("gpus", get(node, "gpus") or (get(reserved[0], "count") if reserved else None)),
    ]
    return Part(
        text=_script(words, len(lines), set(), shell=shell),
        env=env,
        container=tuple(
            RawArg(name=name, values=(scalar(value),), origin=_origin(value, lines, source))
            for name, value in fields
            if isinstance(value, yaml.ScalarNode)
        ),
        nodes=count(get(node, "deploy", "replicas")),
    )


def _service_env(node: yaml.Node | None, lines: Sequence[str], source: str) -> Iterator[EnvVar]:
    for name, value in entries(node):
        known = scalar(value) if isinstance(value, yaml.ScalarNode) else None
        yield _variable(name, known, value, lines, source)
    for item in items(node):
        name, sign, text = scalar(item).partition("=")
        if name:
            yield _variable(name, text if sign else None, item, lines, source)


def _script(words: Sequence[yaml.Node], length: int, env: set[str], *, shell: bool) -> str:
    """Lay the words of a command out in the lines they stand in."""
    scalars = [word for word in words if isinstance(word, yaml.ScalarNode)]
    out = [""] * length
    if not scalars:
        return ""
    inner = scalars[0] if shell else _shell_text(scalars)
    if inner is not None:
        lines = _expanded(scalar(inner), env).split("\n")
        first = line_of(inner) - 1 + (1 if inner.style in ("|", ">") else 0)
        # a folded text has fewer lines than it takes up; none is lost at the end of the file
        out += [""] * max(first + len(lines) - length, 0)
        out[first : first + len(lines)] = lines
        return "\n".join(out)
    places = [line_of(word) - 1 for word in scalars]
    steady = all(b - a in (0, 1) for a, b in pairwise(places))
    for place, word in zip(places, scalars, strict=True):
        at = place if steady else places[0]
        out[at] = f"{out[at]} {_quoted(scalar(word), env)}".strip()
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


def _expanded(text: str, env: set[str]) -> str:
    """Write Kubernetes' `$(NAME)` of the container's own variables as a shell would."""
    return _REFERENCE.sub(lambda m: f"${{{m[1]}}}" if m[1] in env else m[0], text)


def _quoted(word: str, env: set[str]) -> str:
    if any(match[1] in env for match in _REFERENCE.finditer(word)):
        return '"' + re.sub(r'(["\\`])', r"\\\1", _expanded(word, env)) + '"'
    return shlex.quote(word)
