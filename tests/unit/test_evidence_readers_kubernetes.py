"""How pods and jobs ended, as `kubectl get -o yaml` and `-o json` print them.

Layouts: kubernetes.io/docs (Pod lifecycle, Job failure), kubeflow/training-operator 1.7 conditions,
volcano.sh vcjob status, docs.ray.io RayJob status. Labels of pods: flyteorg/flyte issue 5417 and
kubernetes.io/docs (Indexed Job); an event of a Job: kubernetes/kubernetes issue 96038.
"""

from __future__ import annotations

import json

import pytest
import yaml

from trainrx import diagnose
from trainrx.evidence.readers import Source
from trainrx.evidence.readers.kubernetes import read
from trainrx.model.facts import Facts

POD = """\
- apiVersion: v1
  kind: Pod
  metadata: {{name: llm-worker-{number}, namespace: train}}
  spec:
    containers:
    - name: pytorch
      image: pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime
      command: [torchrun, --nnodes=3, --nproc_per_node=8, train.py]
  status:
    phase: Failed
    containerStatuses:
    - name: pytorch
      restartCount: 0
      state:
        terminated:
          exitCode: {code}
          finishedAt: "2025-11-20T10:{minute}:11Z"
          reason: {reason}
"""
PODS = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
    POD.format(number=number, code=code, minute=minute, reason=reason)
    for number, code, minute, reason in [
        (0, 1, "41", "Error"),
        (1, 0, "02", "Completed"),
        (2, 137, "11", "OOMKilled"),
    ]
)
JOB = """\
apiVersion: {version}
kind: {kind}
metadata: {{name: llm}}
spec: {{}}
status:
{status}
"""
CONDITIONS = """\
  conditions:
  - {{type: Running, status: "False", reason: {other}, message: m}}
  - type: Failed
    status: "True"
    reason: {reason}
    message: "m"
"""


def said(text: str) -> dict[str, object]:
    return {item.kind: item.value for item in Facts(read(text.encode(), Source("o.yaml")).facts)}


@pytest.mark.parametrize("text", [PODS, json.dumps(yaml.safe_load(PODS), indent="\t")])
def test_the_pod_that_failed_first_gives_the_exit_code(text: str) -> None:
    found = read(text.encode(), Source("pods.yaml"))

    code, first = found.facts
    assert (code.kind, code.value) == ("exit.code", 137)
    assert (first.kind, first.value) == ("kubernetes.first_failed", "llm-worker-2")
    shown = text.split("\n")[(code.origins[0].line or 0) - 1]
    assert "137" in shown
    assert code.origins[0].text == shown.strip()


@pytest.mark.parametrize(
    ("kind", "version", "status", "reason"),
    [
        (
            "Job",
            "batch/v1",
            CONDITIONS.format(other="x", reason="BackoffLimitExceeded"),
            "BackoffLimitExceeded",
        ),
        (
            "PyTorchJob",
            "kubeflow.org/v1",
            CONDITIONS.format(other="PyTorchJobRunning", reason="PyTorchJobFailed"),
            "PyTorchJobFailed",
        ),
        (
            "TrainJob",
            "trainer.kubeflow.org/v1alpha1",
            CONDITIONS.format(other="x", reason="JobsFailed"),
            "JobsFailed",
        ),
        (
            "Job",
            "batch.volcano.sh/v1alpha1",
            "  state: {phase: Aborted, reason: PodEvicted, message: m}\n  taskStatusCount: {}\n",
            "PodEvicted",
        ),
        (
            "RayJob",
            "ray.io/v1",
            "  jobDeploymentStatus: Failed\n  jobStatus: FAILED\n  reason: AppFailed\n",
            "AppFailed",
        ),
    ],
)
def test_a_job_says_why_it_failed(kind: str, version: str, status: str, reason: str) -> None:
    text = JOB.format(kind=kind, version=version, status=status)

    assert said(text) == {"kubernetes.reason": reason}


@pytest.mark.parametrize(
    "status",
    [
        '  conditions: [{type: Complete, status: "True", reason: CompletionsReached}]\n',
        '  conditions: [{type: Failed, status: "False", reason: x}]\n',
        "  containerStatuses: [{state: {running: {startedAt: now}}}]\n",
        "  containerStatuses: [{state: {terminated: {exitCode: 0, reason: Completed}}}]\n",
        "  containerStatuses: [{state: {terminated: {exitCode: many}}}]\n",
    ],
)
def test_what_goes_on_or_ended_well_says_nothing(status: str) -> None:
    assert said(JOB.format(kind="Job", version="batch/v1", status=status)) == {}


def test_an_object_with_its_status_is_launch_and_evidence(tmp_path) -> None:
    (tmp_path / "pods.yaml").write_text(PODS, encoding="utf-8")

    answer = diagnose(tmp_path / "pods.yaml")

    assert answer.facts["exit.code"] == 137
    assert answer.facts["kubernetes.first_failed"] == "llm-worker-2"
    assert answer.symptoms[0].id == "k8s-oomkilled"


@pytest.mark.parametrize("end", range(0, len(PODS), 61))
def test_an_object_that_is_cut_is_read_as_far_as_it_goes_or_named(end: int) -> None:
    found = read(PODS[:end].encode(), Source("o"))

    assert found.unread or said(PODS[:end]).get("exit.code") in (None, 1, 13, 137)


def test_aliases_without_end_take_no_time() -> None:
    laughs = "a: &a [x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(12)
    )

    assert said(laughs + "status: {conditions: *m, containerStatuses: *m}\n") == {}


REPLICA = """\
- apiVersion: v1
  kind: Pod
  metadata:
    name: {name}
    labels: {{{labels}}}
  spec:
    containers:
    - name: pytorch
      env: [{env}]
      resources:
        limits: {{cpu: "8", nvidia.com/gpu: "{cards}"}}
  status:
    containerStatuses:
    - name: pytorch
      state:
        terminated: {{exitCode: {code}, finishedAt: "2025-11-20T10:{minute}:11Z", reason: Error}}
"""
KUBEFLOW = "training.kubeflow.org/replica-type: {}, training.kubeflow.org/replica-index: '{}'"


def replicas(*rows: tuple[str, int, str], cards: int = 1, env: str = "") -> str:
    """Give the pods of a job by their labels, exit codes and minutes."""
    pods = (
        REPLICA.format(name=f"p{at}", labels=labels, code=code, minute=minute, cards=cards, env=env)
        for at, (labels, code, minute) in enumerate(rows)
    )
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(pods)


INDEXED = "batch.kubernetes.io/job-completion-index: '{}'"


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        (
            replicas(
                (KUBEFLOW.format("master", 0), 1, "41"), (KUBEFLOW.format("worker", 1), 137, "11")
            ),
            "2",
        ),
        (
            replicas(
                (KUBEFLOW.format("worker", 0), 1, "41"), (KUBEFLOW.format("worker", 1), 137, "11")
            ),
            "1",
        ),
        (replicas((INDEXED.format(0), 1, "41"), (INDEXED.format(3), 1, "11")), "3"),
        (replicas((INDEXED.format(0), 1, "41"), (INDEXED.format(3), 1, "11"), cards=8), "24-31"),
        (replicas(("app: x", 1, "11"), env="{name: RANK, value: '5'}"), "5"),
        (replicas(("app: x", 1, "11")), None),
        (replicas((INDEXED.format(3), 1, "11"), cards=0), None),
    ],
)
def test_the_pod_that_failed_first_is_told_by_its_ranks(text: str, ranks: str | None) -> None:
    found = read(text.encode(), Source("pods.yaml"))

    assert Facts(found.facts).value("kubernetes.failed_ranks") == ranks
    single = ranks is not None and "-" not in ranks
    first = min(found.ends, key=lambda end: end.at or 0.0, default=None)
    assert (None if first is None else str(first.rank)) == (ranks if single else None)


def test_the_first_pod_to_end_is_the_first_rank_that_failed(tmp_path) -> None:
    path = tmp_path / "pods.yaml"
    path.write_text(
        replicas(
            (KUBEFLOW.format("master", 0), 1, "41"), (KUBEFLOW.format("worker", 1), 137, "11")
        ),
        encoding="utf-8",
    )

    answer = diagnose(path)

    assert answer.ranks is not None
    assert answer.ranks.first_failed == 2


EVENTS = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Event
  involvedObject: {{kind: Job, name: llm, namespace: train}}
  lastTimestamp: "2025-11-20T10:41:11Z"
  message: {message}
  reason: {reason}
  type: Warning
"""


@pytest.mark.parametrize(
    ("reason", "message", "expected"),
    [
        (
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
            "BackoffLimitExceeded",
        ),
        ("SuccessfulCreate", "'Created pod: llm-0-x5j2k'", None),
    ],
)
def test_an_event_tells_with_what_a_job_was_ended(
    reason: str, message: str, expected: str | None
) -> None:
    found = said(EVENTS.format(reason=reason, message=message))

    assert found.get("kubernetes.reason") == expected


@pytest.mark.parametrize("spelled", ["yaml", "json"])
def test_events_are_a_log_and_not_a_launch(spelled: str, tmp_path) -> None:
    text = EVENTS.format(
        reason="FailedScheduling",
        message="'0/4 nodes are available: 4 Insufficient nvidia.com/gpu.'",
    )
    if spelled == "json":
        text = json.dumps(yaml.safe_load(text), indent=4)
    path = tmp_path / f"events.{spelled}"
    path.write_text(text, encoding="utf-8")

    answer = diagnose(path)

    assert answer.symptoms[0].id == "pod-not-scheduled"
