#!/bin/bash
CUDA_VISIBLE_DEVICES=0 \
swift sft \
    --model_type qwen2_5-0_5b-instruct \
    --model_id_or_path tiny \
    --dataset data.jsonl \
    --sft_type lora \
    --dtype fp32 \
    --batch_size 2 \
    --eval_batch_size 2 \
    --gradient_accumulation_steps 8 \
    --max_length 1024 \
    --lora_rank 8 \
    --lora_alpha 32 \
    --lora_target_modules ALL \
    --learning_rate 1e-4 \
    --max_steps 2 \
    --eval_steps 2 \
    --save_steps 2 \
    --output_dir out
