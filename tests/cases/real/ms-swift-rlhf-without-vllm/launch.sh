#!/bin/bash
swift rlhf \
    --model /data/models/tiny-qwen2.5 \
    --model_type qwen2_5 \
    --train_type lora \
    --dataset dpo.jsonl \
    --torch_dtype float32 \
    --per_device_train_batch_size 2 \
    --max_steps 2 \
    --logging_steps 1 \
    --output_dir out \
    --report_to none \
    --max_length 256 \
    --rlhf_type simopo
