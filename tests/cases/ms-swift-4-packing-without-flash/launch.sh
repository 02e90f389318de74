swift sft \
    --model ./tiny \
    --model_type qwen2 \
    --template qwen2_5 \
    --tuner_type lora \
    --dataset data.jsonl \
    --packing true \
    --torch_dtype float32 \
    --max_steps 3 \
    --output_dir out/x
