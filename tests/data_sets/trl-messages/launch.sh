trl sft \
    --model_name_or_path ./tiny \
    --dataset_name ./corpus \
    --per_device_train_batch_size 1 \
    --max_steps 3 \
    --report_to none \
    --output_dir out
