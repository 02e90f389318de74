#!/bin/bash
swift sft --model_type qwen2_5-7b-instruct --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --dataset data.jsonl --streaming true --max_steps 500 --dtype bf16 --eval_steps 100 --lazy_tokenize true
