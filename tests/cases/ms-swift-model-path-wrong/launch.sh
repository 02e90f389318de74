swift sft \
    --model /data/models/Qwen2.5-7B-Instruct \
    --train_type lora \
    --dataset data.jsonl \
    --max_steps 3 \
    --output_dir out/x
