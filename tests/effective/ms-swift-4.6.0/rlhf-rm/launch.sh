#!/bin/bash
swift rlhf --rlhf_type rm --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --dataset data.jsonl --tuner_type lora --eval_strategy epoch --save_strategy epoch --val_dataset val.jsonl
