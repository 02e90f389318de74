#!/bin/bash
NPROC_PER_NODE=2 swift pt --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --train_type full --dataset data.jsonl --max_length 8192 --deepspeed zero2 --streaming --max_steps 20 \
    --weight_decay 0.01 --adam_beta2 0.95 --max_grad_norm 0.5 --ddp_timeout 7200 --save_only_model true
