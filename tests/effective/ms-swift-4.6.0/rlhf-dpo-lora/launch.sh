#!/bin/bash
swift rlhf --rlhf_type dpo --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --tuner_type lora --dataset data.jsonl --rpo_alpha 0.1 --max_length 1024 --split_dataset_ratio 0.02 --eval_strategy epoch
