#!/bin/bash
swift rlhf --rlhf_type orpo --model ./tiny --model_type qwen2_5 --template qwen2_5 --torch_dtype float32 \
    --dataset data.jsonl --beta 0.3 --save_steps 200 --logging_dir logs
