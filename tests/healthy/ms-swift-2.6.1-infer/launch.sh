swift infer \
    --ckpt_dir out/lora/checkpoint-2 \
    --load_dataset_config true \
    --merge_lora true \
    --max_new_tokens 8 \
    --show_dataset_sample 3
