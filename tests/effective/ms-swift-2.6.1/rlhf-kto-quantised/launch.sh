#!/bin/bash
swift rlhf --rlhf_type kto --model_type qwen2_5-7b-instruct --model_id_or_path Qwen/Qwen2.5-7B-Instruct --sft_type lora --dataset data.jsonl \
    --dtype bf16 --quantization_bit 8 --batch_size 3 --save_total_limit -1 --temperature 0 --evaluation_strategy epoch --max_length -1
