swift deploy --model_type qwen2_5-0_5b-instruct --model_id_or_path tiny --dtype fp32 \
    --infer_backend pt --host 127.0.0.1 --port 8001 --max_new_tokens 64 --temperature 0.3
