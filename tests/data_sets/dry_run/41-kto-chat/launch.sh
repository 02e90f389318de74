#!/bin/bash
trl kto \
  --model_name_or_path ./model \
  --dataset_name ./data \
  --per_device_train_batch_size 2 --max_steps 2 --logging_steps 1 \
  --save_strategy no --use_cpu true --bf16 false --dtype float32 \
  --report_to none --output_dir out
