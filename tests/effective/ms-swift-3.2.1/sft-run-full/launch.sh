#!/bin/bash
swift sft --model ./tiny --model_type qwen2_5 --template qwen2_5 --train_type full --torch_dtype float32 \
    --dataset data.jsonl --val_dataset val.jsonl --max_steps 2 --eval_steps 1 --save_strategy no \
    --learning_rate 3e-4 --warmup_ratio 0.1 --report_to none --logging_steps 1
