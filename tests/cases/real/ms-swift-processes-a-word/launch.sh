#!/bin/bash
NPROC_PER_NODE=two swift sft \
    --model ./tiny \
    --model_type qwen2_5 \
    --train_type lora \
    --dataset data.jsonl \
    --torch_dtype float32 \
    --per_device_train_batch_size 2 \
    --max_steps 5 \
    --logging_steps 1 \
    --output_dir out \
    --report_to none
