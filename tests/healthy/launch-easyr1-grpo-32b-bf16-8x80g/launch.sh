set -x

python3 -m verl.trainer.main \
    config=config.yaml \
    worker.actor.model.model_path=Qwen/Qwen2.5-VL-32B-Instruct \
    worker.actor.fsdp.torch_dtype=bf16 \
    worker.actor.optim.strategy=adamw_bf16 \
    worker.rollout.tensor_parallel_size=8 \
    trainer.n_gpus_per_node=8
