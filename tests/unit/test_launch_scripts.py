"""Launches put together from a script and the files around it."""

from __future__ import annotations

from trainrx import diagnose, inspect_launch


def job(folder, script, **files):
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    path = folder / "launch.sh"
    path.write_text(script, encoding="utf-8")
    (found,) = inspect_launch(path, versions={"ms-swift": "3.2.1", "llamafactory": "0.9.3"}).jobs
    return found


def value(found, name):
    items = (*found.arguments, *found.env, *found.settings)
    return next(item for item in items if item.name == name)


def test_what_a_sourced_file_sets_is_cited_where_it_stands(tmp_path):
    found = job(
        tmp_path,
        "source ./env.sh\nswift sft --model $MODEL\n",
        env__sh="# shared\nexport MAX_PIXELS=602112\nMODEL=Qwen/Qwen2-VL-7B-Instruct\n",
    )

    pixels = value(found, "MAX_PIXELS")
    assert (pixels.value, pixels.origins[0].source, pixels.origins[0].line) == (
        "602112",
        "./env.sh",
        2,
    )
    assert value(found, "model").value == "Qwen/Qwen2-VL-7B-Instruct"


def test_no_file_outside_the_folder_of_the_script_is_read(tmp_path):
    (tmp_path / "secret.sh").write_text("export MAX_PIXELS=1\n", encoding="utf-8")
    inner = tmp_path / "jobs"
    inner.mkdir()

    found = job(inner, f"source ../secret.sh\nsource {tmp_path}/secret.sh\nswift sft --model m\n")

    assert not any(item.name == "MAX_PIXELS" for item in found.env)


def test_slurm_sets_what_the_script_asks_for(tmp_path):
    found = job(
        tmp_path,
        "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:a100:8\n"
        "export NNODES=$SLURM_NNODES NPROC_PER_NODE=$SLURM_GPUS_ON_NODE\nswift sft --model m\n",
    )

    assert value(found, "NNODES").value == "2"
    assert value(found, "NPROC_PER_NODE").value == "8"


def test_slurm_counts_tasks_of_all_nodes_and_cards_of_a_type(tmp_path):
    found = job(
        tmp_path,
        "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --ntasks-per-node=8\n#SBATCH --gpus-per-node=a100:8\n"
        "export TOTAL=$SLURM_NTASKS NPROC_PER_NODE=$SLURM_GPUS_ON_NODE\nswift sft --model m\n",
    )

    assert (value(found, "TOTAL").value, value(found, "NPROC_PER_NODE").value) == ("16", "8")


def test_a_range_of_nodes_tells_no_number(tmp_path):
    found = job(tmp_path, "#SBATCH --nodes=2-4\nexport NNODES=$SLURM_NNODES\nswift sft --model m\n")

    assert not value(found, "NNODES").known


def test_a_config_the_script_writes_is_read_with_what_is_known_of_it(tmp_path):
    found = job(
        tmp_path,
        "cat > train.yaml <<EOF\nstage: sft\nfinetuning_type: full\ncutoff_len: $LENGTH\n"
        "per_device_train_batch_size: ${BS:-3}\nEOF\nllamafactory-cli train train.yaml\n",
    )

    assert value(found, "per_device_train_batch_size").value == 3
    assert value(found, "finetuning_type").origins[0].line == 3
    assert not value(found, "cutoff_len").known


TWO = "swift sft --model a --lora_rank 8\nswift sft --model b --lora_rank 16 --learning_rate 2e-4\n"
PRINTED = "[INFO:swift] args: TrainArguments(model='b', lora_rank=16, max_length=4096, seed=7)\n"


def test_of_several_launches_the_one_the_log_shows_is_judged(tmp_path):
    script, log = tmp_path / "launch.sh", tmp_path / "train.log"
    script.write_text(TWO, encoding="utf-8")
    log.write_text(PRINTED, encoding="utf-8")

    alone = diagnose(cmd=script, versions={"ms-swift": "3.2.1"})
    with_log = diagnose(cmd=script, logs=[log], versions={"ms-swift": "3.2.1"})

    assert (alone.job.model, with_log.job.model) == ("a", "b")
    assert with_log.facts["train.max_length"] == 4096
    assert [item.line for item in with_log.unread if "further training" in item.reason] == [1]


def test_a_log_alone_tells_the_launch_by_the_arguments_it_prints(tmp_path):
    log = tmp_path / "train.log"
    log.write_text(PRINTED, encoding="utf-8")

    found = diagnose(logs=[log])

    assert (found.job.framework, found.job.model) == ("ms-swift", "b")
    assert found.facts["tuner.rank"] == 16
