#!/bin/bash
swift infer --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --infer_backend pt --stream true --max_new_tokens 512 --temperature 0 --val_dataset val.jsonl --max_batch_size 8
