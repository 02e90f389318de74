swift export --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dtype fp32 \
    --to_peft_format false --safe_serialization true
