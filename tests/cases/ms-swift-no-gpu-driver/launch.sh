NPROC_PER_NODE=2 MASTER_PORT=29611 \
swift sft \
    --model ./tiny \
    --model_type qwen2_5 \
    --train_type full \
    --dataset data.jsonl \
    --torch_dtype float32 \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 1 \
    --max_steps 6 \
    --logging_steps 1 \
    --save_steps 3 \
    --output_dir out/swift3ddp \
    --ddp_backend gloo \
    --report_to none
