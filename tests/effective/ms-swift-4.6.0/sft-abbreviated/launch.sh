#!/bin/bash
MODEL=Qwen/Qwen3-8B
swift sft --model "$MODEL" --model-type=qwen3 --template=qwen3 --tuner-type lora \
    --dataset data.jsonl --per_device_train 4 --gradient_acc 2 --no_add_version \
    --output-dir out/abbreviated --gradient_checkpointing_k '{"use_reentrant": false}' \
    --fp16 true --torch_dtype float16 --eval_strategy no --lora_dropout 0 --split_dataset 0.05
