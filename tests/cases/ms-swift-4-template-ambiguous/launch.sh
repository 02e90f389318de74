swift sft \
    --model ./tiny \
    --model_type qwen2 \
    --train_type lora \
    --dataset data.jsonl \
    --max_steps 3 \
    --output_dir out/x
