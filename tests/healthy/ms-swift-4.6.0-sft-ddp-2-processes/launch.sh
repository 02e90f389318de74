NPROC_PER_NODE=2 \
MASTER_PORT=29532 \
swift sft \
    --model ./tiny \
    --model_type qwen2 \
    --template qwen2_5 \
    --torch_dtype float32 \
    --tuner_type full \
    --dataset data.jsonl \
    --ddp_backend gloo \
    --use_cpu true \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 1 \
    --max_steps 8 \
    --save_steps 4 \
    --logging_steps 2 \
    --output_dir out/ddp
