"""Which argument an arithmetic error computed with is read from the line Python marked."""

from __future__ import annotations

from trainrx.facts.operands import UNSET, ZERO, operand_facts
from trainrx.model.facts import Facts, Origin
from trainrx.model.job import Input, RawArg, RawLaunch

ACCUMULATION = "gradient_accumulation_steps"
DIVIDED = """Traceback (most recent call last):
  File "/site-packages/transformers/trainer.py", line 2498, in set_initial_training_values
    len_dataloader // args.gradient_accumulation_steps
    ~~~~~~~~~~~~~~~^^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
ZeroDivisionError: integer division or modulo by zero
"""
MULTIPLIED = """Traceback (most recent call last):
  File "/site-packages/swift/pipelines/train/kto.py", line 48, in prepare_kto_dataset
    total = (world_size * args.per_device_train_batch_size * args.gradient_accumulation_steps)
             ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
TypeError: unsupported operand type(s) for *: 'int' and 'NoneType'
"""


def test_the_divisor_that_the_launch_sets_to_zero_is_named() -> None:
    assert _facts(DIVIDED, {ACCUMULATION: "0"}).text(ZERO) == ACCUMULATION


def test_a_divisor_that_is_not_zero_in_the_launch_is_not_named() -> None:
    assert _facts(DIVIDED, {ACCUMULATION: "4"}).text(ZERO) is None


def test_a_line_without_marks_names_what_stands_behind_the_stroke() -> None:
    older = "\n".join(line for line in DIVIDED.split("\n") if "~" not in line)

    assert _facts(older, {ACCUMULATION: "0"}).text(ZERO) == ACCUMULATION


def test_the_operand_that_is_none_is_the_argument_nobody_gave() -> None:
    assert _facts(MULTIPLIED, {"per_device_train_batch_size": "2"}).text(UNSET) == ACCUMULATION


def test_an_operand_that_was_given_is_not_called_unset() -> None:
    assert _facts(MULTIPLIED, {ACCUMULATION: "2"}).text(UNSET) is None


def test_labels_of_ranks_do_not_hide_the_marks() -> None:
    labelled = "\n".join(f"[rank1]: {line}" for line in MULTIPLIED.splitlines())

    assert _facts(labelled, {}).text(UNSET) == ACCUMULATION


def _facts(log: str, args: dict[str, str]) -> Facts:
    origin = Origin(source="launch.sh", line=1)
    launch = RawLaunch(
        framework="ms-swift",
        command="sft",
        env=(),
        args=tuple(
            RawArg(name=name, values=(value,), origin=origin) for name, value in args.items()
        ),
        origin=origin,
    )
    return Facts(operand_facts((Input(name="train.log", kind="log", text=log),), launch))
