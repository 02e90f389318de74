#!/bin/bash
swift rlhf --rlhf_type simpo --model_type qwen2_5-7b-instruct --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --sft_type full --dataset data.jsonl --dtype bf16 --learning_rate 5e-7
