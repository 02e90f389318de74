#!/bin/bash
swift sft \
    --model_type qwen2_5-7b-instruct \
    --model_id_or_path /data/models/tiny-qwen2.5 \
    --sft_type lora \
    --dataset data.jsonl \
    --dtype fp32 \
    --batch_size 2 \
    --max_steps 2 \
    --logging_steps 1 \
    --output_dir out \
    --report_to none \
    --max_length 256 \
    --lora_target_modules all-linear
