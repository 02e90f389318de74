swift export \
    --adapters out/lora/checkpoint-2 \
    --merge_lora true \
    --output_dir out/merged
