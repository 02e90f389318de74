#!/bin/bash
export NPROC_PER_NODE=2
swift rlhf --rlhf_type grpo --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --tuner_type lora --dataset data.jsonl --reward_funcs accuracy --num_generations 4 \
    --per_device_train_batch_size 1 --steps_per_generation 4 --beta 0.01 --num_iterations 2 \
    --use_vllm true --vllm_mode colocate --vllm_gpu_memory_utilization 0.4 --sleep_level 1 \
    --offload_optimizer true --loss_type dapo
