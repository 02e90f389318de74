#!/bin/bash
MODEL=Qwen/Qwen2.5-7B-Instruct
swift sft --model "$MODEL" --model-type=qwen2_5 --template=qwen2_5 --train-type lora \
    --dataset data.jsonl --per_device_train 4 --gradient_acc 2 --no_add_version \
    --output-dir out/abbreviated --gradient_checkpointing_k '{"use_reentrant": false}' \
    --fp16 --eval_strategy no --lora_dropout 0 --split_dataset 0.05 --group_by_length
