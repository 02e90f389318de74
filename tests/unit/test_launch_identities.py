"""Batches that follow though nobody knows the number of processes."""

import pytest

from trainrx.api import inspect_launch

HEAD = "torchrun --nproc_per_node $NGPUS --nnodes $NODES train.py --learning_rate 1e-5 "


def _facts(script: str) -> dict[str, object]:
    return {item.name: item.value for item in inspect_launch(cmd=script).jobs[0].facts}


@pytest.mark.parametrize(
    "script",
    [
        "GBS=256\nMBS=4\n" + HEAD + "--per_device_train_batch_size $MBS "
        "--gradient_accumulation_steps $((GBS / MBS / NGPUS / NODES))\n",
        # the product has a name of its own
        "GBS=256\nWORLD=$(($NGPUS*$NODES))\nACCU=$(( $GBS / $WORLD / 4 ))\n"
        + HEAD
        + "--per_device_train_batch_size 4 --gradient_accumulation_steps=${ACCU}\n",
        # the older form of the brackets, and the micro-batch worked out
        "MBS=$[256/(2*$NGPUS*$NODES)]\n"
        + HEAD
        + "--per_device_train_batch_size $MBS --gradient_accumulation_steps 2\n",
        (
            "accelerate launch --num_processes $NGPUS train.py --per_device_train_batch_size 4 "
            "--gradient_accumulation_steps $((64 * 4 / (NGPUS * 4)))\n"
        ),
    ],
)
def test_what_is_divided_by_the_processes_is_multiplied_by_them(script: str) -> None:
    assert _facts(script)["batch.effective"] == 256


@pytest.mark.parametrize(
    "accumulation",
    [
        "$((256 / 4 / NGPUS))",  # the nodes stay
        "$((256 / 3 / NGPUS / NODES))",  # leaves a rest
        "$((256 / 4 / OTHER / NODES))",
        "$((256 / 4 / NGPUS / NODES + 1))",
        "$((256 / 4 / NGPUS / 0))",
        "$ACCUMULATION",
    ],
)
def test_nothing_is_said_where_an_unknown_stays(accumulation: str) -> None:
    script = (
        HEAD + f"--per_device_train_batch_size 4 --gradient_accumulation_steps {accumulation}\n"
    )

    assert "batch.effective" not in _facts(script)


def test_the_older_brackets_are_worked_out() -> None:
    script = (
        "NGPUS=8\nMBS=$[64/($NGPUS*2)]\ntorchrun --nproc_per_node $NGPUS train.py "
        "--per_device_train_batch_size $MBS --gradient_accumulation_steps 2\n"
    )

    assert _facts(script)["batch.effective"] == 64


def test_gpus_of_a_number_of_nodes_nobody_knows_are_not_counted() -> None:
    facts = _facts("torchrun --nproc_per_node 8 --nnodes $NODES train.py --num_train_epochs 1\n")

    assert facts["hardware.gpus_per_node"] == 8
    assert "hardware.gpus" not in facts
