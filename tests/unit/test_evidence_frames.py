"""Where a failure stands: the last frame of the traceback, and the package its file lies in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.evidence.detector import Detector
from trainrx.evidence.frames import Frame, frame_of_excerpt, last_frame
from trainrx.evidence.sources import SourceFile, source_of
from trainrx.knowledge.load import load
from trainrx.model.job import Input

DETECTOR = Detector(tuple(load().symptoms.values()))
KINDS = ("failure.package", "failure.file", "failure.function")


def place(text: str) -> tuple[object, ...]:
    """Give package, file and function of the failure a log tells of."""
    found = DETECTOR.detect([Input(kind="log", name="train.log", text=text)])
    facts = {fact.kind: fact.value for fact in found.facts}
    return tuple(facts.get(kind) for kind in KINDS)


@pytest.mark.parametrize(
    ("path", "package", "file"),
    [
        (
            "/opt/x/lib/python3.11/site-packages/swift/trainers/a.py",
            "ms-swift",
            "swift/trainers/a.py",
        ),
        ("/usr/lib/python3/dist-packages/vllm/v1/core.py", "vllm", "vllm/v1/core.py"),
        ("/x/site-packages/some_tool/b.py", "some_tool", "some_tool/b.py"),
        (".../trl/trainer/grpo_trainer.py", "trl", "trl/trainer/grpo_trainer.py"),
        ("/w/DeepSpeed/deepspeed/runtime/engine.py", "deepspeed", "deepspeed/runtime/engine.py"),
        ("/home/ray/default/SkyRL/skyrl/train/a.py", "skyrl", "skyrl/train/a.py"),
        ("src/llamafactory/train/tuner.py", "llamafactory", "llamafactory/train/tuner.py"),
        ("C:\\env\\Lib\\site-packages\\peft\\mapping.py", "peft", "peft/mapping.py"),
        ("/data/datasets/mine/train.py", "", "train.py"),
        ("/home/ray/reward.py", "", "reward.py"),
    ],
)
def test_a_file_belongs_to_the_package_its_path_lies_in(path: str, package: str, file: str) -> None:
    assert source_of(path) == SourceFile(package, file)


@pytest.mark.parametrize("path", ["<string>", "<frozen runpy>", "/usr/lib/python3.10/runpy.py"])
def test_the_standard_library_is_no_place(path: str) -> None:
    assert source_of(path) is None


TRACEBACK = """\
Traceback (most recent call last):
  File "/work/run.py", line 9, in <module>
    main()
  File "/opt/lib/python3.11/site-packages/trl/trainer/grpo_trainer.py", line 812, in _generate
    self.llm.generate()
{last}{error}
"""


def test_the_last_frame_of_an_exception_is_its_place() -> None:
    text = TRACEBACK.format(
        last="", error="AttributeError: 'GRPOTrainer' object has no attribute 'llm'"
    )

    assert place(text) == ("trl", "trl/trainer/grpo_trainer.py", "_generate")


def test_the_standard_library_is_called_wrongly_not_wrong() -> None:
    last = '  File "/usr/lib/python3.11/json/decoder.py", line 5, in decode\n    raise\n'
    text = TRACEBACK.format(last=last, error="KeyError: 'x'")

    assert place(text)[0] == "trl"


def test_what_fails_in_the_users_own_code_is_of_no_package() -> None:
    last = '  File "/work/my_reward.py", line 5, in score\n    return d["x"]\n'
    text = TRACEBACK.format(last=last, error="KeyError: 'x'")

    assert place(text) == (None, "my_reward.py", "score")


def test_the_launcher_is_no_place_of_a_failure() -> None:
    text = """\
Traceback (most recent call last):
  File "/opt/lib/python3.11/site-packages/torch/distributed/run.py", line 918, in main
    run(args)
ValueError: no
"""

    assert place(text) == (None, None, None)


def test_a_requirement_is_checked_for_a_caller() -> None:
    text = """\
Traceback (most recent call last):
  File "/app/src/llamafactory/train/ppo/trainer.py", line 3, in <module>
    require_version("trl")
  File "/x/site-packages/transformers/utils/versions.py", line 8, in require_version
    raise
ImportError: trl>=0.8.6,<=0.9.6 is required for a normal functioning of this module
"""

    assert place(text)[0] == "llamafactory"


def test_lines_of_another_rank_do_not_say_where_this_one_failed() -> None:
    text = """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "/x/site-packages/vllm/a.py", line 1, in f
[rank0]:   File "/x/site-packages/peft/b.py", line 2, in g
[rank1]: RuntimeError: bad
"""

    assert place(text)[0] == "vllm"


def test_a_log_that_is_cut_off_in_a_traceback_tells_the_place() -> None:
    text = '  File ".../trl/examples/scripts/grpo_agent.py", line 319, in <module>\n    go()\n'

    assert place(text)[:2] == ("trl", "trl/examples/scripts/grpo_agent.py")


def test_a_place_given_in_words_is_read_in_an_excerpt() -> None:
    text = """\
ValueError: output tensor size must be equal to world_size times input tensor size
swift/sequence_parallel/ulysses.py
DistributedAttention.forward()
"""

    assert place(text) == ("ms-swift", "swift/sequence_parallel/ulysses.py", "forward")


def test_a_place_and_a_method_may_share_a_line() -> None:
    found = frame_of_excerpt("swift/sequence_parallel/ulysses.py / DistributedAttention.forward()")

    assert found == Frame("ms-swift", "swift/sequence_parallel/ulysses.py", "forward")


def test_a_warning_names_no_place() -> None:
    text = "/x/site-packages/trl/import_utils.py:91: UserWarning: an old vLLM\n" * 3

    assert place(text) == (None, None, None)


def test_a_job_that_finished_failed_nowhere() -> None:
    text = TRACEBACK.format(last="", error="KeyError: 'x'")
    end = "{'train_runtime': 100.1, 'train_steps_per_second': 2.0, 'train_loss': 0.5}\n"

    assert place(text) != (None, None, None)
    assert place(text + end) == (None, None, None)


@given(st.text(max_size=300))
def test_no_text_is_too_odd_for_a_frame(text: str) -> None:
    frame_of_excerpt(text)
    last_frame(text.splitlines())
    source_of(text)
