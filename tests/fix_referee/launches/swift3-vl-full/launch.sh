export MAX_PIXELS=1003520
export NPROC_PER_NODE=4
export CUDA_VISIBLE_DEVICES=0,1,2,3
swift sft \
    --model Qwen/Qwen2.5-VL-7B-Instruct \
    --train_type full \
    --freeze_vit false \
    --dataset data.jsonl \
    --torch_dtype bfloat16 \
    --per_device_train_batch_size 1 \
    --gradient_accumulation_steps 8 \
    --max_length 8192 \
    --deepspeed zero2 \
    --output_dir output
