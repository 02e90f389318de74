ulimit -v 3000000
swift sft \
    --model ./tiny \
    --model_type qwen2_5 \
    --train_type lora \
    --dataset data.jsonl \
    --torch_dtype float32 \
    --max_length 32768 \
    --per_device_train_batch_size 64 \
    --max_steps 3 \
    --output_dir out/x
