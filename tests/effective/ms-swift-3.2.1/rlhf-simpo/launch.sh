#!/bin/bash
swift rlhf --rlhf_type simpo --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --dataset data.jsonl --simpo_gamma 1.2 --cpo_alpha 0 --use_dora true --freeze_parameters_ratio 0.1
