#!/bin/bash
MAX_PIXELS=602112 swift sft --model_type qwen2-vl-7b-instruct --model_id_or_path Qwen/Qwen2-VL-7B-Instruct \
    --sft_type lora --dataset data.jsonl --dtype bf16 --freeze_vit true --batch_size 2 --deepspeed default-zero2
