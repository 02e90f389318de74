from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.inputs.recognise import recognise
from trainrx.launch.manifests.parts import read_manifest
from trainrx.launch.scripts import script_launches
from trainrx.model.job import Input

JOB = """\
apiVersion: v1
kind: ConfigMap
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: &pod
        spec:
          hostIPC: true
          containers:
            - name: pytorch
              image: modelscope:cuda12
              command: ["/bin/bash", "-lc"]
              args:
                - |
                  cd /workspace
                  NPROC_PER_NODE=8 NNODES=$WORLD_SIZE swift sft \\
                    --model Qwen/Qwen2.5-VL-7B-Instruct \\
                    --output_dir $(OUT)
              env:
                - name: MAX_PIXELS
                  value: "1003520"
                - {name: OUT, value: /out}
                - {name: HF_TOKEN, value: hf_abc}
                - name: POD
                  valueFrom: {fieldRef: {fieldPath: metadata.name}}
              resources:
                limits: {nvidia.com/gpu: 8, memory: 512Gi}
              volumeMounts:
                - {mountPath: /dev/shm, name: shm}
          volumes:
            - name: shm
              emptyDir: {medium: Memory, sizeLimit: 64Gi}
    Worker:
      replicas: 3
      template: *pod
"""
EXEC = """\
apiVersion: batch/v1
kind: Job
spec:
  parallelism: 2
  template:
    spec:
      containers:
        - image: verl
          command:
            - torchrun
            - --nproc_per_node
            - "8"
            - train.py
            - --per_device_train_batch_size
            - "2"
            - --run_name=$(NAME)
          env: [{name: NAME, value: x y}]
"""
COMPOSE = """\
services:
  train:
    image: hiyouga/llamafactory
    command: ["llamafactory-cli", "train", "x.yaml"]
    shm_size: "16gb"
    ipc: host
    environment:
      - FORCE_TORCHRUN=1
    deploy:
      resources:
        reservations:
          devices: [{driver: nvidia, count: 4, capabilities: [gpu]}]
  shell:
    image: x
    command: swift sft --model Qwen/Qwen2.5-7B
    environment: {MAX_PIXELS: 602112}
"""


def launches(text):
    found, _ = script_launches(Input(kind="script", name="job.yaml", text=text), {})
    return found


def values(args):
    return {arg.name: (arg.values, arg.origin.line) for arg in args}


@pytest.mark.parametrize("text", [JOB, EXEC, COMPOSE])
def test_manifests_are_recognised_as_what_starts_a_job(text):
    assert recognise(text) == "script"


def test_a_pytorch_job_is_one_launch_on_all_its_pods():
    (launch,) = launches(JOB)

    assert (launch.framework, launch.command, launch.origin.line) == ("ms-swift", "sft", 20)
    assert values(launch.args) == {
        "model": (("Qwen/Qwen2.5-VL-7B-Instruct",), 21),
        "output_dir": (("/out",), 22),
    }
    env = {item.name: (item.value, item.origin.line) for item in launch.env}
    assert env["MAX_PIXELS"] == ("1003520", 24)
    assert env["NNODES"] == ("4", 20)
    assert env["POD"] == (None, 28)


def test_secrets_are_not_kept():
    (launch,) = launches(JOB)

    token = next(item for item in launch.env if item.name == "HF_TOKEN")
    assert token.value == "***"
    assert "hf_abc" not in token.origin.text


def test_what_the_container_may_use_is_told():
    (launch,) = launches(JOB)

    assert values(launch.container) == {
        "image": (("modelscope:cuda12",), 15),
        "gpus": (("8",), 31),
        "memory": (("512Gi",), 31),
        "shm_size": (("64Gi",), 36),
        "ipc": (("host",), 12),
        "replicas": (("4",), 38),
    }


def test_a_command_in_words_keeps_its_lines():
    (launch,) = launches(EXEC)

    assert values(launch.args) == {
        "per_device_train_batch_size": (("2",), 14),
        "run_name": (("x y",), 16),
    }
    assert values(launch.launcher)["nproc_per_node"][0] == ("8",)
    assert values(launch.container)["replicas"] == (("2",), 4)


def test_services_of_a_compose_file_are_read():
    first, second = launches(COMPOSE)

    assert (first.framework, first.configs) == ("llamafactory", ("x.yaml",))
    assert values(first.container)["shm_size"] == (("16gb",), 5)
    assert values(first.container)["gpus"][0] == ("4",)
    assert {item.name: item.value for item in first.env} == {"FORCE_TORCHRUN": "1"}
    assert values(second.args) == {"model": (("Qwen/Qwen2.5-7B",), 15)}
    assert {item.name: item.value for item in second.env} == {"MAX_PIXELS": "602112"}


@pytest.mark.parametrize(
    "text",
    [
        "stage: sft\nservices: 3\n",
        "apiVersion: v1\nkind: X\nspec: [",
        "services:\n" + "[" * 200,
        "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: x}]}\n",
    ],
)
def test_what_holds_no_command_gives_nothing(text):
    assert read_manifest(text, "a.yaml") == ()


@given(st.text(alphabet="abc:-{}[]\n |&*\"'$()", max_size=150))
def test_any_manifest_is_read_without_raising(text):
    head = "apiVersion: v1\nkind: Job\nspec:\n  containers:\n  - command: "

    for part in read_manifest(head + text, "a.yaml"):
        assert part.nodes >= 1
