#!/bin/bash
swift rlhf --rlhf_type=kto --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --train_type full --dataset data.jsonl --beta 0.2 --desirable_weight 2 --deepspeed zero1 --loss_scale all
