swift sft \
    --model ./tiny \
    --model_type qwen2_5 \
    --train_type lora \
    --dataset data.jsonl \
    --torch_dtype float32 \
    --max_steps 3 \
    --lora_rank eight \
    --output_dir out
