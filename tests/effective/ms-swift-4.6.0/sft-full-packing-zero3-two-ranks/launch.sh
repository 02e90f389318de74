#!/bin/bash
export NPROC_PER_NODE=2
swift sft \
    --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --tuner_type full \
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
