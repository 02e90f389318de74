#!/bin/bash
swift sft --model_type=qwen2_5-7b-instruct --model-id-or-path Qwen/Qwen2.5-7B-Instruct --sft-type lora \
    --dataset data.jsonl --gradient_acc 4 --lora_rank 16 --lora_target_m q_proj v_proj --gradient_checkpointing false \
    --add_output false --output_dir out/abbreviated --dtype bf16 --seed 1 --dataset_test 0.05 --use_dora
