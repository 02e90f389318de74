"""Launches of programs of one's own that look like a framework's, or share its names."""

from pathlib import Path

import pytest

import trainrx
from trainrx.model.inspection import Inspection


def read(folder: Path, **files: str) -> Inspection:
    (folder / ".git").mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return trainrx.inspect_launch(folder / "run.sh")


def known(job) -> dict[str, object]:
    return {
        item.canonical: item.value for item in (*job.facts, *job.settings) if item.value is not None
    }


def test_tasks_of_srun_over_those_of_a_node_are_its_nodes(tmp_path):
    script = "srun --gres=gpu:8 --ntasks=16 --ntasks-per-node=8 python train.py --zero_stage 1\n"

    job = read(tmp_path, run__sh=script).jobs[0]

    assert known(job)["hardware.gpus"] == 16
    assert known(job)["parallel.zero_stage"] == 1


def test_sizes_of_a_model_do_not_make_a_program_on_the_trainer_megatron(tmp_path):
    script = (
        "deepspeed train.py --model_name_or_path m/x --per_device_train_batch_size 1 "
        "--gradient_accumulation_steps 1 --hidden_size 4096 --num_layers 32 "
        "--num_attention_heads 32 --sequence_parallel --tokenizer_type hf\n"
    )

    job = read(tmp_path, run__sh=script).jobs[0]

    assert job.framework == "transformers"


DPO = """\
from {module} import DPOConfig, DPOTrainer
args = DPOConfig(output_dir="x", per_device_train_batch_size=2)
DPOTrainer(model="m/x", args=args).train()
"""


@pytest.mark.parametrize(
    ("module", "framework"), [("trl", "trl"), ("mine.trainer", None), ("mine", None)]
)
def test_classes_of_another_package_are_not_a_librarys(tmp_path, module, framework):
    program = DPO.format(module=module)

    job = read(tmp_path, run__sh="python train.py --x 1\n", train__py=program).jobs[0]

    assert (job.framework or None) == framework


def test_ranks_that_share_a_model_are_no_replicas(tmp_path):
    script = (
        "torchrun --nproc_per_node 8 train.py --tensor_model_parallel_size 2 "
        "--per_device_train_batch_size 1 --gradient_accumulation_steps 4\n"
    )

    job = read(tmp_path, run__sh=script).jobs[0]

    assert known(job)["batch.effective"] == 16


def test_a_module_of_ones_own_names_its_model(tmp_path):
    job = read(tmp_path, run__sh="python -m pkg.train.main --pretrain Qwen/Qwen2.5-1.5B\n").jobs[0]

    assert job.model == "Qwen/Qwen2.5-1.5B"


def test_words_that_may_be_hidden_leave_the_strategy_of_the_configuration(tmp_path):
    job = read(tmp_path, run__sh='python3 -m verl.trainer.main_ppo data.x=1 "$@"\n').jobs[0]

    assert known(job)["parallel.strategy"] == "fsdp"
    assert "sharding" not in str(known(job).get("launch.open_terms", ""))


def test_a_configuration_of_another_name_is_no_strategy(tmp_path):
    script = "python3 -m verl.trainer.main_ppo --config-name search_grpo\n"

    job = read(tmp_path, run__sh=script).jobs[0]

    assert known(job).get("parallel.strategy") != "search_grpo"


def test_a_beginning_of_an_option_of_torchrun_is_the_option(tmp_path):
    job = read(tmp_path, run__sh="torchrun --nnode $N --nproc_per_node 8 train.py\n").jobs[0]

    assert "hardware.gpus" not in known(job)
    assert "parallel.nodes" in {item.canonical for item in job.settings if not item.known}


def test_a_model_in_an_unknown_folder_keeps_its_name_behind_a_variable(tmp_path):
    script = "M=$HOME/models/Qwen3-14B-Base\npython3 -m verl.trainer.main_ppo "
    script += "actor_rollout_ref.model.path=$M\n"

    job = read(tmp_path, run__sh=script).jobs[0]

    assert job.model == "Qwen3-14B-Base"


def test_a_batch_by_another_name_leaves_the_default_out(tmp_path):
    script = "deepspeed train.py --gradient_accumulation_steps 4 --train_bsz_per_gpu 4\n"

    job = read(tmp_path, run__sh=script).jobs[0]

    assert "train.micro_batch" not in known(job)


def test_easyr1_shards_by_fsdp_whatever_its_file_says(tmp_path):
    script = "python3 -m verl.trainer.main config=c.yaml\n"

    job = read(tmp_path, run__sh=script, c__yaml="worker:\n  actor:\n    global_batch_size: 8\n")

    assert known(job.jobs[0])["parallel.strategy"] == "fsdp"


def test_a_reward_model_behind_an_address_nobody_knows_takes_no_cards(tmp_path):
    script = (
        "python3 -m openrlhf.cli.train_ppo_ray --pretrain m/x --ref_num_nodes 1 "
        "--ref_num_gpus_per_node 4 --critic_num_nodes 1 --critic_num_gpus_per_node 4 "
        "--actor_num_nodes 1 --actor_num_gpus_per_node 4 --vllm_num_engines 4 "
        "--vllm_tensor_parallel_size 1 --advantage_estimator gae --init_kl_coef 0.01 "
        "--remote_rm_url http://$MASTER_ADDR:5000/get_reward\n"
    )

    job = read(tmp_path, run__sh=script).jobs[0]

    assert known(job)["hardware.gpus"] == 16


PEFT = """\
import argparse
from peft import LoraConfig, get_peft_model
p = argparse.ArgumentParser()
p.add_argument("--model_name_or_path")
args = p.parse_args()
model = get_peft_model(load(args), LoraConfig(r=8))
"""


def test_a_program_without_a_configuration_keeps_what_its_command_says(tmp_path):
    script = "python train.py --model_name_or_path a/b --per_device_train_batch_size 8\n"

    job = read(tmp_path, run__sh=script, train__py=PEFT).jobs[0]

    assert job.model == "a/b"
    assert known(job)["train.micro_batch"] == 8


FORK = """\
import argparse
p = argparse.ArgumentParser()
p.add_argument("--pretrain", type=str)
p.add_argument("--samples_save_path", type=str)
"""


def test_what_the_copy_of_a_program_at_hand_declares_is_known(tmp_path):
    package = tmp_path / "openrlhf" / "cli"
    package.mkdir(parents=True)
    (package / "train_ppo_ray.py").write_text(FORK, encoding="utf-8")
    script = tmp_path / "run.sh"
    script.write_text(
        "python3 -m openrlhf.cli.train_ppo_ray --pretrain m/x --samples_save_path s --no_such 1\n",
        encoding="utf-8",
    )

    found = [item.message for item in trainrx.lint(script) if item.rule == "unknown-argument"]

    assert len(found) == 1
    assert "--no_such" in found[0]


def test_a_count_that_is_a_word_is_refused(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text(
        "NPROC_PER_NODE=two swift sft --model a/b --dataset x\n"
        "NPROC_PER_NODE=gpu swift sft --model a/b --dataset x\n"
        "torchrun --nproc_per_node=three --nnodes 1:2 train.py --model_name_or_path a/b\n",
        encoding="utf-8",
    )

    found = [(item.line, item.rule) for item in trainrx.lint(script) if item.severity == "error"]

    assert found == [(1, "wrong-type"), (3, "wrong-type")]


def test_mindspeed_rl_is_named_by_its_program_and_file(tmp_path):
    script = "python cli/train_grpo.py --config-name grpo_qwen25_7b_A3 | tee x.log\n"

    job = read(tmp_path, run__sh=script).jobs[0]

    assert (job.framework, job.command) == ("mindspeed-rl", "grpo")


def test_nobody_asks_what_a_job_printed_that_has_not_run(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text("swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset x\n", encoding="utf-8")

    asked = {ask.id for ask in trainrx.diagnose(script).asks}

    assert "log" not in asked


def test_a_comment_in_a_text_that_ends_in_a_backslash_breaks_nothing(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text(
        'bash -c "\ntorchrun train.py --model_name_or_path a/b\n'
        '# ssh x && \\\n#   cd y && \\\n#   --lr 1 \n"\n',
        encoding="utf-8",
    )

    assert [item.rule for item in trainrx.lint(script) if item.severity == "error"] == []


OLD = """\
from transformers import TrainingArguments, Trainer
args = TrainingArguments(
    output_dir="x", evaluation_strategy="steps", save_strategy="steps",
    eval_steps=10, save_steps=10, load_best_model_at_end=True, {more}
)
Trainer(model=m, args=args).train()
"""


def test_an_older_name_leaves_the_default_of_the_newer_one_out(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(OLD.format(more="processing_mode=1"), encoding="utf-8")

    rules = {item.rule for item in trainrx.lint(program) if item.severity == "error"}

    assert "hf-load-best-without-matching-evals" not in rules


@pytest.mark.parametrize(
    ("version", "severity"),
    [("3.0.3", "warning"), ("3.6.0", "warning"), ("3.8.3", "warning"), ("3.12.0", "error")],
)
def test_a_tuner_that_no_code_has_is_told_of_at_each_release(tmp_path, version, severity):
    script = tmp_path / "run.sh"
    start = "swift sft --model Qwen/Qwen2.5-7B-Instruct --dataset a --train_type"
    script.write_text(
        f"{start} lorra\n{start} qlora --external_plugins p.py\n{start} adalora\n",
        encoding="utf-8",
    )

    found = trainrx.lint(script, versions={"ms-swift": version})

    told = [(item.line, item.severity) for item in found if item.rule == "name-not-registered"]
    assert told == [(1, severity)]
