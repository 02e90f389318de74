"""What the services of compose files and the tasks of SkyPilot run.

https://docs.docker.com/reference/compose-file/services/
https://docs.docker.com/reference/compose-file/interpolation/
https://docs.skypilot.co/en/latest/reference/yaml-spec.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec
import yaml

from trainrx.launch.manifests.nodes import count, entries, get, items, scalar, words
from trainrx.model.pattern import late

MOST_EXTENDED = 4
_REFERENCE = late(r"\$\$|\$\{([A-Za-z_]\w*)(?:(:?[-+?])([^{}]*))?\}|\$([A-Za-z_]\w*)")
_ACCELERATORS = late(r"(?P<card>[A-Za-z][\w.-]{0,40})(?::(?P<count>\d{1,4}))?")

_Field: TypeAlias = tuple[str, str | None, yaml.Node]
"""A name, its value where that is known, and where it stands."""


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """A service: its command in words or (`as_text`) as a text, and what it is given.

    `variables`: name, value and node; value None: set, but not known here. `fields`: what the
    container is given, under the names of `docker run`. `env_files` are the files with further
    variables, `pods` how many run the same, `around` what is set around it.
    """

    command: tuple[yaml.ScalarNode, ...]
    as_text: bool
    variables: tuple[_Field, ...]
    fields: tuple[_Field, ...]
    env_files: tuple[str, ...] = ()
    pods: int = 1
    counted: yaml.Node | None = None
    around: Mapping[str, str] = {}


def services(document: yaml.Node, given: Mapping[str, str]) -> Iterator[Service]:
    """Give the services of a compose file, or the task of a SkyPilot file."""
    if get(document, "apiVersion") is not None:
        return
    known = get(document, "services")
    for _, node in entries(known):
        yield _service([node, *_extended(node, known)], given)
    if known is None and isinstance(get(document, "run"), yaml.ScalarNode):
        yield _task(document)


def _extended(node: yaml.Node, known: yaml.Node | None) -> Iterator[yaml.Node]:
    """Give the services of the same file that one extends, nearest first."""
    for _ in range(MOST_EXTENDED):
        extends = get(node, "extends")
        name = scalar(extends) or scalar(get(extends, "service"))
        base = get(known, name) if name and get(extends, "file") is None else None
        if base is None:
            return
        yield base
        node = base


def _service(parts: list[yaml.Node], given: Mapping[str, str]) -> Service:
    def first(*path: str) -> yaml.Node | None:
        return next((found for part in parts if (found := get(part, *path)) is not None), None)

    entry, command = first("entrypoint"), first("command")
    reserved = items(first("deploy", "resources", "reservations", "devices"))
    device = reserved[0] if reserved else None
    ids = [scalar(item) for item in items(get(device, "device_ids"))]
    memory = first("mem_limit") or first("deploy", "resources", "limits", "memory")
    fields = [(name, first(name)) for name in ("image", "shm_size", "ipc", "gpus")]
    fields += [("memory", memory), ("gpus", get(device, "count"))]
    found: list[_Field] = [
        (name, interpolated(scalar(node), given), node)
        for name, node in fields
        if isinstance(node, yaml.ScalarNode)
    ]
    if ids and device is not None:
        found.append(("gpus", f"device={','.join(ids)}", device))
    return Service(
        command=(*words(entry), *words(command)),
        as_text=isinstance(command, yaml.ScalarNode) and entry is None,
        variables=tuple(v for part in reversed(parts) for v in _variables(part, given)),
        fields=tuple(found),
        env_files=tuple(_env_files(first("env_file"), given)),
    )


def _variables(service: yaml.Node, given: Mapping[str, str]) -> Iterator[_Field]:
    node = get(service, "environment")
    for name, value in entries(node):
        known = isinstance(value, yaml.ScalarNode) and value.tag != "tag:yaml.org,2002:null"
        yield name, interpolated(scalar(value), given) if known else given.get(name), value
    for item in items(node):
        name, sign, text = scalar(item).partition("=")
        if name:
            yield name, interpolated(text, given) if sign else given.get(name), item


def _env_files(node: yaml.Node | None, given: Mapping[str, str]) -> Iterator[str]:
    for item in [node] if isinstance(node, yaml.ScalarNode) else items(node):
        yield interpolated(scalar(item) or scalar(get(item, "path")), given) or ""


def interpolated(text: str, given: Mapping[str, str]) -> str | None:
    """Fill in `${NAME:-default}` as compose does; None where a value is not known."""
    unknown = False

    def value(match: re.Match[str]) -> str:
        nonlocal unknown
        if match[0] == "$$":
            return "$"
        held = given.get(match[1] or match[4])
        operator = match[2] or ""
        if held is None or (not held and operator.startswith(":")):
            unknown = unknown or not operator.endswith("-")
            return match[3] or ""
        return (match[3] or "") if operator.endswith("+") else held

    filled = _REFERENCE.sub(value, text)
    return None if unknown else filled


def _task(document: yaml.Node) -> Service:
    run, nodes = get(document, "run"), get(document, "num_nodes")
    resources = get(document, "resources")
    asked = get(resources, "accelerators")
    match = _ACCELERATORS.fullmatch(scalar(asked))
    fields: list[_Field] = []
    around = {"SKYPILOT_NUM_NODES": str(count(nodes))}
    for name, value in entries(asked)[:1]:
        fields += [("accelerator", name, value), ("gpus", scalar(value), value)]
    if match is not None and asked is not None:
        fields += [("accelerator", match["card"], asked), ("gpus", match["count"] or "1", asked)]
    gpus = next((text for name, text, _ in fields if name == "gpus"), None)
    image = get(resources, "image_id")
    if scalar(image).startswith("docker:") and image is not None:
        # how much shared memory its container gets is up to SkyPilot
        fields += [("image", scalar(image).removeprefix("docker:"), image)]
        fields += [("shm_size", None, image)]
    return Service(
        command=tuple(words(run)),
        as_text=True,
        variables=tuple(
            (name, scalar(value) if isinstance(value, yaml.ScalarNode) else None, value)
            for key in ("envs", "secrets")
            for name, value in entries(get(document, key))
        ),
        fields=tuple(fields),
        pods=count(nodes),
        counted=nodes,
        around=around | ({"SKYPILOT_NUM_GPUS_PER_NODE": gpus} if gpus else {}),
    )
