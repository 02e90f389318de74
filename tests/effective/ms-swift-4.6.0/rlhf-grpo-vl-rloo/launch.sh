#!/bin/bash
NPROC_PER_NODE=2 swift rlhf --rlhf_type grpo --model Qwen/Qwen2-VL-7B-Instruct --model_type qwen2_vl --template qwen2_vl \
    --tuner_type full --freeze_vit true --freeze_aligner true --dataset data.jsonl --reward_funcs soft_overlong accuracy \
    --soft_cache_length 64 --advantage_estimator rloo --generation_batch_size 16 --num_generations 8 --beta 0 \
    --per_device_train_batch_size 4 --per_device_eval_batch_size 8 --split_dataset_ratio 0.1 --dynamic_sample true --truncation_strategy delete
