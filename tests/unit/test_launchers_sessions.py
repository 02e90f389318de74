from __future__ import annotations

import pytest

from trainrx.launch.find import find_launches
from trainrx.shell import read_script

RUN = "swift sft --model m --dataset d\n"


def given(text: str) -> list[dict[str, object]]:
    return [
        {arg.name: None if arg.values is None else arg.values[-1] for arg in launch.container}
        for launch in find_launches(read_script(text, "notes.sh"))
    ]


@pytest.mark.parametrize("shell", ["bash", "/bin/bash", ""])
def test_what_is_typed_in_a_container_runs_in_it(shell):
    (found,) = given(f"docker run -it --gpus all --shm-size 32g swift:3.7.0 {shell}\n{RUN}")

    assert found == {"image": "swift:3.7.0", "gpus": "all", "shm_size": "32g"}


def test_a_container_is_known_by_its_name():
    named, outside = given(
        "docker run -d --gpus 2 --name box swift:3.7.0 sleep infinity\n"
        f"docker exec -it box {RUN}docker exec -it other {RUN}"
    )

    assert named == {"image": "swift:3.7.0", "gpus": "2", "name": "box", "container": "box"}
    assert outside == {"container": "other"}


def test_a_shell_opened_later_is_in_the_container_of_that_name():
    (found,) = given(
        f"docker run -dit --name box --gpus all swift:3.7.0\nsudo docker exec -it box bash\n{RUN}"
    )

    assert found["image"] == "swift:3.7.0"


def test_variables_of_the_container_are_those_of_what_runs_in_it():
    text = f"docker run -it -e HF_HOME=/hf -e A=1 swift:3.7.0 bash\nA=2 {RUN}"
    (launch,) = find_launches(read_script(text, "notes.sh"))

    assert {item.name: item.value for item in launch.env} == {"HF_HOME": "/hf", "A": "2"}


def test_a_container_that_runs_something_else_holds_no_later_command():
    assert given(f"docker run --rm redis:7 redis-server\n{RUN}") == [{}]
    assert given(f"docker pull swift:3.7.0\ndocker ps\n{RUN}") == [{}]
