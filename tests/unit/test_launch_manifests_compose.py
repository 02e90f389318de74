from __future__ import annotations

import pytest

from trainrx.launch.manifests.compose import interpolated
from trainrx.launch.scripts import script_launches
from trainrx.model.job import Input

# https://docs.docker.com/reference/compose-file/extension/
COMPOSE = """\
x-gpu: &gpu
  shm_size: 32gb
  environment: &env
    NPROC_PER_NODE: ${NPROC:-4}
    TOKEN: ${HF}
services:
  base:
    image: modelscope:${TAG:-swift3.9.1}
    <<: *gpu
  train:
    extends: {service: base}
    env_file: .env
    command: >
      bash -c "swift sft --model ${MODEL:-Qwen/Qwen2.5-7B} --output_dir $$OUT --seed 1"
    deploy:
      resources: {reservations: {devices: [{driver: nvidia, device_ids: ['0', '1']}]}}
"""
# https://docs.skypilot.co/en/latest/reference/yaml-spec.html
TASK = """\
name: sft
resources:
  accelerators: H100:8
num_nodes: 2
envs:
  MODEL: Qwen/Qwen2.5-7B
setup: |
  pip install ms-swift
run: |
  NNODES=$SKYPILOT_NUM_NODES NPROC_PER_NODE=$SKYPILOT_NUM_GPUS_PER_NODE swift sft --model $MODEL
"""


def launched(text, folder=None, **given):
    item = Input(kind="script", name="compose.yaml", text=text)
    (launch,) = script_launches(item, given, folder)[0]
    return launch


def told(args):
    return {arg.name: None if arg.values is None else arg.values[-1] for arg in args}


def test_anchors_extended_services_and_defaults_are_filled_in():
    launch = launched(COMPOSE)

    assert told(launch.container) == {
        "image": "modelscope:swift3.9.1",
        "shm_size": "32gb",
        "gpus": "device=0,1",
    }
    assert {item.name: item.value for item in launch.env} == {"NPROC_PER_NODE": "4", "TOKEN": None}
    assert told(launch.args) == {"model": "Qwen/Qwen2.5-7B", "output_dir": None, "seed": "1"}


def test_variables_around_a_compose_file_go_before_its_defaults():
    launch = launched(COMPOSE, NPROC="2", MODEL="m")

    assert {item.name: item.value for item in launch.env}["NPROC_PER_NODE"] == "2"
    assert told(launch.args)["model"] == "m"


def test_a_file_of_variables_is_read_where_it_lies_beside(tmp_path):
    (tmp_path / ".env").write_text("MAX_PIXELS=1003520\n", encoding="utf-8")

    alone, beside = launched(COMPOSE), launched(COMPOSE, tmp_path)

    assert (alone.env_complete, beside.env_complete) == (False, True)
    assert {item.name: item.value for item in beside.env}["MAX_PIXELS"] == "1003520"


def test_a_task_of_skypilot_is_one_job_on_its_nodes():
    launch = launched(TASK)

    assert told(launch.container) == {"accelerator": "H100", "gpus": "8", "replicas": "2"}
    assert {item.name: (item.value, item.origin.line) for item in launch.env} == {
        "MODEL": ("Qwen/Qwen2.5-7B", 6),
        "NNODES": ("2", 10),
        "NPROC_PER_NODE": ("8", 10),
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("${A}", "1"),
        ("$A-$$B", "1-$B"),
        ("${NONE:-x}", "x"),
        ("${EMPTY-x}", ""),
        ("${EMPTY:-x}", "x"),
        ("${A:+y}", "y"),
        ("${NONE}", None),
        ("${NONE:?must be set}", None),
        ("plain", "plain"),
    ],
)
def test_references_are_filled_in_as_compose_does(text, found):
    assert interpolated(text, {"A": "1", "EMPTY": ""}) == found
