swift infer --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dtype fp32 \
    --val_dataset data.jsonl --infer_backend AUTO --max_new_tokens 16 --do_sample false
