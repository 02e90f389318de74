#!/bin/bash
swift pt --model ./tiny --model_type qwen2 --template qwen2_5 --tuner_type lora --torch_dtype float32 \
    --dataset data.jsonl --max_steps 1 --max_length 64 --lora_rank 4 --output_dir out --add_version false --fp16 false
