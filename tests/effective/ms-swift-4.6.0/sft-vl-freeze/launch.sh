#!/bin/bash
MAX_PIXELS=1003520 swift sft \
    --model Qwen/Qwen2-VL-7B-Instruct \
    --model_type qwen2_vl --template qwen2_vl \
    --tuner_type full \
    --freeze_vit false --freeze_aligner false --freeze_llm true --vit_lr 1e-6 \
    --dataset data.jsonl \
    --deepspeed zero2_offload \
    --gradient_checkpointing false \
    --padding_free true --attn_impl flash_attention_2 \
    --max_pixels 602112
