#!/bin/bash
swift rlhf --rlhf_type simpo --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --dataset data.jsonl --simpo_gamma 1.2 --cpo_alpha 0 --use_dora true --freeze_parameters_ratio 0.1
