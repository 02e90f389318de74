swift sft \
    --model ./tiny \
    --model_type qwen2_5 \
    --train_type lora \
    --dataset data/trian.jsonl \
    --max_steps 3 \
    --output_dir out/x
