#!/bin/bash
swift rlhf --rlhf_type dpo --model_type qwen2_5-7b-instruct --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --sft_type lora --dataset data.jsonl --dtype bf16 --rpo_alpha 0.5 --max_length 1024
