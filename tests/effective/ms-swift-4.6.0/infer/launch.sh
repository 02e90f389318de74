#!/bin/bash
swift infer --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --infer_backend transformers --stream true --max_new_tokens 512 --temperature 0 --val_dataset val.jsonl --max_batch_size 8
