"""EasyR1 from launch to fix: its batches, the memory of its phases, edits, checks of lint."""

from __future__ import annotations

import pytest

from trainrx import estimate, fix_launch, inspect_launch, lint
from trainrx.render.inspect_rows import value_text
from unit.test_frameworks_easyr1 import CONFIG, LAUNCH

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
OOM += " capacity of 39.39 GiB of which 1.59 GiB is free.\n"
BARE = (
    "python3 -m verl.trainer.main data.train_files=a worker.actor.model.model_path=Qwen/Qwen2.5-7B"
)


def job(tmp_path, launch: str = LAUNCH, config: str = CONFIG):
    (tmp_path / "examples").mkdir()
    script = tmp_path / "examples" / "run.sh"
    script.write_text(launch, encoding="utf-8")
    (tmp_path / "examples" / "config.yaml").write_text(config, encoding="utf-8")
    return script


def test_an_update_takes_prompts_with_all_their_completions(tmp_path) -> None:
    shown = inspect_launch(job(tmp_path)).jobs[0]

    facts = {item.name: item.value for item in shown.facts}
    assert (shown.framework, shown.task) == ("easyr1", "grpo")
    assert facts["batch.effective"] == 128 * 5
    assert facts["batch.generation"] == 512 * 5
    assert facts["role.reference"] is True


@pytest.mark.parametrize("config", [CONFIG, CONFIG.replace("  disable_kl: false\n", "")])
def test_a_name_that_says_the_opposite_is_shown_as_written(tmp_path, config: str) -> None:
    shown = inspect_launch(job(tmp_path, config=config)).jobs[0]

    item = next(item for item in shown.settings if item.name == "algorithm.disable_kl")
    assert (item.value, value_text(item, "en")) == (True, "false")


def test_what_is_offloaded_between_turns_is_there_while_it_trains(tmp_path) -> None:
    script = job(tmp_path)
    kept = script.with_name("kept.sh")
    kept.write_text(
        LAUNCH.rstrip() + " worker.actor.offload.offload_optimizer=false"
        " worker.actor.offload.offload_params=false\n",
        encoding="utf-8",
    )

    away, there = (estimate(path, gpu="H100") for path in (script, kept))

    def phase(answer, name: str) -> float:
        return next(item.gib for item in answer.phases if item.phase == name)

    assert phase(away, "backward") == pytest.approx(phase(there, "backward"))
    assert phase(away, "rollout") < phase(there, "rollout")


def test_a_fix_is_proved_and_written_where_the_value_stands(tmp_path) -> None:
    big = LAUNCH.rstrip() + " worker.actor.micro_batch_size_per_device_for_update=8\n"
    script, log = (
        job(tmp_path, big.replace("n_gpus_per_node=4", "n_gpus_per_node=8")),
        tmp_path / "t.log",
    )
    log.write_text(OOM, encoding="utf-8")

    answer = fix_launch(cmd=script, logs=[log], gpu="A100-40G")

    plan = next(item for item in answer.proposals if item.kind == "plan")
    assert answer.job.framework == "easyr1"
    assert plan.predicted.after_gib <= plan.predicted.limit_gib
    names = {change.param for change in plan.changes}
    assert names
    assert all(name.startswith(("worker.", "data.", "algorithm.")) for name in names)
    after = "".join(file.after for file in plan.patched.files)
    assert "micro_batch_size_per_device_for_update=8" not in after


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ("worker.rollout.n=1", "easyr1-group-of-one"),
        (
            "worker.rollout.n=5 data.rollout_batch_size=100",
            "easyr1-rollout-not-multiple-of-mini-batch",
        ),
        (
            "worker.rollout.n=4 worker.actor.micro_batch_size_per_device_for_update=3",
            "easyr1-mini-batch-not-multiple-of-micro",
        ),
        (
            "worker.rollout.n=5 worker.rollout.tensor_parallel_size=3",
            "easyr1-engine-parts-do-not-divide-gpus",
        ),
        ("worker.rollout.n=5 data.max_response_length=9000", "easyr1-batched-tokens-below-lengths"),
    ],
)
def test_lint_says_what_the_program_would_refuse(tmp_path, more: str, rule: str) -> None:
    (tmp_path / "run.sh").write_text(f"{BARE} {more}\n", encoding="utf-8")

    found = {item.rule for item in lint([tmp_path / "run.sh"], versions={"easyr1": "0.3.2"})}

    assert rule in found


def test_without_its_file_nothing_is_foretold(tmp_path) -> None:
    script = job(tmp_path)
    (tmp_path / "examples" / "config.yaml").unlink()

    answer = estimate(script, gpu="A100-40G")

    assert answer.refusal is not None
    assert answer.refusal.id == "length-unknown"
    assert any("examples/config.yaml is not at hand" in item.reason for item in answer.unread)


def test_a_launch_that_runs_has_no_findings(tmp_path) -> None:
    script = job(tmp_path)

    assert not [item for item in lint([script]) if item.severity != "info"]
