#!/bin/bash
swift export --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --quant_method awq --quant_bits 4 --dataset data.jsonl --quant_n_samples 128 --max_length 1024 --output_dir out/awq
