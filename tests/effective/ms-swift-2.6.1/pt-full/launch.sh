#!/bin/bash
swift pt --model_type qwen2_5-7b --model_id_or_path Qwen/Qwen2.5-7B-Instruct --sft_type full \
    --dataset data.jsonl --dtype bf16 --max_length -1 --eval_batch_size 4
