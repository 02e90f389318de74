"""Kubernetes objects as `kubectl get -o yaml` or `-o json` prints them: what failed first, and why.

Formats: kubernetes.io/docs, Pod (containerStatuses), Job (conditions) and Event; kubeflow.org
TrainJob and PyTorchJob (conditions; the labels and RANK of their pods); volcano.sh Job (state);
ray.io RayJob (jobStatus, reason). The launch in them is read elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import yaml

from trainrx.evidence.lines import seconds
from trainrx.evidence.readers import Source
from trainrx.evidence.readers._values import whole
from trainrx.model.facts import MAX_QUOTE, Fact, Origin, fact
from trainrx.model.findings import Unread
from trainrx.model.ranks import RankEnd, Reading, ranges

MARKS = ()
LARGEST = 1 << 22
MOST_OBJECTS = 4096
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
STATUSES = ("initContainerStatuses", "containerStatuses")
FAILED = ("Failed", "FAILED", "Aborted", "Terminated")
JOB_ENDS = ("BackoffLimitExceeded", "DeadlineExceeded", "PodFailurePolicy", "FailedIndexes")
"""Reasons of events with which the controller of a Job ends it."""
NUMBERED = (
    "batch.kubernetes.io/job-completion-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "training.kubeflow.org/replica-index",
)
"""Labels of a pod that say which one of its job it is, from 0 on."""
REPLICA_TYPE = "training.kubeflow.org/replica-type"
CARDS = ("nvidia.com/gpu", "amd.com/gpu", "huawei.com/Ascend910")


class _Ended(NamedTuple):
    """A container that ended with an error."""

    at: str
    pod: str
    code: yaml.Node
    reason: str
    ranks: range | None


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
    lines = text.split("\n")

    def cited(node: yaml.Node) -> Origin:
        at = node.start_mark.line
        quote = lines[at].strip()[:MAX_QUOTE] if at < len(lines) else ""
        return Origin(source=source.name, line=source.line + at, text=quote)

    led = any(_labels(item).get(REPLICA_TYPE) == "master" for item in objects)
    ended = [one for item in objects for one in _ended(item, led=led)]
    return Reading(
        facts=tuple(_facts(objects, ended, cited)),
        ends=tuple(end for one in ended if (end := _rank_end(one, cited)) is not None),
    )


def _objects(documents: Iterator[yaml.Node | None]) -> Iterator[yaml.Node]:
    """Give single objects, those of a list one by one."""
    for document in documents:
        own = _items(_get(document, "items"))
        yield from own or ([document] if document is not None else [])


def _facts(
    objects: list[yaml.Node], ended: list[_Ended], cited: Callable[[yaml.Node], Origin]
) -> Iterator[Fact]:
    first = min(ended, key=lambda one: (not one.at, one.at), default=None)
    if first is not None:
        yield fact("exit.code", int(_text(first.code)), cited(first.code), how="printed")
        if first.pod:
            yield fact("kubernetes.first_failed", first.pod, cited(first.code), how="derived")
        if first.ranks is not None:
            failed = ranges(first.ranks)
            yield fact("kubernetes.failed_ranks", failed, cited(first.code), how="derived")
    for item in objects:
        for node in _reasons(item):
            yield fact("kubernetes.reason", _text(node), cited(node), how="printed")


def _rank_end(one: _Ended, cited: Callable[[yaml.Node], Origin]) -> RankEnd | None:
    """Give how a rank ended that has a pod of its own: of several in a pod nobody can say which."""
    if one.ranks is None or len(one.ranks) != 1:
        return None
    code = int(_text(one.code))
    text = f"{one.pod}: {one.reason or 'Error'}, exit code {code}"
    at = seconds(one.at)
    return RankEnd(rank=one.ranks[0], text=text, origin=cited(one.code), code=code, at=at)


def _ended(item: yaml.Node, *, led: bool) -> Iterator[_Ended]:
    """Give the containers of a pod that ended with an error, now or before a restart."""
    pod = _text(_get(item, "metadata", "name"))
    for key in STATUSES:
        for container in _items(_get(item, "status", key)):
            for state in ("lastState", "state"):
                ended = _get(container, state, "terminated")
                code = _get(ended, "exitCode")
                text = _text(code)
                if code is not None and text.isdecimal() and 0 < int(text[:9]) < 256:
                    at, reason = _text(_get(ended, "finishedAt")), _text(_get(ended, "reason"))
                    yield _Ended(at, pod, code, reason, _ranks(item, led=led))


def _ranks(item: yaml.Node, *, led: bool) -> range | None:
    """Give the ranks of a pod, one for each of its cards; None where nothing says it.

    What the operator of PyTorchJob sets as RANK is the number of the pod; its workers are counted
    behind the master where there is one.
    """
    containers = _items(_get(item, "spec", "containers"))
    limits = [_get(one, "resources", "limits", name) for one in containers for name in CARDS]
    cards = sum(whole(_text(node)) or 0 for node in limits)
    settings = [one for container in containers for one in _items(_get(container, "env"))]
    said = (_text(_get(one, "value")) for one in settings if _text(_get(one, "name")) == "RANK")
    number = whole(next(said, ""))
    if number is None:
        labels = _labels(item)
        number = next((whole(labels[name]) for name in NUMBERED if name in labels), None)
        if number is not None and led and labels.get(REPLICA_TYPE) == "worker":
            number += 1
    if number is None or not 0 <= number < MOST_OBJECTS or not 0 < cards < MOST_OBJECTS:
        return None
    return range(number * cards, (number + 1) * cards)


def _labels(item: yaml.Node) -> dict[str, str]:
    """Give the labels and annotations of an object."""
    found = (_get(item, "metadata", key) for key in ("annotations", "labels"))
    held = (node.value for node in found if isinstance(node, yaml.MappingNode))
    return {_text(key): _text(value) for pairs in held for key, value in pairs}


def _reasons(item: yaml.Node) -> Iterator[yaml.Node]:
    """Give why an object failed, as its controller says it."""
    own = _get(item, "reason")
    if _text(_get(item, "kind")) == "Event" and own is not None and _text(own) in JOB_ENDS:
        yield own
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
