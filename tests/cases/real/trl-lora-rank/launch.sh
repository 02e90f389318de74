#!/bin/bash
trl sft \
  --model_name_or_path /data/models/tiny-qwen2.5 \
  --dataset_name ./data \
  --use_peft \
  --lora_rank 8 \
  --bf16 false \
  --max_steps 4 \
  --per_device_train_batch_size 2 \
  --output_dir output
