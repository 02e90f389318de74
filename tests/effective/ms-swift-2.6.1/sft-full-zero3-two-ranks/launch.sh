#!/bin/bash
NPROC_PER_NODE=2 swift sft --model_type qwen2_5-7b-instruct --model_id_or_path Qwen/Qwen2.5-7B-Instruct \
    --sft_type full --dataset data.jsonl --val_dataset val.jsonl --batch_size 2 --deepspeed default-zero3 \
    --dtype bf16 --use_flash_attn true --save_steps 200 --weight_decay 0 --preprocess_num_proc 4
