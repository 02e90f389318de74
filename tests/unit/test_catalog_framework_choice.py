"""The framework a user names: as known names, with versions, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx import api
from trainrx.catalog.framework_choice import FrameworkChoice, known_names, read_framework
from trainrx.model.errors import UsageError

TIMEOUT = (
    "[rank3]:[E ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=1234, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for "
    "600012 milliseconds before timing out.\n"
)


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("ms-swift", "ms-swift", ""),
        ("swift", "ms-swift", ""),
        ("MS_Swift==3.2.1", "ms-swift", "3.2.1"),
        ("LLaMA-Factory 0.9.2", "llamafactory", "0.9.2"),
        ("llamafactory@v0.9.1", "llamafactory", "0.9.1"),
        ("verl 0.5.x", "verl", "0.5.x"),
        ("ms-swift 3", "ms-swift", "3"),
        ("Megatron-LM", "megatron-lm", ""),
        (" slime ", "slime", ""),
        ("PyTorch 2.5.1", "torch", "2.5.1"),
        ("nccl==2.29.2", "nvidia-nccl-cu12", "2.29.2"),
        ("nemo-rl-0.3", "nemo-rl", "0.3"),
    ],
)
def test_a_name_is_known_by_what_people_call_it(text: str, name: str, version: str) -> None:
    assert read_framework(text) == FrameworkChoice(name=name, version=version)


@pytest.mark.parametrize("text", ["", " ", "==3.2", "my-trainer", "swfit", "verl==soon", "\x00"])
def test_what_is_no_framework_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(UsageError, match="--framework") as refused:
        read_framework(text)

    assert "xpected" in str(refused.value)


def test_a_misspelt_name_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean verl"):
        read_framework("verll")


@pytest.mark.parametrize("name", ["pytorch", "nccl"])
def test_what_lies_below_every_framework_is_where_it_failed(name: str) -> None:
    assert read_framework(name).fact().kind == "failure.package"


def test_a_release_of_nccl_that_hangs_is_known_by_its_name(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(TIMEOUT)

    answer = api.diagnose(logs=[log], framework="nccl==2.29.2")

    cause = next(c for c in answer.causes if c.id == "collective-library-release-hangs")
    assert "nvidia-nccl-cu12 >=2.29.3" in {
        f"{c.param} {c.to}" for f in cause.fixes for c in f.changes
    }


@pytest.mark.parametrize("name", sorted(known_names()))
def test_every_known_name_is_taken(name: str) -> None:
    assert read_framework(name).fact().value


def test_a_named_framework_spells_the_changes(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")

    alone = api.diagnose(logs=[log])
    told = api.diagnose(logs=[log], framework="verl 0.5.0", note="OOM in the actor's update")

    assert alone.job.framework is None
    assert told.job.framework == "verl"
    assert told.job.framework_version == "0.5.0"
    names = {c.param for cause in told.causes for fix in cause.fixes for c in fix.changes}
    assert any(name.startswith("actor_rollout_ref.") for name in names)


def test_a_launch_goes_before_the_name_and_says_so(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a\n")
    log = tmp_path / "train.log"
    log.write_text("RuntimeError: boom\n")

    answer = api.diagnose(cmd=script, logs=[log], framework="trl")

    assert answer.job.framework == "ms-swift"
    assert [item.text for item in answer.unread if item.source == "--framework"] == ["trl"]


def _likely(cause: str, note: str, framework: str) -> float:
    answer = api.diagnose(note=note, framework=framework)
    return next((c.probability for c in answer.causes if c.id == cause), 0.0)


def test_a_job_that_is_only_said_to_fail_is_no_likely_defect_of_the_release() -> None:
    defect = "defect-of-this-release"
    said = _likely(defect, "The job fails at start", "ms-swift")
    named = _likely(defect, "It stops with a KeyError in the collator", "ms-swift")
    hangs = _likely(defect, "It fails when loading and hangs at start", "verl")

    assert hangs < said < 0.5 < named


def test_the_names_of_another_framework_are_not_offered() -> None:
    note = "CUDA out of memory while the log-probabilities are computed"

    def names(framework: str) -> set[str]:
        answer = api.diagnose(note=note, framework=framework)
        return {c.param for cause in answer.causes for fix in cause.fixes for c in fix.changes}

    assert "policy.logprob_chunk_size" in names("nemo-rl") - names("verl") - names("slime")
    assert "--log-probs-chunk-size" in names("slime") - names("verl") - names("nemo-rl")
