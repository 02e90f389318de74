#!/bin/bash
swift sft --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --dataset data.jsonl --streaming true --max_steps 1000 --split_dataset_ratio 0.01 \
    --bf16 true --learning_rate 5e-5 --lr_scheduler_type constant_with_warmup --dataloader_num_workers 8
