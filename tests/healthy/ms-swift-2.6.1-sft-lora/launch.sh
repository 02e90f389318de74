swift sft \
    --model_type qwen2_5-7b-instruct \
    --model_id_or_path ./tiny \
    --sft_type lora \
    --dataset data.jsonl \
    --dtype fp32 \
    --max_steps 3 \
    --batch_size 2 \
    --output_dir out/swift2
