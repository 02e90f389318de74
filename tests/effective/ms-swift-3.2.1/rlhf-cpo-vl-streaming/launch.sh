#!/bin/bash
swift rlhf --rlhf_type cpo --model Qwen/Qwen2-VL-7B-Instruct --model_type qwen2_vl --template qwen2_vl \
    --dataset data.jsonl --streaming --max_steps 50 --save_strategy epoch --lorap_lr_ratio 16 --target_regex '.*q_proj' \
    --load_best_model_at_end --eval_steps 7 --seed 11 --dataloader_num_workers 2 --device_map '{"": 0}' --padding_side left
