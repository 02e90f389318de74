#!/bin/bash
swift sft \
    --model /data/models/tiny-qwen2.5 \
    --model_type qwen2_5 \
    --train_type lora \
    --dataset train.jsonl \
    --torch_dtype float32 \
    --per_device_train_batch_size 2 \
    --learning_rate 1e-4 \
    --max_length 512 \
    --max_steps 4 \
    --logging_steps 1 \
    --output_dir output \
    --report_to wandb
