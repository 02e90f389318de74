"""A launcher in a variable with several courses: what all courses share is read, the rest is open.

Forms as in princeton-nlp/ProLong (train_sft.sh) and verl (examples/grpo_trainer).
"""

from __future__ import annotations

import pytest

from trainrx.api import inspect_launch
from trainrx.launch.find import find_launches
from trainrx.shell import read_script

NODES = """\
if [ "$NNODES" -gt 1 ]; then
  RUN="torchrun --nnodes $NNODES --nproc_per_node 8 --master_port 29501"
else
  RUN="accelerate launch --num_processes 4 --main_process_port 29501"
fi
$RUN train.py --model_name_or_path a/b --per_device_train_batch_size 2 --output_dir out
"""


def launches(text, outer=None):
    return find_launches(read_script(text, "run.sh", outer))


def test_what_only_one_course_sets_is_not_known():
    (found,) = launches(NODES)

    told = {arg.name: arg.values for arg in found.launcher}
    assert found.framework == "transformers"
    assert ("per_device_train_batch_size", ("2",)) in [(a.name, a.values) for a in found.args]
    assert told["master_port"] == ("29501",)
    assert {name for name, values in told.items() if values is None} >= {"nproc_per_node"}
    assert found.started_unseen
    assert [item.reason.split()[0] for item in found.unread] == ["$RUN"]


@pytest.mark.parametrize(("nodes", "processes"), [("1", "4"), ("2", "8")])
def test_a_variable_at_hand_decides(nodes, processes):
    (found,) = launches(NODES, {"NNODES": nodes})

    told = {arg.values for arg in found.launcher if arg.name in ("num_processes", "nproc_per_node")}
    assert told == {(processes,)}
    assert not found.started_unseen


def test_an_array_and_words_in_front_of_it_are_read_too():
    (found,) = launches(
        "RUN=(python3)\n"
        'if [ "${USE_UV:-}" = "$X" ]; then RUN=(uv run --extra "${ENGINE}" python3); fi\n'
        'nohup "${RUN[@]}" -m verl.trainer.main_ppo trainer.nnodes=2 trainer.n_gpus_per_node=8\n'
    )

    assert (found.framework, found.command) == ("verl", "ppo")
    assert not found.started_unseen


def test_a_course_that_starts_nothing_leaves_open_whether_it_runs():
    (found,) = launches(
        'if [ "$DRY" = 1 ]; then RUN="echo"; else RUN="torchrun --nproc_per_node 8"; fi\n'
        "$RUN train.py --model_name_or_path a/b --output_dir out\n"
    )

    assert found.perhaps
    assert [arg.values for arg in found.launcher if arg.name == "nproc_per_node"] == [("8",)]


@pytest.mark.parametrize("other", ["swift sft", "deepspeed other.py"])
def test_courses_that_start_different_programs_are_no_launch(other):
    text = (
        f"if [ $A = 1 ]; then RUN='torchrun train.py'; else RUN='{other}'; fi\n"
        "$RUN --model_name_or_path a/b --output_dir out\n"
    )

    assert launches(text) == ()


def test_the_number_of_processes_is_said_of_no_course_alone(tmp_path):
    path = tmp_path / "run.sh"
    path.write_text(NODES)

    (job,) = inspect_launch(path).jobs

    facts = {item.name for item in job.facts}
    assert "parallel.world_size" not in facts
    assert "batch.effective" not in facts
