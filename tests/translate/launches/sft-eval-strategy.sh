swift sft --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dtype fp32 \
    --dataset data.jsonl --sft_type lora --eval_strategy epoch --save_strategy epoch \
    --num_train_epochs 1 --output_dir out
