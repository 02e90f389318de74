swift sft --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dtype fp32 \
    --dataset data.jsonl --sft_type lora --max_length 128 --truncation_strategy truncation_left \
    --output_dir out
