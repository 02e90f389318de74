#!/bin/bash
swift sft --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2 --template qwen2_5 --dataset data.jsonl --val_dataset val.jsonl \
    --streaming true --max_steps 90 --save_strategy epoch --group_by_length true --lorap_lr_ratio 8 --dataloader_num_workers 0 \
    --bf16 true --fp16 false --model_kwargs '{"fps": 2}' --packing true --attn_impl flash_attention_3 --max_length 4096 --lazy_tokenize false
