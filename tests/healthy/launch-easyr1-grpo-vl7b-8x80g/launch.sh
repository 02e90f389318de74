set -x

MODEL_PATH=Qwen/Qwen2.5-VL-7B-Instruct

python3 -m verl.trainer.main \
    config=config.yaml \
    data.train_files=some/geometry@train \
    data.val_files=some/geometry@test \
    worker.actor.model.model_path=${MODEL_PATH} \
    trainer.experiment_name=vl7b \
    trainer.n_gpus_per_node=8
