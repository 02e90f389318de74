#!/bin/bash
# two cards, all parameters
export CUDA_VISIBLE_DEVICES=0,1
export NPROC_PER_NODE=2
swift sft --model_type qwen2_5-7b-instruct --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --sft_type full --dataset data.jsonl --dtype bf16 \
    --batch_size 2 --gradient_accumulation_steps 8 \
    --max_length 4096 --learning_rate 1e-5 \
    --deepspeed default-zero2 --output_dir output
