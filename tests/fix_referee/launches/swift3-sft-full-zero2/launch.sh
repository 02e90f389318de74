#!/usr/bin/env bash
set -e
export CUDA_VISIBLE_DEVICES=0,1
export NPROC_PER_NODE=2

# 4 x 4 x 2 = 32
swift sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --train_type full \
    --dataset data.jsonl \
    --torch_dtype bfloat16 \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 4 \
    --max_length 4096 \
    --deepspeed zero2 \
    --output_dir output
