#!/bin/bash
swift sft \
  --model ./model --model_type qwen2 --template qwen2_5 \
  --dataset agent.jsonl \
  --tuner_type lora --torch_dtype float32 \
  --max_length 2048 \
  --per_device_train_batch_size 2 --gradient_accumulation_steps 1 --learning_rate 1e-4 \
  --max_steps 2 --logging_steps 1 --save_strategy no \
  --agent_template hermes \
  --report_to none --output_dir out
