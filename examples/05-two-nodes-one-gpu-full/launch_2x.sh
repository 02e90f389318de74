#!/bin/bash
# main node, ms-swift 2.x: trains
export NCCL_DEBUG=INFO
export NCCL_IB_DISABLE=1
export NCCL_P2P_DISABLE=1
export MAX_PIXELS=602112

NNODES=2 \
NODE_RANK=0 \
MASTER_ADDR=10.0.0.1 \
MASTER_PORT=29500 \
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
NPROC_PER_NODE=8 \
swift sft \
    --model_type qwen2-vl-7b-instruct \
    --model_id_or_path /models/Qwen2-VL-7B-Instruct \
    --dataset /data/train.jsonl \
    --sft_type lora \
    --dtype fp16 \
    --lora_rank 8 \
    --lora_alpha 16 \
    --lora_target_modules ALL \
    --freeze_vit true \
    --num_train_epochs 1 \
    --learning_rate 1e-4 \
    --batch_size 1 \
    --gradient_accumulation_steps 2 \
    --gradient_checkpointing true \
    --warmup_ratio 0.05 \
    --deepspeed zero3-offload \
    --eval_steps 500 \
    --save_steps 500 \
    --save_total_limit 1 \
    --logging_steps 5 \
    --max_length 2048 \
    --output_dir /output
