#!/bin/bash
swift export --model Qwen/Qwen2.5-7B-Instruct --model_type qwen2_5 --template qwen2_5 \
    --quant_method awq --quant_bits 4 --dataset data.jsonl --quant_n_samples 128 --max_length 1024 --output_dir out/awq
