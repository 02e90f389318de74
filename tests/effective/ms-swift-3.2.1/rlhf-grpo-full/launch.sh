#!/bin/bash
export NPROC_PER_NODE=2
swift rlhf --rlhf_type grpo --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --train_type full --dataset data.jsonl --reward_funcs accuracy format --num_generations 2 \
    --per_device_train_batch_size 1 --max_completion_length 1024 --deepspeed zero3 \
    --temperature 1.0 --beta 0.001 --async_generate false --sleep_level 1 --log_completions true
