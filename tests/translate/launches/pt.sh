swift pt --model_type qwen2_5-0_5b --model_id_or_path tiny --dataset data.jsonl \
    --sft_type full --dtype fp32 --batch_size 1 --max_length 2048 --streaming true --max_steps 4 \
    --save_steps 4 --eval_steps 4 --warmup_ratio 0.05 --lr_scheduler_type cosine --output_dir out
