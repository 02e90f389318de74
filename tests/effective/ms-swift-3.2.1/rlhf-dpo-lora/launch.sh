#!/bin/bash
swift rlhf --rlhf_type dpo --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --train_type lora --dataset data.jsonl --rpo_alpha 0.1 --max_length 1024 --evaluation_strategy epoch
