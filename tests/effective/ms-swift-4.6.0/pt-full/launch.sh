#!/bin/bash
NPROC_PER_NODE=2 swift pt --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --tuner_type full --dataset data.jsonl --max_length 8192 --deepspeed zero2 --streaming --max_steps 20 \
    --weight_decay 0.01 --adam_beta2 0.98 --max_grad_norm 0.5 --ddp_timeout 7200 --save_only_model true
