#!/usr/bin/env bash
set -e
CUDA_VISIBLE_DEVICES= \
swift sft \
    --model ./model \
    --model_type qwen2 --template qwen2_5 \
    --tuner_type lora \
    --torch_dtype float32 \
    --dataset reports.jsonl \
    --max_length 64 \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 4 \
    --learning_rate 1e-4 \
    --max_steps 2 \
    --logging_steps 1 \
    --output_dir output
