swift sft --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny \
    --dataset data.jsonl --sft_type full --dtype fp32 --batch_size 1 \
    --gradient_checkpointing true --use_flash_attn false --dataset_test_ratio 0.1 \
    --learning_rate 1e-5 --num_train_epochs 1 --evaluation_strategy steps --only_save_model true \
    --preprocess_num_proc 2 --output_dir out
