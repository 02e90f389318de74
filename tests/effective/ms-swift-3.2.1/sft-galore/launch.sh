#!/bin/bash
NPROC_PER_NODE=2 NNODES=1 swift sft --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 --train_type full \
    --dataset data.jsonl --use_galore true --predict_with_generate true --save_strategy no --torch_dtype float16 \
    --lr_scheduler_kwargs '{"num_cycles": 3}' --loss_scale last_round --use_hf true --columns '{"a": "query"}' --init_weights false
