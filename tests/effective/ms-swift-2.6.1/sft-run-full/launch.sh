#!/bin/bash
swift sft --model_type qwen2_5-7b-instruct --model_id_or_path ./tiny --sft_type full --dtype fp32 \
    --dataset data.jsonl --val_dataset val.jsonl --max_steps 2 --batch_size 2 --learning_rate 3e-4
