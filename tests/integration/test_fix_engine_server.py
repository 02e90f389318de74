"""`diagnose fix` where the engine gets cards of its own, and where a change needs a package."""

from __future__ import annotations

import json

import pytest

from trainrx.cli import main

TRL = """\
accelerate launch --num_processes 4 -m trl.scripts.grpo \\
  --model_name_or_path Qwen/Qwen2.5-7B-Instruct --dataset_name trl-lib/tldr \\
  --per_device_train_batch_size 8 --gradient_accumulation_steps 2 --num_generations 8 \\
  --max_completion_length 2048 --use_vllm True --vllm_mode colocate \\
  --vllm_gpu_memory_utilization 0.6 --bf16 True
"""
KEPT = ("--keep", "vllm_gpu_memory_utilization,deepspeed")


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def asked(*words, versions="trl==0.19.0\n"):
        (tmp_path / "launch.sh").write_text(TRL, encoding="utf-8")
        (tmp_path / "versions.txt").write_text(versions, encoding="utf-8")
        given = ("--versions", "versions.txt", "--gpu", "A100-80G", "--gpus", "4")
        main(["fix", "launch.sh", *given, *words])
        return capsys.readouterr().out

    return asked


def proposals(text):
    return json.loads(text)["proposals"]


def spelled(plan):
    return [change["spelled"] for change in plan["changes"]]


def test_the_server_takes_the_cards_the_training_leaves(ask):
    plans = proposals(ask(*KEPT, "--format", "json"))
    apart = [plan for plan in plans if "--vllm_mode server" in spelled(plan)]

    assert apart
    for plan in apart:
        assert "--num_processes 2" in spelled(plan)
        assert plan["commands"] == [
            (
                "CUDA_VISIBLE_DEVICES=2,3 trl vllm-serve "
                "--model Qwen/Qwen2.5-7B-Instruct --tensor_parallel_size 2"
            )
        ]
        assert "CUDA_VISIBLE_DEVICES=0,1" in spelled(plan)
        assert "accelerate launch --num_processes 2" in plan["diff"]
        assert plan["batch"]["before"] == plan["batch"]["after"]


def test_a_second_program_is_not_asked_for_where_a_plan_does_without(ask):
    plans = proposals(ask("--format", "json"))

    assert plans
    assert all(plan["commands"] == [] for plan in plans)


@pytest.mark.parametrize(("lang", "said"), [("en", "shell of its own"), ("zh", "另一个终端")])
def test_the_command_is_shown_whole_and_what_to_do_with_it(ask, lang, said):
    plans = proposals(ask(*KEPT, "--format", "json"))
    number = next(p["number"] for p in plans if "--vllm_mode server" in spelled(p))
    shown = ask(*KEPT, "--plan", str(number), "--lang", lang)
    markdown = ask(*KEPT, "--plan", str(number), "--lang", lang, "--format", "markdown")

    assert said in shown
    assert any(line.endswith("--tensor_parallel_size 2") for line in shown.splitlines())
    assert "trl vllm-serve" in markdown


def test_a_package_a_change_needs_is_named_in_the_range_of_the_release(ask):
    plans = proposals(ask("--format", "json"))
    needs = {need["package"]: need["command"] for plan in plans for need in plan["needs"]}

    assert needs["liger-kernel"] == 'pip install "liger-kernel>=0.5.9"'
    assert needs["deepspeed"] == 'pip install "deepspeed>=0.14.4"'
    for plan in plans:
        asks = {need["package"] for need in plan["needs"]}
        assert ("deepspeed" in asks) is any("--deepspeed" in text for text in spelled(plan))


@pytest.mark.parametrize(("lang", "said"), [("en", "if it is not installed"), ("zh", "若未安装")])
def test_the_line_for_it_is_shown(ask, lang, said):
    shown = ask("--lang", lang)

    assert any("pip install" in line and said in line for line in shown.splitlines())


def test_a_package_that_is_listed_is_not_named(ask):
    listed = "trl==0.19.0\nliger_kernel==0.5.10\ndeepspeed==0.16.4\nvllm==0.8.5\n"
    plans = proposals(ask("--format", "json", versions=listed))

    assert plans
    named = {need["package"] for plan in plans for need in plan["needs"]}
    assert named.isdisjoint({"liger-kernel", "deepspeed", "vllm"})
