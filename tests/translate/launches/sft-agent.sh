swift sft --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dataset data.jsonl \
    --use_loss_scale true --dtype fp32 --check_dataset_strategy warning --test_oom_error false \
    --add_output_dir_suffix false --save_total_limit 2 --logging_steps 1 --report_to tensorboard \
    --output_dir out
