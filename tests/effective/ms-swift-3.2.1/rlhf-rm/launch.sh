#!/bin/bash
swift rlhf --rlhf_type rm --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --dataset data.jsonl --train_type lora --eval_strategy epoch --save_strategy epoch
