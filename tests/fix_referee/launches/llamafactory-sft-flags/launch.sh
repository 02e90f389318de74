#!/bin/bash
MODEL_PATH=Qwen/Qwen2.5-7B-Instruct
CUDA_VISIBLE_DEVICES=0 llamafactory-cli train \
    --stage sft \
    --do_train True \
    --model_name_or_path $MODEL_PATH \
    --dataset sft \
    --dataset_dir data \
    --template qwen \
    --finetuning_type lora \
    --output_dir saves/flags \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 4 \
    --cutoff_len 4096 \
    --bf16 True
