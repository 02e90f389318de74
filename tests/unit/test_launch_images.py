from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx import inspect_launch
from trainrx.launch.images import LONGEST, versions_in

# names of https://hub.docker.com/r/verlai/verl/tags and the registries of each project
MODELSCOPE = (
    "modelscope-registry.cn-hangzhou.cr.aliyuncs.com/modelscope-repo/modelscope:ubuntu22.04-"
    "cuda12.6.3-py311-torch2.7.1-vllm0.10.0-modelscope1.28.2-swift3.7.0"
)


@pytest.mark.parametrize(
    ("image", "found"),
    [
        (
            MODELSCOPE,
            {"torch": "2.7.1", "vllm": "0.10.0", "modelscope": "1.28.2", "ms-swift": "3.7.0"},
        ),
        ("modelscope:swift3.5.3", {"ms-swift": "3.5.3"}),
        ("hiyouga/llamafactory:0.9.3", {"llamafactory": "0.9.3"}),
        ("vllm/vllm-openai:v0.8.5", {"vllm": "0.8.5"}),
        ("lmsysorg/sglang:v0.4.6.post1-cu124", {"sglang": "0.4.6.post1"}),
        ("pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel", {"torch": "2.4.0"}),
        ("huggingface/transformers-pytorch-gpu:4.41.3", {"transformers": "4.41.3"}),
        (
            "verlai/verl:app-verl0.5-vllm0.10.0-mcore0.13.0-te2.2",
            {
                "verl": "0.5",
                "vllm": "0.10.0",
                "megatron-core": "0.13.0",
                "transformer-engine": "2.2",
            },
        ),
    ],
)
def test_versions_stand_in_the_tag_of_an_image(image, found):
    assert versions_in(image) == found


@pytest.mark.parametrize(
    "image",
    [
        "nvcr.io/nvidia/pytorch:24.05-py3",
        "axolotlai/axolotl:main-latest",
        "localhost:5000/trainer",
        "python:3.11",
        "ghcr.io/me/trainer:1.2.3",
        "modelscope",
        "swift@sha256:0a1b",
    ],
)
def test_a_tag_that_is_of_something_else_tells_no_version(image):
    assert versions_in(image) == {}


def test_the_version_of_the_image_is_that_of_the_launch_unless_it_is_stated(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text(
        "docker run --gpus all modelscope:swift3.7.0 swift sft --model m --dataset d\n"
    )

    (found,) = inspect_launch(script).jobs
    (stated,) = inspect_launch(script, versions={"ms-swift": "3.5.3"}).jobs

    assert (found.version, stated.version) == ("3.7.0", "3.5.3")


@given(st.text(max_size=2 * LONGEST))
def test_any_name_is_read_without_raising(image):
    assert isinstance(versions_in(image), dict)
