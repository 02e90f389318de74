swift sft --model_type qwen2_5-0_5b --model_id_or_path tiny --dataset data.jsonl \
    --template_type default-generation --sft_type lora --dtype fp32 --use_dora true --lora_rank 16 \
    --optim adamw_torch --adam_beta2 0.95 --weight_decay 0.1 --max_grad_norm 0.5 --seed 7 --dataset_seed 7 \
    --push_to_hub false --disable_tqdm true --dataloader_num_workers 0 --output_dir out
