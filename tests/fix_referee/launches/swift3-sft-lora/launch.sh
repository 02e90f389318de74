CUDA_VISIBLE_DEVICES=0 \
swift sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --train_type lora \
    --dataset data.jsonl \
    --torch_dtype bfloat16 \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 4 \
    --lora_rank 64 \
    --target_modules all-linear \
    --max_length 8192 \
    --output_dir output
