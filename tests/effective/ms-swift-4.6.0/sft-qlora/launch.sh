#!/bin/bash
swift sft --model Qwen/Qwen3-8B --model_type qwen3 --template qwen3 \
    --dataset 'data.jsonl#500' --quant_method bnb --quant_bits 4 --torch_dtype float16 \
    --target_modules q_proj v_proj --lora_rank 64 --lora_alpha 16 --init_weights pissa \
    --modules_to_save embed_tokens lm_head --optim adamw_torch_fused --seed 7 --metric_for_best_model acc
