#!/bin/bash
MODEL="Qwen/Qwen2.5-14B-Instruct"
MAX_LENGTH=4096
ARGS=(
    --model "$MODEL"
    --train_type lora
    --dataset data.jsonl
    --torch_dtype bfloat16
    --per_device_train_batch_size 2
    --gradient_accumulation_steps 8   # of 2 cards
    --max_length $MAX_LENGTH
    --deepspeed zero2
    --output_dir output
)
CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 swift sft "${ARGS[@]}"
