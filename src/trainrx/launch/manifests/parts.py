"""Kubernetes manifests, compose files and SkyPilot tasks read as what their containers run.

Read are pods wherever they stand (Job, PyTorchJob, MPIJob, Volcano, JobSet, Argo, Deployment), with
the replicas above them, the services of compose files, and the files of config maps.
https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
https://kubernetes.io/docs/concepts/storage/volumes/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec
import yaml

from trainrx.inputs.config import MAX_TEXT, too_nested
from trainrx.inputs.recognise import is_manifest
from trainrx.launch.manifests.compose import Service, services
from trainrx.launch.manifests.kinds import GPU, ContainerRun, limits, workloads
from trainrx.launch.manifests.nodes import entries, get, items, line_of, scalar, words
from trainrx.launch.manifests.text import script_of, with_variables
from trainrx.model.facts import Origin
from trainrx.model.job import EnvVar, RawArg
from trainrx.model.pattern import late
from trainrx.sanitizer.assignments import is_secret_name

MOST_PARTS = 32
MOST_DOCUMENTS = 64
SHARED = "/dev/shm"  # noqa: S108  # the path is what is looked for
_NAME = late(r"[A-Za-z_]\w*")
_ARGO = "input_"
_PARAMETER = late(r"\{\{\s{0,4}(?:workflow|inputs)\.parameters\.([A-Za-z_][\w-]{0,60})\s{0,4}\}\}")
_UNFILLED = late(rf"\$\(({_ARGO}\w+)\)")
_CARD_LABEL = late(r"(?:.*/)?(?:gpu[.-]product|gke-accelerator|accelerator|gpu[.-]type|card)")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What one container runs.

    `text` is a script with as many lines as the manifest and its commands in the lines where they
    stand there. `env` are the variables the container gets, `around` those its operator sets,
    `env_files` the files and maps with more. `container` holds image, gpus, memory, shm_size, ipc
    and replicas as written; `nodes` is the number of pods that run the same (of the `whole`
    job, where that is said), and `counted` where it stands. `files`: name, text and line of the
    files that config maps hold.
    """

    text: str
    env: tuple[EnvVar, ...] = ()
    env_files: tuple[str, ...] = ()
    around: Mapping[str, str] = {}
    container: tuple[RawArg, ...] = ()
    nodes: int = 1
    whole: int | None = None
    counted: Origin | None = None
    files: tuple[tuple[str, str, int], ...] = ()


class _Page:
    """A manifest as text, for citing its lines."""

    def __init__(self, text: str, source: str) -> None:
        self.lines = text.split("\n")
        self.parameters = frozenset(_UNFILLED.findall(text))
        self._source = source

    def origin(self, node: yaml.Node) -> Origin:
        """Give where a node stands."""
        line = line_of(node)
        shown = self.lines[line - 1].strip()[:400] if line <= len(self.lines) else ""
        return Origin(source=self._source, line=line, text=shown)

    def variable(self, name: str, value: str | None, node: yaml.Node) -> EnvVar:
        """Make a variable; the value of a secret is not kept."""
        origin = self.origin(node)
        if is_secret_name(name):
            value = "***" if value else value
            origin = msgspec.structs.replace(origin, text=f"{name}=***")
        return EnvVar(name=name, value=value, origin=origin)

    def told(self, name: str, value: str | None, node: yaml.Node) -> RawArg:
        """Make what a container is given; None: it is given, but nobody knows what."""
        values = None if value is None else (value,)
        return RawArg(name=name, values=values, origin=self.origin(node))


def read_manifest(
    text: str, source: str, given: Mapping[str, str] | None = None
) -> tuple[Part, ...]:
    """Read the containers of a manifest, in order; nothing when it is none or is broken.

    Containers of one document that run the same are one part with their number of pods. `given`
    are variables around a compose file.
    """
    if len(text) > MAX_TEXT or not is_manifest(text) or too_nested(text) is not None:
        return ()
    text = _with_parameters(text)
    page = _Page(text, source)
    documents = _documents(text)
    maps = {scalar(get(d, "metadata", "name")): d for d in documents if _is_map(d)}
    files = tuple(file for found in maps.values() for file in _files(found))
    parts: list[Part] = []
    for document in documents:
        runs = islice(workloads(document), MOST_PARTS)
        made = [_part(item, page, maps) for item in runs]
        tasks = islice(services(document, given or {}), MOST_PARTS)
        made += [_service(item, page) for item in tasks]
        parts += _joined(made)
    return tuple(msgspec.structs.replace(part, files=files) for part in parts[:MOST_PARTS])


def _documents(text: str) -> list[yaml.Node]:
    found: list[yaml.Node] = []
    try:
        for node in yaml.compose_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            found += [node] if isinstance(node, yaml.MappingNode) else []
            if len(found) >= MOST_DOCUMENTS:
                break
    except (yaml.YAMLError, ValueError, RecursionError):
        return found
    return found


def _with_parameters(text: str) -> str:
    """Fill in what a workflow passes to its templates; what it does not say is a variable.

    https://argo-workflows.readthedocs.io/en/latest/workflow-inputs/
    """
    if _PARAMETER.search(text) is None:
        return text
    values = {
        scalar(get(item, "name")): scalar(get(item, "value"))
        for document in _documents(text)
        for item in items(get(document, "spec", "arguments", "parameters"))
    }
    unknown = "$(" + _ARGO + "{})"
    return _PARAMETER.sub(
        lambda m: values.get(m[1]) or unknown.format(m[1].replace("-", "_")), text
    )


def _is_map(document: yaml.Node) -> bool:
    return scalar(get(document, "kind")) == "ConfigMap"


def _files(document: yaml.Node) -> Iterator[tuple[str, str, int]]:
    """Give the files of a config map, each with the line its text begins in."""
    for name, node in entries(get(document, "data")):
        if isinstance(node, yaml.ScalarNode):
            yield name, scalar(node), line_of(node) + (1 if node.style in ("|", ">") else 0)


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Join the parts that run the same commands, as master and workers do."""
    joined: dict[str, list[Part]] = {}
    for part in parts:
        if key := " ".join(part.text.split()):
            joined.setdefault(key, []).append(part)
    return [_one(same) for same in joined.values()]


def _one(same: Sequence[Part]) -> Part:
    first = same[0]
    nodes = first.whole or sum(part.nodes for part in same)
    counted = next((part.counted for part in reversed(same) if part.counted), None)
    container = first.container
    if nodes > 1 and counted is not None:
        container = (*container, RawArg(name="replicas", values=(str(nodes),), origin=counted))
    return msgspec.structs.replace(first, nodes=nodes, counted=counted, container=container)


def _part(work: ContainerRun, page: _Page, maps: Mapping[str, yaml.Node]) -> Part:
    env, unknown = _pod_env(work, page, maps)
    script = get(work.container, "source")  # Argo's script templates
    line = work.command or (script if isinstance(script, yaml.ScalarNode) else None)
    own = [*words(get(work.container, "command")), *words(get(work.container, "args"))]
    known = {*(item.name for item in env), *work.around, *page.parameters}
    return Part(
        text=script_of([line] if line else own, len(page.lines), known, shell=line is not None),
        env=env,
        env_files=unknown,
        around=work.around,
        container=tuple(_resources(work, page)),
        nodes=work.pods,
        whole=work.total,
        counted=page.origin(work.counted or work.container),
    )


def _pod_env(
    work: ContainerRun, page: _Page, maps: Mapping[str, yaml.Node]
) -> tuple[tuple[EnvVar, ...], tuple[str, ...]]:
    """Give the variables of a container, and what further ones come from that is not here."""
    found: dict[str, EnvVar] = {}
    unknown: list[str] = []
    for item in items(get(work.container, "envFrom")):
        name = scalar(get(item, "configMapRef", "name"))
        unknown += [] if name in maps else [name or "secret"]
        for key, value in entries(get(maps.get(name), "data")):
            if _NAME.fullmatch(key):
                found[key] = page.variable(key, scalar(value), value)
    for item in items(get(work.container, "env")):
        name, given = scalar(get(item, "name")), get(item, "value")
        if name:
            values = {key: one.value for key, one in found.items()}
            is_text = isinstance(given, yaml.ScalarNode)
            known = with_variables(scalar(given), values) if is_text else None
            found[name] = page.variable(name, known, item)
    for name, place in work.variables:
        known = scalar(place) if isinstance(place, yaml.ScalarNode) else None
        found.setdefault(name, page.variable(name, known, place))
    return tuple(found.values()), tuple(unknown)


def _resources(work: ContainerRun, page: _Page) -> Iterator[RawArg]:
    """Give what the container may use, under the names `docker run` has for it."""
    image = get(work.container, "image")
    if isinstance(image, yaml.ScalarNode):
        yield page.told("image", scalar(image), image)
    for name, node in limits(work.machine):
        if not isinstance(node, yaml.ScalarNode):
            continue
        if GPU.fullmatch(name):
            yield page.told("gpus", scalar(node), node)
        elif name in ("memory", "cpu"):
            yield page.told("cpus" if name == "cpu" else name, scalar(node), node)
    yield from _shared_memory(work, page)
    host = get(work.pod, "hostIPC")
    if host is not None and scalar(host).lower() == "true":
        yield page.told("ipc", "host", host)
    for label, node in entries(get(work.pod, "nodeSelector")):
        if _CARD_LABEL.fullmatch(label):
            yield page.told("accelerator", scalar(node), node)


def _shared_memory(work: ContainerRun, page: _Page) -> Iterator[RawArg]:
    """Give the size of the memory volume that is mounted at /dev/shm; without a limit, unknown."""
    mounts = [
        mount
        for mount in items(get(work.machine, "volumeMounts"))
        if scalar(get(mount, "mountPath")).rstrip("/") == SHARED
    ]
    names = {scalar(get(mount, "name")) for mount in mounts}
    for volume in items(get(work.pod, "volumes")):
        size = get(volume, "emptyDir", "sizeLimit")
        if scalar(get(volume, "name")) in names and isinstance(size, yaml.ScalarNode):
            yield page.told("shm_size", scalar(size), size)
            return
    if mounts or not work.whole_pod:
        yield page.told("shm_size", None, mounts[0] if mounts else work.container)


def _service(service: Service, page: _Page) -> Part:
    text = script_of(service.command, len(page.lines), shell=service.as_text, expands=True)
    return Part(
        text=text.replace("$$", "$"),
        env=tuple({item[0]: page.variable(*item) for item in service.variables}.values()),
        env_files=service.env_files,
        around=service.around,
        container=tuple(page.told(*field) for field in service.fields),
        nodes=service.pods,
        counted=None if service.counted is None else page.origin(service.counted),
    )
