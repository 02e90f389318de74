swift sft \
    --model_type qwen2_5-7b-instruct \
    --model_id_or_path ./tiny \
    --train_type lora \
    --dataset data.jsonl \
    --max_steps 3 \
    --output_dir out/x
