CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 \
swift sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --tuner_type full \
    --dataset data.jsonl \
    --torch_dtype bfloat16 \
    --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 2 \
    --max_length 4096 \
    --deepspeed zero3 \
    --output_dir output
