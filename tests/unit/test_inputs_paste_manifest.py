"""A manifest pasted into a post starts the job as a file of its own would."""

from __future__ import annotations

import pytest

from trainrx.inputs.paste.post import post_inputs

MANIFEST = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - image: modelscope:swift3.7.0
      command: [bash, -c]
      args:
        - NPROC_PER_NODE=8 swift sft --model m --dataset d
"""
COMPOSE = """\
services:
  train:
    image: modelscope:swift3.7.0
    command: swift sft --model m --dataset d
    shm_size: 16gb
"""
POST = "Training is killed after some steps, with this file:\n\n{}\n\nIt prints:\n```\n{}\n```\n"
LOG = "RuntimeError: DataLoader worker (pid 1) is killed by signal: Killed."


@pytest.mark.parametrize("text", [MANIFEST, COMPOSE])
@pytest.mark.parametrize("fenced", [True, False])
def test_a_manifest_in_a_post_is_a_script_at_its_lines(text, fenced):
    body = f"```yaml\n{text}```" if fenced else text
    found = post_inputs(POST.format(body, LOG), "post.md")

    assert found is not None
    inputs = {item.kind: item for item in found[0]}
    first = 4 if fenced else 3
    assert inputs["script"].text.split("\n")[first - 1] == text.split("\n", 1)[0]
    assert "config" not in inputs
    assert LOG in inputs["log"].text
