swift rlhf --rlhf_type dpo --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny \
    --dataset dpo.jsonl --sft_type lora --dtype fp32 --beta 0.1 --rpo_alpha 1 \
    --batch_size 1 --max_length 512 --output_dir out
