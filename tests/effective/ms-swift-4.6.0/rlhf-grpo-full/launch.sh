#!/bin/bash
export NPROC_PER_NODE=2
swift rlhf --rlhf_type grpo --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --tuner_type full --dataset data.jsonl --reward_funcs accuracy format --num_generations 4 \
    --per_device_train_batch_size 2 --max_completion_length 1024 --deepspeed zero3 \
    --temperature 1.0 --gradient_accumulation_steps 4 --log_completions true
