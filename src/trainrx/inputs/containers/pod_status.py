"""A Kubernetes object as `kubectl get -o yaml` or `-o json` prints it: what runs, how it ended.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from trainrx.inputs.content import Content, Found
from trainrx.inputs.recognise import is_manifest
from trainrx.model.job import Input
from trainrx.model.pattern import late

CERTAIN = False
EVIDENCE = "kubernetes"
"""The format of evidence that says how it ended."""
_STATUS = late(r"(?P<margin> *)\"?status\"?: *\{?\s*$")
_ENDS = (
    "containerStatuses",
    "conditions",
    "replicaStatuses",
    "jobsStatus",
    "jobDeploymentStatus",
    "taskStatusCount",
)
_EVENT = late(r"(?m)^[ \t-]*\"?kind\"?: *\"?Event\"?,?\s*$")


def contained(content: Content) -> Found | None:
    """Give the object as a launch, its status as a log, and all of it as evidence.

    Events are a log, and no launch. None where an object has no status.
    """
    if not is_manifest(content.head):
        return None
    text = content.text
    if _EVENT.search(content.head):
        log = Input(kind="log", name=content.name, path=content.path, text=text)
        return [log, msgspec.structs.replace(log, kind="evidence", format=EVIDENCE)], []
    if not any(name in text for name in _ENDS):
        return None
    lines = text.split("\n")
    shown = set(_status_lines(lines))
    if not shown:
        return None
    # each line of the status stands where the object has it
    status = "\n".join(line if number in shown else "" for number, line in enumerate(lines))
    script = Input(kind="script", name=content.name, path=content.path, text=text)
    log = Input(kind="log", name=content.name, text=status)
    return [script, log, msgspec.structs.replace(script, kind="evidence", format=EVIDENCE)], []


def _status_lines(lines: Sequence[str]) -> Iterator[int]:
    """Give the lines of every `status`: it ends where the text comes back to its margin."""
    margin: int | None = None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if margin is not None and line.strip() and not _is_within(line, indent, margin):
            margin = None
        if margin is None:
            found = _STATUS.match(line)
            margin = len(found["margin"]) if found is not None else None
        elif line.strip():
            yield number


def _is_within(line: str, indent: int, margin: int) -> bool:
    # a list may stand at the margin of its key, a mapping may not
    return indent > margin or (indent == margin and line.lstrip(" ").startswith("- "))
