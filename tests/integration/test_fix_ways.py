"""`diagnose fix`: what plans rest on and take along, and what is said where none is enough."""

from __future__ import annotations

import json

import pytest

from trainrx.cli import main

SEEN = ("--note", "CUDA out of memory")
LORA = """\
torchrun --nproc_per_node 4 src/train.py --stage sft --do_train --finetuning_type lora \\
    --model_name_or_path Qwen/Qwen1.5-14B-Chat --dataset d --template qwen --cutoff_len 2048 \\
    --per_device_train_batch_size 1 --gradient_accumulation_steps 2 --bf16 true --output_dir out
"""
ZERO3 = "examples/deepspeed/ds_z3_config.json"
OLD = """\
accelerate launch --num_processes 8 src/train_bash.py --stage {stage} --do_train --bf16 \\
    --model_name_or_path meta-llama/Llama-2-7b-hf --dataset d --template default --output_dir out \\
    --finetuning_type full --max_source_length 1024 --max_target_length 1024 \\
    --per_device_train_batch_size 4 --gradient_accumulation_steps 4
"""
DEEPSPEED = """\
torchrun --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen2.5-7B --bf16 true \\
    --gradient_checkpointing true --per_device_train_batch_size 8 --output_dir out \\
    --gradient_accumulation_steps 2 --deepspeed ds.json
"""
NUMBERS = {
    "train_micro_batch_size_per_gpu": 8,
    "gradient_accumulation_steps": 2,
    "zero_optimization": {"stage": 3},
}
MEGATRON = """\
NPROC_PER_NODE=8 megatron sft --load Qwen2.5-14B-mcore --model Qwen/Qwen2.5-14B-Instruct \\
    --dataset d.jsonl --tensor_model_parallel_size 4 --micro_batch_size 4 --global_batch_size 16 \\
    --packing true --max_length 8192 --save out
"""
PPO = """\
python src/train_ppo.py --model_name_or_path huggyllama/llama-7b --do_train --dataset d \\
    --finetuning_type lora --quantization_bit 4 --reward_model rm --output_dir out \\
    --per_device_train_batch_size 1
"""
SMALL = """\
CUDA_VISIBLE_DEVICES=0 swift sft --model Qwen/Qwen2.5-3B-Instruct --train_type full \\
    --dataset d.jsonl --max_length 4096 --per_device_train_batch_size 4 --torch_dtype bfloat16
"""


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def asked(text, *words):
        (tmp_path / "launch.sh").write_text(text, encoding="utf-8")
        main(["fix", "launch.sh", *SEEN, *words, "--format", "json"])
        return json.loads(capsys.readouterr().out)

    return asked


def plans(answer):
    return {item["id"]: item for item in answer["proposals"] if item["kind"] == "plan"}


def canonicals(item):
    return {change["canonical"] for change in item["changes"]}


def test_another_way_goes_without_what_the_others_rest_on(ask):
    found = plans(ask(LORA, "--gpu", "32GiB", "--gpus", "4", "--versions", "llamafactory==0.9.3"))

    other = found.pop("another-way")
    assert found
    assert all("parallel.deepspeed" in canonicals(item) for item in found.values())
    assert "parallel.deepspeed" not in canonicals(other)


def test_where_nothing_is_enough_what_frees_most_is_given_with_what_would_be(ask):
    found = ask(PPO, "--gpu", "6GiB", "--gpus", "1")

    why, (plan,) = found["no_plan"], found["proposals"]
    size = int(dict(why["values"])["size"])
    assert why["id"] == "no-plan-nearest-size"
    assert "--max_target_length 256" in why["reason"]
    assert f"{size} GiB" in why["reason"]
    assert (found["verdict"], plan["id"]) == ("not-enough", "frees-most")
    assert plan["predicted"]["after_gib"] > plan["predicted"]["limit_gib"]
    (short,) = plan["refused"]
    assert f"{size} GiB" in short["title"]
    enough = ask(PPO, "--gpu", f"{size}GiB", "--gpus", "1")
    assert enough["verdict"] != "not-enough"


def test_more_cards_are_enough_only_where_they_share_what_is_too_much(ask):
    whole = LORA.replace("type lora", "type full").replace("14B", "4B")
    pinned = "finetuning_type,deepspeed,fsdp,optim,pure_bf16"

    given = ("--gpu", "24GiB", "--gpus", "4", "--keep", pinned)

    alone = ask(whole, *given)["no_plan"]
    sharded = whole.replace("4B", "14B").rstrip() + f" --deepspeed {ZERO3}\n"
    shared = ask(sharded, *given)["no_plan"]

    assert "size" in dict(alone["values"])
    assert "cards" not in dict(alone["values"])
    assert int(dict(shared["values"])["cards"]) > 8


def test_what_just_fits_is_offered_where_nothing_leaves_a_margin(ask, tmp_path):
    (tmp_path / "train.log").write_text(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB (GPU 0; "
        "15.78 GiB total capacity; 14.03 GiB already allocated; 5.69 MiB free; 14.72 GiB reserved "
        "in total by PyTorch)\n",
        encoding="utf-8",
    )
    two = PPO.replace("--per_device_train_batch_size 1", "--per_device_train_batch_size 2")

    plans = ask(two, "--log", "train.log", "--gpu", "16GiB", "--gpus", "1")["proposals"]

    assert any("margin" in note for note in plans[0]["notes"])
    for plan in plans:
        seen = plan["predicted"]
        assert 0.92 * seen["limit_gib"] < seen["after_gib"] <= seen["limit_gib"]


@pytest.mark.parametrize("stage", ["sft", "dpo"])
def test_the_first_llama_factory_keeps_its_own_words(ask, stage):
    answer = ask(OLD.format(stage=stage), "--gpu", "A100-80G", "--gpus", "8")

    assert answer["job"]["framework_version"] == "<0.2"
    changed = {change["param"] for item in answer["proposals"] for change in item["changes"]}
    assert changed
    assert "cutoff_len" not in changed
    assert not any(
        change["action"] == "remove" for i in answer["proposals"] for change in i["changes"]
    )


def test_numbers_of_a_deepspeed_file_are_left_to_the_trainer(ask, tmp_path):
    (tmp_path / "ds.json").write_text(json.dumps(NUMBERS, indent=2), encoding="utf-8")

    first = ask(DEEPSPEED, "--config", "ds.json", "--gpu", "A100-80G", "--gpus", "8")["proposals"][
        0
    ]

    assert "train.micro_batch" in canonicals(first)
    assert '+  "train_micro_batch_size_per_gpu": "auto"' in first["diff"]
    assert '+  "gradient_accumulation_steps": "auto"' in first["diff"]


def test_full_recomputation_comes_with_its_method_and_layers(ask):
    words = ("--gpu", "48GiB", "--gpus", "8", "--versions", "ms-swift==3.8.0")
    edits = [item["changes"] for item in ask(MEGATRON, *words)["proposals"]]

    full = [made for made in edits if any(c["param"] == "recompute_granularity" for c in made)]
    assert full
    for made in full:
        names = [change["param"] for change in made]
        assert {"recompute_method", "recompute_num_layers"} <= {*names}
        assert len(names) == len({*names})


def test_adapters_do_not_go_before_plans_that_train_all_weights(ask):
    words = ("--gpu", "48GiB", "--gpus", "1", "--versions", "ms-swift==3.6.0")
    first = ask(SMALL, *words)["proposals"][0]

    assert "tuner.type" not in canonicals(first)
    assert first["safety"] == "safe"


def test_a_script_with_the_arguments_of_grpo_is_one_on_trl(ask):
    text = (
        "accelerate launch --num_processes 8 my_grpo.py --model_name_or_path Qwen/Qwen2.5-7B "
        "--use_vllm true --vllm_mode colocate --num_generations 8 --max_completion_length 4096 "
        "--per_device_train_batch_size 8 --bf16 --gradient_checkpointing --output_dir out\n"
    )
    words = ("--gpu", "A100-80G", "--gpus", "8", "--versions", "trl==0.19.0,transformers==4.52.4")
    answer = ask(text, *words)

    assert (answer["job"]["framework"], answer["job"]["task"]) == ("trl", "grpo")
    changed = {change["param"] for item in answer["proposals"] for change in item["changes"]}
    assert "use_liger_kernel" not in changed
