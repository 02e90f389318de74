#!/bin/bash
swift rlhf --rlhf_type=kto --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --tuner_type full --dataset data.jsonl --beta 0.2 --desirable_weight 2 --deepspeed zero1 --loss_scale all
