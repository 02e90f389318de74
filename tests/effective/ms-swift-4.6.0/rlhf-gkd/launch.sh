#!/bin/bash
swift rlhf --rlhf_type gkd --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --teacher_model Qwen/Qwen3-8B --dataset data.jsonl --tuner_type lora --lmbda 0.3
