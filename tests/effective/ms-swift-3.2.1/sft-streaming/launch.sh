#!/bin/bash
swift sft --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --dataset data.jsonl --streaming true --lazy_tokenize true --max_steps 1000 \
    --eval_strategy steps --bf16 true --learning_rate 5e-5 --lr_scheduler_type constant_with_warmup
