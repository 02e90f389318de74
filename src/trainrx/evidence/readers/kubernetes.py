"""Kubernetes objects as `kubectl get -o yaml` or `-o json` prints them: what failed first, and why.

Formats: kubernetes.io/docs, Pod (containerStatuses) and Job (conditions); kubeflow.org TrainJob and
PyTorchJob (conditions); volcano.sh Job (state); ray.io RayJob (jobStatus, reason). The launch in
them is read elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import yaml

from trainrx.evidence.readers import Source
from trainrx.model.facts import MAX_QUOTE, Fact, Origin, fact
from trainrx.model.findings import Unread
from trainrx.model.ranks import Reading

MARKS = ()
LARGEST = 1 << 22
MOST_OBJECTS = 4096
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
STATUSES = ("initContainerStatuses", "containerStatuses")
FAILED = ("Failed", "FAILED", "Aborted", "Terminated")


class _Ended(NamedTuple):
    """A container that ended with an error."""

    at: str
    pod: str
    code: yaml.Node


def read(data: bytes, source: Source) -> Reading:
    """Read how pods and jobs ended."""
    if len(data) > LARGEST:
        reason = f"is an object of more than {LARGEST} bytes: how it ended was not read"
        return Reading(unread=(Unread(source=source.name, reason=reason),))
    text = data.decode("utf-8", "replace")
    # tabs indent the JSON of some tools, which YAML does not take
    tabbed = text.replace("\t", "    ").replace("\0", "")
    try:
        objects = list(_objects(yaml.compose_all(tabbed, Loader=_Loader)))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = f"is no whole object of Kubernetes: {str(error).splitlines()[0]}"
        return Reading(unread=(Unread(source=source.name, reason=reason),))
    return Reading(facts=tuple(_facts(objects, text.split("\n"), source)))


def _objects(documents: Iterator[yaml.Node | None]) -> Iterator[yaml.Node]:
    """Give single objects, those of a list one by one."""
    for document in documents:
        own = _items(_get(document, "items"))
        yield from own or ([document] if document is not None else [])


def _facts(objects: list[yaml.Node], lines: list[str], source: Source) -> Iterator[Fact]:
    def cited(node: yaml.Node) -> Origin:
        at = node.start_mark.line
        quote = lines[at].strip()[:MAX_QUOTE] if at < len(lines) else ""
        return Origin(source=source.name, line=source.line + at, text=quote)

    ended = [one for item in objects for one in _ended(item)]
    first = min(ended, key=lambda one: (not one.at, one.at), default=None)
    if first is not None:
        yield fact("exit.code", int(_text(first.code)), cited(first.code), how="printed")
        if first.pod:
            yield fact("kubernetes.first_failed", first.pod, cited(first.code), how="derived")
    for item in objects:
        for node in _reasons(item):
            yield fact("kubernetes.reason", _text(node), cited(node), how="printed")


def _ended(item: yaml.Node) -> Iterator[_Ended]:
    """Give the containers of a pod that ended with an error, now or before a restart."""
    pod = _text(_get(item, "metadata", "name"))
    for key in STATUSES:
        for container in _items(_get(item, "status", key)):
            for state in ("lastState", "state"):
                ended = _get(container, state, "terminated")
                code = _get(ended, "exitCode")
                text = _text(code)
                if code is not None and text.isdecimal() and 0 < int(text[:9]) < 256:
                    yield _Ended(_text(_get(ended, "finishedAt")), pod, code)


def _reasons(item: yaml.Node) -> Iterator[yaml.Node]:
    """Give why an object failed, as its controller says it."""
    status = _get(item, "status")
    for condition in _items(_get(status, "conditions")):
        holds = _text(_get(condition, "status")) in ("True", "true")
        reason = _get(condition, "reason")
        failed = holds and _text(_get(condition, "type")) in FAILED
        if failed and reason is not None and _text(reason):
            yield reason
    for said in (status, _get(status, "state")):
        phase = _text(_get(said, "phase")) or _text(_get(said, "jobStatus"))
        reason = _get(said, "reason")
        if phase in FAILED and reason is not None and _text(reason):
            yield reason


def _get(node: yaml.Node | None, *path: str) -> yaml.Node | None:
    """Follow keys into mappings; None where one is missing."""
    for name in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for key, value in node.value if _text(key) == name), None)
    return node


def _text(node: yaml.Node | None) -> str:
    return str(node.value)[:MAX_QUOTE] if isinstance(node, yaml.ScalarNode) else ""


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return node.value[:MOST_OBJECTS] if isinstance(node, yaml.SequenceNode) else []
