"""What `kubectl get` prints of a pod that died."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trainrx import diagnose
from trainrx.inputs.containers.pod_status import contained
from trainrx.inputs.content import Content

# https://kubernetes.io/docs/tasks/configure-pod-container/assign-memory-resource/
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train-0
spec:
  containers:
  - name: trainer
    image: modelscope:swift3.7.0
    command: [bash, -c]
    args:
    - NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a
    resources:
      limits: {memory: 64Gi, nvidia.com/gpu: 4}
status:
  conditions:
  - status: "False"
    type: Ready
  containerStatuses:
  - image: modelscope:swift3.7.0
    lastState:
      terminated:
        exitCode: 137
        reason: OOMKilled
    restartCount: 3
"""


def read(text: str):
    return contained(Content("pod.yaml", data=text.encode()))


@pytest.mark.parametrize("text", [POD, json.dumps(yaml.safe_load(POD), indent=4)])
def test_the_status_is_a_log_in_the_lines_of_the_object(text):
    (script, log, whole), unread = read(text)

    assert (script.kind, script.text, unread) == ("script", text, [])
    assert (whole.kind, whole.format, whole.text) == ("evidence", "kubernetes", text)
    shown = {number for number, line in enumerate(log.text.split("\n"), start=1) if line}
    killed = next(n for n, line in enumerate(text.split("\n"), start=1) if "OOMKilled" in line)
    image = next(n for n, line in enumerate(text.split("\n"), start=1) if "image" in line)
    assert killed in shown
    assert image not in shown


def test_a_manifest_that_was_not_run_holds_no_log():
    assert read(POD.partition("status:")[0]) is None
    assert read("containerStatuses: []\n") is None


@pytest.mark.parametrize("how", ["paths", "cmd"])
def test_the_end_of_a_pod_is_judged_with_its_limits(tmp_path, how):
    path = tmp_path / "pod.yaml"
    path.write_text(POD, encoding="utf-8")

    found = diagnose(path) if how == "paths" else diagnose(cmd=path)

    killed = next(item for item in found.symptoms if item.id == "k8s-oomkilled")
    assert (killed.evidence[0].line, found.facts["hardware.host_ram_gib"]) == (23, 64)
    assert (found.job.gpus, found.job.framework_version) == (4, "3.7.0")


@given(st.text(alphabet=' \n-{}[]":stau,', max_size=120))
def test_any_status_is_read_without_raising(text):
    found = read(f"{POD.partition('status:')[0]}status:{text}\n  containerStatuses:\n")

    assert found is None or [item.kind for item in found[0]] == ["script", "log", "evidence"]
