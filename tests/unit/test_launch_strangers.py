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
