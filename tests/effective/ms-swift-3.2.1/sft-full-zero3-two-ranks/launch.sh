#!/bin/bash
export NPROC_PER_NODE=2
export MASTER_PORT=29600
swift sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --model_type qwen2_5 --template qwen2_5 \
    --train_type full \
    --dataset data.jsonl \
    --val_dataset val.jsonl \
    --per_device_train_batch_size 2 \
    --per_device_eval_batch_size=4 \
    --deepspeed zero3 \
    --packing true \
    --attn_impl flash_attn \
    --save_strategy epoch \
    --num_train_epochs 2 \
    --report_to none
