swift sft \
    --model ./tiny \
    --model_type qwen2_5 \
    --sft_type lora \
    --dataset data.jsonl \
    --max_steps 3 \
    --output_dir out/x
