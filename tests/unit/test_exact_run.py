"""The trial's process: whatever it does, there is an answer. No torch is needed."""

import importlib.util
import stat
import sys

import pytest

from trainrx.exact.record import Recipe
from trainrx.exact.run import run_exact, run_trial
from trainrx.model.hardware import ModelShape
from trainrx.model.memory import Length, Refusal, Workload

SHAPE = ModelShape(
    id="meta-llama/tiny", layers=2, hidden=64, heads=4, kv_heads=2, inter=128, vocab=512, tie=False
)
LOAD = Workload(shape=SHAPE, length=Length(low=64, typical=64, high=64, how="exact"))
RECIPE = Recipe(model_type="llama", config={})


def interpreter(tmp_path, *lines):
    path = tmp_path / "python"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def reason(found):
    assert isinstance(found, Refusal)
    return found.reason


def test_trial_that_hangs_is_given_up(tmp_path):
    python = interpreter(tmp_path, "exec sleep 30")

    found = run_exact(LOAD, seconds=0.3, python=python)

    assert "not done after 0.3 seconds" in reason(found)


def test_trial_that_aborts_is_an_answer(tmp_path):
    python = interpreter(tmp_path, "echo 'terminate called' >&2", "kill -ABRT $$")

    found = run_exact(LOAD, seconds=20, python=python)

    assert "signal 6" in reason(found)
    assert "terminate called" in found.reason


@pytest.mark.parametrize("said", ["", "nonsense", '{"result": 3}'])
def test_trial_that_prints_something_else_is_an_answer(tmp_path, said):
    python = interpreter(tmp_path, "cat > /dev/null", f"printf '%s' '{said}'")

    assert "the process ended (exit 0)" in reason(run_exact(LOAD, seconds=20, python=python))


def test_interpreter_that_is_not_there_is_an_answer(tmp_path):
    assert "No such file" in reason(run_exact(LOAD, python=str(tmp_path / "none")))


def test_class_of_an_own_config_that_is_unknown_is_tried_by_shape(tmp_path):
    python = interpreter(
        tmp_path,
        'if grep -q \'"model_type":"llama"\'',
        'then printf \'%s\' \'{"failure": {"kind": "failed", "reason": "second"}}\'',
        'else printf \'%s\' \'{"failure": {"kind": "unknown-class", "reason": "first"}}\'',
        "fi",
    )

    found = run_exact(LOAD, {"model_type": "acme"}, seconds=20, python=python)

    assert reason(found).endswith("second")


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None, reason="says what is said without torch"
)
def test_missing_packages_are_named_with_the_command_that_brings_them():
    outcome = run_trial(RECIPE, seconds=60, python=sys.executable)

    assert outcome.failure is not None
    assert outcome.failure.kind == "missing"
    found = run_exact(LOAD, seconds=60)
    assert "pip install 'trainrx[exact]'" in reason(found)
    assert "torch" in found.reason
