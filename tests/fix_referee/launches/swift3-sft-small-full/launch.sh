CUDA_VISIBLE_DEVICES=0 swift sft \
    --model Qwen/Qwen2.5-1.5B-Instruct \
    --train_type full \
    --dataset data.jsonl \
    --torch_dtype float32 \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 4 \
    --max_length 2048 \
    --num_train_epochs 1 \
    --output_dir output
