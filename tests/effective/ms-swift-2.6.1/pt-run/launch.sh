#!/bin/bash
swift pt --model_type qwen2_5-7b --model_id_or_path ./tiny --sft_type full --dtype fp32 \
    --dataset data.jsonl --max_steps 1 --max_length 64 --output_dir out --lazy_tokenize false
