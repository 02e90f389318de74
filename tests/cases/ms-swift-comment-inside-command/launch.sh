swift sft \
    --model ./tiny \
    --model_type qwen2_5 \
    --train_type lora \
    # --lora_rank 8 \
    --dataset data.jsonl \
    --max_steps 3 \
    --output_dir out/x
