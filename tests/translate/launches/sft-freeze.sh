swift sft --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dataset data.jsonl \
    --sft_type full --dtype fp32 --freeze_parameters_ratio 0.5 --additional_trainable_parameters lm_head \
    --custom_val_dataset_path data.jsonl --gradient_accumulation_steps 4 --output_dir out
